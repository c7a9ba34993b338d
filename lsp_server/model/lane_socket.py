"""One WebSocket and the lanes on it.

One pump task owns the reading side; whoever waits for an answer waits on a lane's queue, so cancelling a
wait never touches the socket. A frame leaves in the turn of the loop in which it is asked for, so a cancel
does not wait for the request that follows it.
"""

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import partial
from socket import SHUT_RDWR

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.connection import broadcast
from websockets.exceptions import ConnectionClosed

from lsp_server.engine.errors import BackendError, Interrupted, Stalled
from lsp_server.model import failures
from lsp_server.model.dial import closed_quietly
from lsp_server.model.failures import Where
from lsp_server.model.inbox import Clock, Lost, Timer
from lsp_server.model.lane import Call, Lane
from lsp_server.texts import models as texts
from lsp_server.wire.client import Created, Ended, ErrorEvent, ServerEvent, cancel_frame, decode
from lsp_server.wire.errors import CONNECTION_LIMIT_REACHED, WireError
from lsp_server.wire.lanes import lane_names

log = logging.getLogger(__name__)

LANES = 12
"""Names for answers, recycled; with those for contexts far below the provider's limit of 32."""

CONTEXTS = 8
"""Names for warmed-up contexts: each keeps its response as the latest of its lane, free to continue from."""

SILENCE = 5.0
"""Seconds without any frame or pong, after a request, that prove a connection dead."""

GRACE = 0.25
"""The last part of the silence, in which a busy event loop still gets to read what has arrived."""


class LaneSocket:
    """A connected WebSocket, from `start` to `lost`.

    `parents` maps a warmed-up context to the response to continue from. `tried` is True once a request
    was sent, `proven` once one was answered, `lanes_proven` once the server echoed a lane, `serial` once
    it proved to know none. `old` is set by the owner on a socket that is to be replaced.
    """

    def __init__(
        self,
        connection: ClientConnection,
        where: Where,
        clock: Clock,
        *,
        on_lost: Callable[["LaneSocket", BackendError], None],
        on_wasted: Callable[[int], None],
    ) -> None:
        self.born = clock.time()
        self.used = self.born
        self.tried = False
        self.old = False
        self.lost = False
        self.serial = False
        self.proven = False
        self.lanes_proven = False
        self.parents: OrderedDict[Hashable, tuple[str, str | None]] = OrderedDict()
        self._connection = connection
        self._where = where
        self._clock = clock
        self._on_lost = on_lost
        self._on_wasted = on_wasted
        self._in_flight: dict[str | None, Lane] = {}
        self._free = deque(lane_names(LANES))
        self._contexts = [f"c{number}" for number in range(CONTEXTS)]
        self._ping_due = asyncio.Event()
        self._asked: float | None = None
        self._watch: Timer | None = None
        self._complained = False
        self._tasks = [
            asyncio.create_task(self._pump(), name="model socket pump"),
            asyncio.create_task(self._ping(), name="model socket ping"),
        ]

    @property
    def idle(self) -> bool:
        """No answer is in flight, not even an abandoned one."""
        return not self._in_flight

    @property
    def live(self) -> bool:
        """Somebody still waits for an answer from this socket."""
        return any(lane.live for lane in self._in_flight.values())

    @property
    def has_lane(self) -> bool:
        return bool(self._free)

    def open(self, call: Call, *, alone: bool) -> Lane:
        """Send a request: `alone` without a lane's name, on a socket that carries nothing else."""
        name = None if alone else self._name_for(call)
        parent = self.parents.get(call.continues) if call.continues is not None else None
        if alone:
            # Without a lane's name, only the newest response can be continued.
            self.parents.clear()
        lane = self._in_flight[name] = Lane(name, call)
        self.tried = True
        lane.heard = self.used = self._clock.time()
        self._send(call.build(name, parent[0] if parent else None))
        self._expect_life()
        return lane

    def cancel(self, lane: Lane) -> None:
        """Tell a host that takes it to end an answer; nobody waits for it any longer."""
        self.abandon(lane)
        self._send(cancel_frame(lane=lane.name))

    def abandon(self, lane: Lane) -> None:
        """Stop waiting; what still comes is drained and counted, and the lane then returns by itself."""
        lane.live = False

    def abort(self) -> None:
        """Drop the socket at once, without the closing handshake, and with it what it carries."""
        if not self.lost:
            transport = self._connection.transport
            # The loop closes the socket only in its next turn, behind all that this one still holds.
            with suppress(OSError):
                transport.get_extra_info("socket").shutdown(SHUT_RDWR)
            transport.abort()
            self._forget(Lost(Interrupted(texts.DROPPED), resend=False))

    async def close(self) -> None:
        """Close politely, and wait until nothing is left of this socket."""
        if not self.lost:
            self._forget(Lost(Interrupted(texts.CLOSED), resend=False))
            await closed_quietly(self._connection)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._connection.wait_closed()

    def _name_for(self, call: Call) -> str | None:
        free = [name for name in self._contexts if name not in self._in_flight]
        if call.provides is None or not free:
            return self._free.popleft()
        taken = {name: key for key, (_, name) in self.parents.items()}
        name = next((name for name in free if name not in taken), None)
        if name is None:
            name = next(name for name in taken if name in free)
        if name in taken:
            del self.parents[taken[name]]
        return name

    async def _pump(self) -> None:
        try:
            while True:
                frame = await self._connection.recv()
                self._asked = None
                try:
                    event = decode(frame)
                except WireError as error:
                    self._complain(f"skipped a frame: {error}")
                    continue
                if event is not None:
                    self._route(event)
        except ConnectionClosed as closed:
            self._closed(closed)

    def _send(self, frame: str) -> None:
        """Write at once; what the peer does not take yet waits in the transport.

        A connection that is gone takes nothing, and the pump tells of that.
        """
        broadcast([self._connection], frame)

    async def _ping(self) -> None:
        try:
            while await self._ping_due.wait():
                self._ping_due.clear()
                # The pong is a future; the type says only that it can be awaited.
                pong = asyncio.ensure_future(await self._connection.ping())
                pong.add_done_callback(self._ponged)
        except ConnectionClosed:
            pass  # The pump hears of it too, and tells.

    def _route(self, event: ServerEvent) -> None:
        lane = self._in_flight.get(event.lane)
        if lane is None and event.lane is None and self._in_flight:
            # Without an echo, answers come one after the other, in the order of the requests.
            if not isinstance(event, ErrorEvent):
                self.serial = True
            if self.serial or len(self._in_flight) == 1:
                lane = next(iter(self._in_flight.values()))
            if self.serial and lane is not None and lane.created and isinstance(event, Created):
                words = texts.ONE_AT_A_TIME.format(host=self._where.host)
                self._lose(Interrupted(words), resend=True)
                return
        if isinstance(event, ErrorEvent) and (lane is None or event.code == CONNECTION_LIMIT_REACHED):
            if event.lane is None:
                self._lose(failures.from_event(self._where, event), resend=True)
            return
        if lane is None:
            self._complain("skipped an event for an unknown lane")
            return
        self.proven = True
        lane.heard = self._clock.time()
        if isinstance(event, Ended | ErrorEvent):
            self._finish(lane, event)
        else:
            self.lanes_proven = self.lanes_proven or event.lane is not None
            lane.push(event)

    def _finish(self, lane: Lane, event: Ended | ErrorEvent) -> None:
        lane.ended = True
        del self._in_flight[lane.name]
        if lane.name is not None and lane.name not in self._contexts:
            self._free.append(lane.name)
        if not lane.live:
            counted = event.usage.output_tokens if isinstance(event, Ended) else 0
            self._on_wasted(counted or lane.deltas)
        if isinstance(event, ErrorEvent):
            error = failures.from_event(self._where, event)
            if isinstance(error, failures.Expired):
                lane.fail(Lost(error, resend=True))
                self._lose(error, resend=True)
            else:
                lane.fail(error)
        elif event.status == "failed":
            lane.fail(failures.from_failed(self._where, event))
        else:
            if lane.call.provides is not None and event.status == "completed":
                self.parents[lane.call.provides] = (event.response_id, lane.name)
            lane.push(event)

    def _expect_life(self) -> None:
        """Ask for a pong; without it, or any frame, the connection counts as dead."""
        if self._asked is None:
            self._asked = self._clock.time()
            self._ping_due.set()
        if self._watch is None:
            self._watch = self._clock.call_later(SILENCE - GRACE, self._check_life)

    def _check_life(self) -> None:
        self._watch = None
        if self.lost or not self._in_flight:
            self._asked = None
        elif self._asked is None:
            self._expect_life()
        else:
            left = self._asked + SILENCE - self._clock.time()
            self._watch = self._clock.call_later(max(left, GRACE), partial(self._give_up, self._asked))

    def _give_up(self, asked: float) -> None:
        self._watch = None
        if self._asked == asked:
            error = Stalled(texts.WENT_SILENT.format(host=self._where.host))
            self._lose(error, resend=True)
        else:
            self._check_life()

    def _ponged(self, pong: "asyncio.Future[float]") -> None:
        if not pong.cancelled() and pong.exception() is None:
            self._asked = None

    def _closed(self, closed: ConnectionClosed) -> None:
        if closed.sent is not None and closed.sent.code == 1009 and closed.rcvd is None:
            sentence = texts.BEYOND_TAKEN.format(host=self._where.host, reason=closed.sent.reason)
            self._lose(Interrupted(sentence), resend=False)
            return
        received = closed.rcvd
        code, reason = (received.code, received.reason) if received is not None else (None, "")
        resend = code in (None, 1000, 1001, 1005, 1006, 1011, 1012, 1013, 1015)
        self._lose(failures.from_close(self._where, code, reason), resend=resend)

    def _lose(self, error: BackendError, *, resend: bool) -> None:
        if not self.lost:
            self._connection.transport.abort()
            self._forget(Lost(error, resend=resend))
            self._on_lost(self, error)

    def _forget(self, lost: Lost) -> None:
        self.lost = True
        if self._watch is not None:
            self._watch.cancel()
        for lane in self._in_flight.values():
            if lane.live:
                lane.fail(lost)
            else:
                self._on_wasted(lane.deltas)
        self._in_flight.clear()
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()

    def _complain(self, words: str) -> None:
        if not self._complained:
            self._complained = True
            log.debug("%s: %s", self._where.host, words)
