"""One answer in flight: the request it belongs to, and the queue on which somebody waits for it."""

import asyncio
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Protocol

from lsp_server.engine.errors import BackendError, Interrupted, Stalled
from lsp_server.wire.client import Ended, ServerEvent, TextDelta
from lsp_server.wire.text import SurrogateJoiner

MAX_EVENTS = 20_000
"""Events that wait for a slow reader before its answer is given up."""


PAUSE = 30.0
"""Seconds that an answer may pause once it has begun."""


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


@dataclass(frozen=True, slots=True)
class Call:
    """One request, before its socket and lane are chosen.

    `build` makes the frame from the lane's name and from the response to continue from, either None.
    `continues` names the context it can continue from, `provides` the one that a warm-up leaves behind.
    """

    build: Callable[[str | None, str | None], str]
    continues: Hashable | None = None
    provides: Hashable | None = None


class Lane:
    """One answer in flight. `get` waits for its next event; it raises what ended the answer too early."""

    def __init__(self, name: str | None, call: Call) -> None:
        self.name = name
        self.call = call
        self.live = True
        self.ended = False
        self.deltas = 0
        self.heard = 0.0
        self._joiner = SurrogateJoiner()
        self._queue: asyncio.Queue[ServerEvent | Exception] = asyncio.Queue()

    async def get(self) -> ServerEvent:
        item = await self._queue.get()
        if isinstance(item, Exception):
            raise item
        return item

    def push(self, event: ServerEvent) -> None:
        if isinstance(event, TextDelta):
            self.deltas += 1
            text = self._joiner.push(event.text)
            event = event if text == event.text else replace(event, text=text)
        elif isinstance(event, Ended) and (rest := self._joiner.finish()):
            self._put(TextDelta(rest))
        self._put(event)

    def fail(self, error: Exception) -> None:
        """End the wait with an error; what came before it is still delivered."""
        self._queue.put_nowait(error)

    def _put(self, event: ServerEvent) -> None:
        if not self.live:
            return
        if self._queue.qsize() >= MAX_EVENTS:
            self.live = False
            self.fail(Interrupted("The answer came faster than it could be read, and was given up."))
            return
        self._queue.put_nowait(event)


class Patience:
    """Ends the wait for an answer that does not begin in time, or pauses for too long."""

    def __init__(self, lane: Lane, clock: Clock, first_token: float) -> None:
        self._lane = lane
        self._clock = clock
        self._timer = clock.call_later(first_token, self._check)

    def cancel(self) -> None:
        self._timer.cancel()

    def _check(self) -> None:
        if not self._lane.deltas:
            self._lane.fail(Stalled("The model did not begin to answer in time."))
            return
        left = self._lane.heard + PAUSE - self._clock.time()
        if left > 0:
            self._timer = self._clock.call_later(left, self._check)
        else:
            self._lane.fail(Stalled("The model stopped in the middle of its answer."))
