"""Waiting for an answer: a queue between the task that reads the network and the caller who reads the answer.

The caller can be cancelled at any time without touching the network.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from lsp_server.engine.errors import BackendError, Interrupted, Stalled
from lsp_server.texts import models as texts

MAX_EVENTS = 20_000
"""Events that wait for a slow reader before its answer is given up."""

PAUSE = 30.0
"""Seconds that an answer may pause once it has begun."""

T = TypeVar("T")


class Timer(Protocol):
    def cancel(self) -> None: ...


class Clock(Protocol):
    """The part of an event loop that tells time; tests bring their own."""

    def time(self) -> float: ...
    def call_later(self, delay: float, callback: Callable[[], object], /) -> Timer: ...


class Lost(Exception):
    """The connection is gone. `resend` says that the request may be sent once more, on another one."""

    def __init__(self, error: BackendError, *, resend: bool) -> None:
        super().__init__(str(error))
        self.error = error
        self.resend = resend


class Inbox(Generic[T]):
    """The events of one answer. `get` waits for the next one, and raises what ended the answer too early.

    `deltas` counts pieces of text, `heard` is when the last event came.
    """

    def __init__(self) -> None:
        self.live = True
        self.deltas = 0
        self.heard = 0.0
        self._queue: asyncio.Queue[T | Exception] = asyncio.Queue()

    async def get(self) -> T:
        item = await self._queue.get()
        if isinstance(item, Exception):
            raise item
        return item

    def put(self, event: T) -> None:
        if not self.live:
            return
        if self._queue.qsize() >= MAX_EVENTS:
            self.live = False
            self.fail(Interrupted(texts.TOO_FAST))
            return
        self._queue.put_nowait(event)

    def fail(self, error: Exception) -> None:
        """End the wait with an error; what came before it is still delivered."""
        self._queue.put_nowait(error)


class Patience:
    """Ends the wait for an answer that does not begin in time, or pauses for too long."""

    def __init__(self, inbox: Inbox[Any], clock: Clock, first_token: float) -> None:
        self._inbox = inbox
        self._clock = clock
        self._timer = clock.call_later(first_token, self._check)

    def cancel(self) -> None:
        self._timer.cancel()

    def _check(self) -> None:
        if not self._inbox.deltas:
            self._inbox.fail(Stalled(texts.NO_BEGINNING))
            return
        left = self._inbox.heard + PAUSE - self._clock.time()
        if left > 0:
            self._timer = self._clock.call_later(left, self._check)
        else:
            self._inbox.fail(Stalled(texts.STOPPED_MIDWAY))
