"""Meters every request and keeps the budget: a Backend around each configured model's own.

All of SQLite happens in one background thread. A request waits for it only where a limit applies to it.
"""

import asyncio
import logging
import os
import sqlite3
import time
from asyncio import wrap_future
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lsp_server.core.prompt import Style
from lsp_server.core.prompt.budget import tokens
from lsp_server.engine.errors import BackendError, BudgetExceeded, Interrupted, Stalled
from lsp_server.engine.ledger import (
    Cap,
    Entry,
    Ledger,
    Period,
    Reservation,
    Settlement,
    State,
    day_of,
    open_ledger,
)
from lsp_server.engine.ports import Backend, Event, Finish, Request, Since, Task, Usage
from lsp_server.engine.prices import NANO, at_most, cost, expected, highest_cost, is_fast, prices_of
from lsp_server.engine.usage import UsageReport, usage_report
from lsp_server.settings import Budget, Limit, Model, ModelLimit
from lsp_server.settings.folders import named_path, user_folder
from lsp_server.texts import models as texts

logger = logging.getLogger(__name__)

SOON = 0.25
"""Seconds after which bookings are written that nothing waits for."""


def usage_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Where usage is kept; `MIDSTREAM_USAGE_FILE` names another file."""
    named = environment.get("MIDSTREAM_USAGE_FILE", "")
    if named:
        return named_path(named)
    return user_folder("data") / "usage.sqlite3"


class Meter:
    """One per process. `tell` gets each warning once a day, on the event loop."""

    def __init__(
        self,
        path: Path | None,
        budget: Callable[[], Budget] = Budget,
        tell: Callable[[str], None] = lambda sentence: None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`path` None keeps everything in memory."""
        self._path = path
        self._budget = budget
        self._tell = tell
        self._clock = clock
        self._told: set[tuple[str, str]] = set()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="meter")
        self._ledger: Ledger | None = None
        self._trouble: str | None = None
        self._posted: list[Callable[[], object]] = []
        self._due: asyncio.TimerHandle | None = None

    async def begin(self, model: Model, task: str, bound: Usage) -> "Call":
        """Book a request before it is sent. Raises BudgetExceeded when it may cross a limit."""
        caps = caps_of(self._budget(), model)
        prices = prices_of(model)
        nano = 0 if prices is None else highest_cost(prices, bound, fast=is_fast(model))
        if prices is None and any(cap.unit == "money" and cap.limit > 0 for cap in caps):
            raise BudgetExceeded(texts.NO_PRICE.format(model=model.name))
        entry = Entry(model.name, task, model.protocol != "local")
        now = self._clock()
        booking: Future[Reservation] = Future()
        call = Call(self, model, booking)
        self._post(partial(self._book, booking, entry, bound, nano, caps, now))
        if caps:
            self._flush()
            try:
                reservation = await wrap_future(booking)
            except BaseException:
                call.end("cancelled", Usage())
                raise
            self._warn(reservation, now)
        return call

    def settle(self, booking: "Future[Reservation]", settlement: Settlement) -> None:
        """Book what a request came to, without waiting for it."""
        self._post(partial(self._settle, booking, settlement))

    def accepted(self, model: str, task: Task, lead_ms: float | None, since: Since = "request") -> None:
        """The user took a suggestion or an edit, `lead_ms` after its request or after the diagnostic."""
        self._post(partial(self._accept, model, task, since, lead_ms, self._clock()))

    async def report(self) -> UsageReport:
        """Usage of today and of the last seven days."""
        self._flush()
        return await wrap_future(self._thread.submit(self._report))

    async def close(self) -> None:
        """Write what is still to be written."""
        self._flush()
        with suppress(RuntimeError):
            await wrap_future(self._thread.submit(self._close))
        self._thread.shutdown(wait=False)

    def _post(self, job: Callable[[], object]) -> None:
        """Have something written soon: a thread that wakes up now takes its time from the keystroke."""
        self._posted.append(job)
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(SOON, self._flush)

    def _flush(self) -> None:
        """Have everything written that waits, in its order."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        jobs, self._posted = self._posted, []
        if jobs:
            with suppress(RuntimeError):
                self._thread.submit(lambda: [job() for job in jobs])

    def _book(
        self,
        booking: "Future[Reservation]",
        entry: Entry,
        bound: Usage,
        nano: int,
        caps: list[Cap],
        now: float,
    ) -> None:
        if not booking.set_running_or_notify_cancel():
            return
        try:
            booking.set_result(self._reserve(entry, bound, nano, caps, now))
        except BaseException as error:
            booking.set_exception(error)

    def _warn(self, reservation: Reservation, now: float) -> None:
        for sentence in reservation.warnings:
            if (day_of(now), sentence) not in self._told:
                self._told.add((day_of(now), sentence))
                self._tell(sentence)

    def _opened(self) -> Ledger:
        """The ledger, opened on first use in its thread; in memory where the file cannot be used."""
        if self._ledger is None:
            try:
                self._ledger = open_ledger(self._path)
                self._ledger.forget_before(self._clock())
            except (OSError, sqlite3.Error) as error:
                self._trouble = texts.USAGE_UNUSABLE.format(file=self._path, reason=error)
                logger.warning("%s", self._trouble)
                self._ledger = Ledger(None)
        return self._ledger

    def _reserve(self, entry: Entry, bound: Usage, nano: int, caps: list[Cap], now: float) -> Reservation:
        ledger = self._opened()
        applying = [cap for cap in caps if cap.applies_to(entry)]
        if applying and self._trouble is not None:
            raise BudgetExceeded(texts.BUDGET_UNKEPT.format(reason=self._trouble))
        try:
            return ledger.reserve(entry, bound, nano, applying, now)
        except sqlite3.Error as error:
            sentence = texts.USAGE_UNWRITABLE.format(file=self._path, reason=error)
            raise BudgetExceeded(sentence) from error

    def _settle(self, booking: "Future[Reservation]", settlement: Settlement) -> None:
        if booking.cancelled() or booking.exception() is not None:
            return
        try:
            self._opened().settle(booking.result().id, settlement)
        except sqlite3.Error as error:
            logger.warning("usage was not written: %s", error)

    def _accept(self, model: str, task: str, since: Since, lead_ms: float | None, now: float) -> None:
        try:
            self._opened().accept(model, task, since, lead_ms, now)
        except sqlite3.Error as error:
            logger.warning("usage was not written: %s", error)

    def _report(self) -> UsageReport:
        return usage_report(self._opened(), all_caps(self._budget()), self._clock())

    def _close(self) -> None:
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None


@dataclass(slots=True)
class Call:
    """One request from before it is sent until it is booked."""

    meter: Meter
    model: Model
    booking: "Future[Reservation]"
    started: float = field(default_factory=time.perf_counter)
    first: float | None = None

    def end(self, state: State, usage: Usage) -> None:
        """Book the true cost."""
        prices = prices_of(self.model)
        settlement = Settlement(
            state,
            usage,
            nano=0 if prices is None else cost(prices, usage, fast=is_fast(self.model)),
            wasted=usage.output_tokens if state != "done" else 0,
            first_ms=None if self.first is None else (self.first - self.started) * 1000,
            total_ms=(time.perf_counter() - self.started) * 1000,
        )
        self.meter.settle(self.booking, settlement)


class Metered:
    """A model's backend that books what it sends."""

    def __init__(self, inner: Backend, model: Model, meter: Meter) -> None:
        self._inner = inner
        self._model = model
        self._meter = meter

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def style(self) -> Style:
        return self._inner.style

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        call = await self._meter.begin(self._model, request.task, at_most(request))
        state: State = "cancelled"
        received = 0
        usage: Usage | None = None
        billed = True
        try:
            async with aclosing(self._inner.stream(request)) as events:
                async for event in events:
                    if isinstance(event, Finish):
                        state, usage = "done", event.usage
                    elif event.text:
                        call.first = call.first or time.perf_counter()
                        received += tokens(event.text)
                    yield event
        except BackendError as error:
            state = "failed"
            billed = received > 0 or isinstance(error, Stalled | Interrupted)
            raise
        finally:
            call.end(state, self._counted(request, usage, received) if billed else Usage())

    async def warm(self, request: Request) -> None:
        ahead = expected(request) if self._model.protocol == "responses-ws" else Usage()
        try:
            call = await self._meter.begin(self._model, "warm", ahead)
        except BudgetExceeded:
            return
        try:
            await self._inner.warm(request)
        finally:
            call.end("done", ahead)

    async def close(self) -> None:
        await self._inner.close()

    def _counted(self, request: Request, usage: Usage | None, received: int) -> Usage:
        """What the provider counted, else an estimate. An abandoned lane goes on to its bound."""
        if usage is not None and usage.input_tokens + usage.output_tokens > 0:
            return usage
        runs_on = (
            usage is None
            and self._model.protocol == "responses-ws"
            and self._model.cancel in ("auto", "lane")
        )
        output = max(received, request.max_tokens) if runs_on else received
        return Usage(expected(request).input_tokens, 0, output, estimated=True)


def caps_of(budget: Budget, model: Model) -> list[Cap]:
    """The limits that a request to this model has to keep."""
    entry = Entry(model.name, "", model.protocol != "local")
    return [cap for cap in all_caps(budget) if cap.applies_to(entry)]


def all_caps(budget: Budget) -> list[Cap]:
    """Every limit of the settings."""
    caps: list[Cap] = []
    periods: tuple[tuple[Period, Limit], ...] = (("day", budget.per_day), ("month", budget.per_month))
    for period, limit in periods:
        caps += _caps(period, limit, None)
        for model, own in limit.models.items():
            caps += _caps(period, own, model)
    return caps


def _caps(period: Period, limit: Limit | ModelLimit, model: str | None) -> Iterator[Cap]:
    if limit.money is not None:
        yield Cap(period, "money", round(limit.money * NANO), model)
    if limit.tokens is not None:
        yield Cap(period, "tokens", limit.tokens, model)
