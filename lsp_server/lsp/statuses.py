"""The state of the product, in the words that the client takes: `midstream/status`, or work-done progress."""

import asyncio
import itertools
from dataclasses import dataclass

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from lsp_server.engine.ports import Status
from lsp_server.lsp import protocol
from lsp_server.lsp.dispatch import Server
from lsp_server.texts import edits as texts

INTERVAL = 0.1
"""Seconds between two statuses about the same generation."""

TITLES = {"edit": "Midstream: editing", "escalate": "Midstream: editing", "explain": "Midstream: explaining"}


class StatusLine:
    """Shows each new state once. While a generation runs, the states in between wait for their turn."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._announced = False
        self._progress: WorkProgress | None = None
        self._shown: Status | None = None
        self._due = 0.0
        self._latest: Status | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connect(self, *, announced: bool, progress: bool) -> None:
        """What the client takes: our own notification, else work-done progress, else nothing."""
        self._announced = announced
        self._progress = WorkProgress(self._server) if progress and not announced else None

    def show(self, status: Status) -> None:
        """Show a state now, or the newest of several as soon as the client had time for the last."""
        loop = asyncio.get_running_loop()
        if status == (self._latest or self._shown):
            return
        if same_work(status, self._shown) and loop.time() < self._due:
            self._latest = status
            self._timer = self._timer or loop.call_at(self._due, self._catch_up)
            return
        self._drop_timer()
        self._send(status)

    async def close(self) -> None:
        """Nothing is shown afterwards."""
        self._drop_timer()
        if self._progress is not None:
            await self._progress.close()

    def _catch_up(self) -> None:
        latest = self._latest
        self._drop_timer()
        if latest is not None:
            self._send(latest)

    def _drop_timer(self) -> None:
        self._latest = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _send(self, status: Status) -> None:
        self._shown = status
        self._due = asyncio.get_running_loop().time() + INTERVAL
        if self._announced:
            self._server.protocol.notify(protocol.STATUS, protocol.status_message(status))
        elif self._progress is not None:
            self._progress.show(status)


def same_work(one: Status, other: Status | None) -> bool:
    """True for two states of the same running generation or download."""
    if other is None or one.state != other.state or one.state not in ("working", "downloading"):
        return False
    return (one.generation and one.generation.id) == (other.generation and other.generation.id)


@dataclass(frozen=True, slots=True)
class Work:
    """What a progress bar is about: `key` tells one piece of work from the next."""

    key: str
    title: str
    message: str | None = None
    percentage: int | None = None


def work_of(status: Status) -> Work | None:
    """The work that deserves a progress bar: an edit, an explanation, a download."""
    if status.state == "downloading":
        return Work("download", texts.FETCHING, percentage=min(100, status.percent or 0))
    running = status.generation
    if status.state != "working" or running is None or running.kind not in TITLES:
        return None
    told = texts.TOKENS.format(tokens=running.tokens) if running.tokens else None
    return Work(running.id, TITLES[running.kind], told)


class WorkProgress:
    """`window/workDoneProgress`: at most one bar at a time."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._numbers = itertools.count(1)
        self._bars: set[asyncio.Task[None]] = set()
        self._key: str | None = None
        self._news: asyncio.Queue[Work | None] = asyncio.Queue()

    def show(self, status: Status) -> None:
        """Open, move or close the bar as the state asks for."""
        work = work_of(status)
        if self._key is not None and (work is None or work.key != self._key):
            self._news.put_nowait(None)
            self._key = None
        if work is None:
            return
        if self._key is None:
            self._key, self._news = work.key, asyncio.Queue()
            token = f"midstream-{next(self._numbers)}"
            bar = asyncio.create_task(self._bar(token, self._news), name=f"progress {token}")
            self._bars.add(bar)
            bar.add_done_callback(self._bars.discard)
        self._news.put_nowait(work)

    async def close(self) -> None:
        """Cancel what still waits for the client."""
        for bar in list(self._bars):
            bar.cancel()
        await asyncio.gather(*self._bars, return_exceptions=True)

    async def _bar(self, token: str, news: asyncio.Queue[Work | None]) -> None:
        progress = self._server.work_done_progress
        try:
            await progress.create_async(token)
        except JsonRpcException:
            return
        begun = False
        while (work := await news.get()) is not None:
            if not begun:
                progress.begin(
                    token,
                    types.WorkDoneProgressBegin(
                        title=work.title,
                        message=work.message,
                        percentage=work.percentage,
                        cancellable=False,
                    ),
                )
                begun = True
            else:
                progress.report(
                    token, types.WorkDoneProgressReport(message=work.message, percentage=work.percentage)
                )
        progress.end(token, types.WorkDoneProgressEnd())
        progress.tokens.pop(token, None)
