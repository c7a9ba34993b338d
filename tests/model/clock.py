"""Time that passes only when a test says so, and the connections that run on it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from lsp_server.model.connection import Connection, Options
from lsp_server.model.dial import Endpoint


class _Timer:
    def __init__(self, due: float, callback: Callable[[], object]) -> None:
        self.due = due
        self.callback = callback
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class FakeClock:
    """The part of an event loop that tells time."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._timers: list[_Timer] = []

    def time(self) -> float:
        return self._now

    def call_later(self, delay: float, callback: Callable[[], object], /) -> _Timer:
        timer = _Timer(self._now + delay, callback)
        self._timers.append(timer)
        return timer

    async def advance(self, seconds: float) -> None:
        """Let time pass, running each timer at its moment, and give tasks a few turns after each."""
        end = self._now + seconds
        while True:
            self._timers = [timer for timer in self._timers if not timer.cancelled]
            due = min(self._timers, key=lambda timer: timer.due, default=None)
            if due is None or due.due > end:
                break
            self._now = max(self._now, due.due)
            self._timers.remove(due)
            due.callback()
            await turns()
        self._now = end
        await turns()

    def delays(self) -> list[float]:
        """Seconds until each timer that is set, sorted."""
        return sorted(timer.due - self._now for timer in self._timers if not timer.cancelled)


async def turns(count: int = 20) -> None:
    """Let everything that is ready run."""
    for _ in range(count):
        await asyncio.sleep(0)


async def until(condition: Callable[[], object]) -> None:
    """Wait for a state that the network brings about; a hopeless wait fails."""
    for _ in range(200_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("the state never came")


@asynccontextmanager
async def connected(
    url: str, headers: dict[str, str], *, clock: FakeClock | None = None, options: Options | None = None
) -> AsyncIterator[Connection]:
    """A connection to one fixed address, without jitter, closed at the end."""
    async with connecting(lambda: _fixed(Endpoint(url, headers)), clock=clock, options=options) as connection:
        yield connection


@asynccontextmanager
async def connecting(
    endpoint: Callable[[], Awaitable[Endpoint]],
    *,
    clock: FakeClock | None = None,
    options: Options | None = None,
) -> AsyncIterator[Connection]:
    steady = replace(options or Options(), jitter=lambda: 1.0)
    connection = Connection("fast", endpoint, steady, clock)
    try:
        yield connection
    finally:
        await connection.close()


async def _fixed(endpoint: Endpoint) -> Endpoint:
    return endpoint
