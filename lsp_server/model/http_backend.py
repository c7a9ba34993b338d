"""What all HTTP providers have in common: pace, patience, one retry, cancelling, a warm connection."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from lsp_server.core.prompt import Style
from lsp_server.engine.errors import BackendError, Interrupted, RateLimited, Unauthorized, Unreachable
from lsp_server.engine.ports import Delta, Event, Finish, Request, Usage
from lsp_server.model.failures import FieldRefused
from lsp_server.model.hosting import patience, style_of
from lsp_server.model.http import Http
from lsp_server.model.inbox import Clock, Inbox, Lost, Patience
from lsp_server.model.pace import Backoff, Pace, jitter
from lsp_server.model.stops import StopCutter
from lsp_server.settings import Model
from lsp_server.texts import models as texts
from lsp_server.wire.text import SurrogateJoiner

log = logging.getLogger(__name__)


class Dialect(Protocol):
    """One protocol family: how a request is put, and how its answer is read."""

    vendor: str
    vendor_key: str

    def answer(self, http: Http, request: Request, omit: Collection[str]) -> AsyncGenerator[Event, None]:
        """The events of one answer; `omit` are fields that the host does not take.

        Goes on after `Finish` until the response has ended. Raises BackendErrors, and Lost for a
        connection that broke.
        """

    def stops(self, request: Request) -> tuple[str, ...]:
        """The stop texts that the host cannot end at by itself."""

    async def prepare(self, http: Http, request: Request) -> None:
        """Let the host read the prompt ahead, where it can."""


class HttpBackend:
    """One model of the settings behind one dialect.

    A task of its own reads each answer; a cancelled caller leaves at once, and that task closes the
    connection, which is what the provider notices. A second connection is kept open meanwhile.
    """

    def __init__(
        self,
        model: Model,
        environment: Mapping[str, str] | None,
        dialect: Dialect,
        style: Style,
        *,
        clock: Clock | None = None,
        jitter: Callable[[], float] = jitter,
    ) -> None:
        self._model = model
        self._environment = environment
        self._dialect = dialect
        self._style = style_of(model, style)
        self._clock = clock
        self._omit = set(model.omit)
        self._backoff = Backoff(jitter)
        self._pace = Pace(jitter)
        self._opened: Http | None = None
        self._has_spare = False
        self._refused = False
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def style(self) -> Style:
        return self._style

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """See `Backend.stream`."""
        clock = self._clock or asyncio.get_running_loop()
        again = True
        while True:
            self._pace.check(clock.time())
            await self._until_due(clock, patience(request))
            self._pace.sent(clock.time())
            inbox: Inbox[Event] = Inbox()
            task = self._spawn(self._read(request, inbox, clock))
            waiting = Patience(inbox, clock, patience(request))
            cutter, joiner = StopCutter(self._dialect.stops(request)), SurrogateJoiner()
            begun = ended = False
            try:
                while True:
                    event = await inbox.get()
                    if isinstance(event, Delta):
                        begun = True
                        if kept := cutter.push(joiner.push(event.text)):
                            yield replace(event, text=kept)
                        if cutter.stopped:
                            yield Finish("stop", Usage(output_tokens=inbox.deltas, estimated=True))
                            return
                    else:
                        if rest := cutter.push(joiner.finish()) + cutter.finish():
                            yield Delta(rest)
                        ended = True
                        self._pace.succeeded()
                        self._backoff.succeeded()
                        yield event
                        return
            except Lost as lost:
                # A kept-alive connection may have been closed by the host just now.
                if begun or not again:
                    raise lost.error from None
                again = False
            except FieldRefused as refused:
                if refused.field in self._omit:
                    raise
                log.info("model %s: the host takes no `%s`", self.name, refused.field)
                self._omit.add(refused.field)
            except RateLimited as error:
                self._pace.limited(clock.time(), error)
                raise
            except (Unreachable, Unauthorized) as error:
                self._backoff.failed(clock.time(), error)
                self._refused = isinstance(error, Unauthorized)
                raise
            finally:
                waiting.cancel()
                # After its end an answer is read on, so that the connection can be used again.
                if not ended and not task.done():
                    task.cancel()
                    self._has_spare = False

    async def warm(self, request: Request) -> None:
        """See `Backend.warm`."""
        try:
            http = self._http()
            await http.open_idle()
            await self._dialect.prepare(http, request)
        except (BackendError, Lost) as error:
            log.debug("model %s: not warmed up: %s", self.name, error)

    async def close(self) -> None:
        """See `Backend.close`."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._opened is not None:
            await self._opened.close()

    def _http(self) -> Http:
        if self._opened is None:
            dialect = self._dialect
            self._opened = Http(
                self._model,
                self._environment,
                vendor=dialect.vendor,
                vendor_key=dialect.vendor_key,
                sent=self._ensure_spare,
            )
        elif self._refused:
            self._opened.authorize()
        self._refused = False
        return self._opened

    async def _read(self, request: Request, inbox: Inbox[Event], clock: Clock) -> None:
        ended = False
        try:
            http = self._http()
            async with aclosing(self._dialect.answer(http, request, self._omit)) as events:
                async for event in events:
                    inbox.heard = clock.time()
                    if isinstance(event, Delta):
                        event = event if inbox.deltas else replace(event, quota=http.quota)
                        inbox.deltas += 1
                    inbox.put(event)
                    ended = ended or isinstance(event, Finish)
            if not ended:
                inbox.fail(Interrupted(texts.ANSWER_BROKE_OFF))
        except Exception as error:
            # Whoever waits gets it, a fault of our own included.
            inbox.fail(error)

    def _ensure_spare(self) -> None:
        """While a request is under way, open the connection for the one that follows its cancelling."""
        if not self._has_spare and self._opened is not None:
            self._has_spare = True
            self._spawn(self._opened.open_idle())

    async def _until_due(self, clock: Clock, longest: float) -> None:
        """Wait out the back-off after a failed connection, or fail at once when that takes too long."""
        wait = self._backoff.wait(clock.time())
        if wait > 0:
            if self._backoff.error is not None and wait > longest:
                raise self._backoff.error.with_traceback(None)
            due = asyncio.Event()
            timer = clock.call_later(wait, due.set)
            try:
                await due.wait()
            finally:
                timer.cancel()

    def _spawn(self, work: "asyncio._CoroutineLike[None]") -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=f"model {self.name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
