"""The connection to one model: sockets that are opened, shared, kept warm, rotated and replaced.

Short answers share one socket through lanes. A long answer that can only be cancelled by closing has a
socket of its own, so closing never ends another generation; a spare one is kept warm for the next.
Where a host knows no lanes, every answer has a socket of its own.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Hashable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from lsp_server.engine.errors import BackendError, ModelMissing, RateLimited, Stalled, Unreachable
from lsp_server.model.dial import Address, Network, dial, where_of
from lsp_server.model.failures import EvictedParent, LanesRefused
from lsp_server.model.inbox import Clock, Lost, Patience, Timer
from lsp_server.model.lane import Call, Lane
from lsp_server.model.lane_socket import LaneSocket
from lsp_server.model.pace import Backoff, Pace, jitter
from lsp_server.texts import models as texts
from lsp_server.wire.client import Ended, ServerEvent, TextDelta

log = logging.getLogger(__name__)

Cancel = Literal["event", "lane", "close"]

SPARES = 2
"""Idle sockets that are kept."""

IN_USE = 600.0
"""Seconds since the last request after which a socket is no longer renewed ahead of its end."""


@dataclass(frozen=True, slots=True)
class Options:
    """`cancel` is how the host learns that an answer is no longer wanted: by our event, by nothing more
    than an abandoned lane, or by the end of the socket. `max_age` (seconds) stays below the provider's
    60 minutes. `jitter` is a factor on every back-off."""

    cancel: Cancel = "lane"
    lanes: bool = True
    network: Network = field(default_factory=Network)
    max_age: float = 55 * 60.0
    jitter: Callable[[], float] = jitter


class Connection:
    """Connects on demand, and again after a loss. Every method runs on one event loop.

    `endpoint` is asked before each connection: it may start the host, or read the key afresh.
    It raises a BackendError when there is nothing to connect to. `cancel` may change at any time.
    """

    def __init__(
        self,
        model: str,
        endpoint: Callable[[], Awaitable[Address]],
        options: Options,
        clock: Clock | None = None,
    ) -> None:
        self.wasted_tokens = 0
        self.cancel = options.cancel
        self._model = model
        self._endpoint = endpoint
        self._options = options
        self._clock: Clock = clock or asyncio.get_running_loop()
        self._lanes = options.lanes
        self._shared: LaneSocket | None = None
        self._idle: list[LaneSocket] = []
        self._retired: set[LaneSocket] = set()
        self._sockets: dict[LaneSocket, Timer] = {}
        self._backoff = Backoff(options.jitter)
        self._pace = Pace(options.jitter)
        self._dialing: asyncio.Task[BackendError | None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def lanes(self) -> bool | None:
        """Whether the host takes several answers on one socket; None while that is not known."""
        if not self._lanes:
            return False
        return True if self._shared is not None and self._shared.lanes_proven else None

    async def stream(
        self, call: Call, *, first_token: float, long: bool = False
    ) -> AsyncGenerator[ServerEvent, None]:
        """The events of one answer, `Ended` (completed or incomplete) last. Hold it in `aclosing`.

        `first_token`: seconds to wait for the first text. `long`: an answer too dear to let it run on
        after a cancel. Raises a BackendError in every other case; a request is sent a second time only
        when its connection was lost before any text had come.
        """
        again = True
        while True:
            self._pace.check(self._clock.time())
            alone = self._alone(long)
            socket = await self._acquire(alone, first_token, call.continues)
            self._pace.sent(self._clock.time())
            lane = socket.open(call, alone=alone)
            patience = Patience(lane, self._clock, first_token)
            begun = False
            try:
                while True:
                    event = await lane.get()
                    if isinstance(event, TextDelta):
                        begun = True
                    yield event
                    if isinstance(event, Ended):
                        self._pace.succeeded()
                        return
            except Lost as lost:
                self._drop_suspects(lost)
                if begun or not again or not lost.resend:
                    raise lost.error from None
            except EvictedParent:
                if call.continues is None:
                    raise
                socket.parents.pop(call.continues, None)
                call = replace(call, continues=None)
                continue
            except LanesRefused:
                if not again or alone:
                    raise
                self._lanes = socket.lanes_proven
                self._retire_shared()
            except RateLimited as error:
                self._pace.limited(self._clock.time(), error)
                raise
            finally:
                patience.cancel()
                self._release(socket, lane, alone)
            again = False

    async def warm(self, call: Call | None, *, first_token: float = 30.0, long: bool = False) -> None:
        """Connect, and let the host read a prompt ahead. Raises as `stream` does.

        For a `long` answer that is done on the socket which the answer will own. Short answers gain nothing
        where each has a socket of its own: which one that will be is not known.
        """
        alone = self._alone(long)
        while not self._idle if alone else self._find_shared() is None:
            await self._dialed(first_token)
        if call is None or (alone and not long) or self._has_read(call):
            return
        events = self.stream(call, first_token=first_token, long=long)
        try:
            async for _ in events:
                pass
        finally:
            await events.aclose()

    async def close(self) -> None:
        """End every stream and socket."""
        self._closed = True
        if self._dialing is not None:
            self._dialing.cancel()
            await asyncio.gather(self._dialing, return_exceptions=True)
        sockets = list(self._sockets)
        for timer in self._sockets.values():
            timer.cancel()
        self._sockets.clear()
        await asyncio.gather(*(socket.close() for socket in sockets), *self._tasks)

    def _alone(self, long: bool) -> bool:
        return not self._lanes or self.cancel == "close" or (long and self.cancel == "lane")

    def _has_read(self, call: Call) -> bool:
        sockets = [*self._idle, self._shared] if self._shared else self._idle
        return call.provides is not None and any(call.provides in socket.parents for socket in sockets)

    async def _acquire(self, alone: bool, patience: float, context: Hashable | None) -> LaneSocket:
        while True:
            socket = self._take_idle(context) if alone else self._find_shared()
            if socket is not None:
                if self.cancel != "event":
                    self._ensure_spare()
                return socket
            await self._dialed(patience)

    def _find_shared(self) -> LaneSocket | None:
        shared = self._shared
        if shared is None or shared.lost:
            self._shared = self._take_idle()
        elif shared.serial or shared.old or not shared.has_lane:
            fresh = self._take_idle()
            if fresh is None and shared.has_lane and not shared.serial:
                self._ensure_spare()
                return shared
            self._retire_shared()
            self._shared = fresh
        return self._shared

    def _take_idle(self, context: Hashable | None = None) -> LaneSocket | None:
        """The one that has read this context, else rather one that has read nothing."""
        idle = [socket for socket in self._idle if socket.idle]
        if not idle:
            return None
        socket = min(idle, key=lambda socket: (context not in socket.parents, len(socket.parents)))
        self._idle.remove(socket)
        return socket

    async def _dialed(self, patience: float) -> None:
        """Wait for one more socket; give up at once when the next attempt is due later than that."""
        wait = self._backoff.wait(self._clock.time())
        if self._backoff.error is not None and wait > patience:
            raise self._backoff.error.with_traceback(None)
        if self._closed:
            raise Unreachable(texts.MODEL_CLOSED.format(model=self._model))
        if self._dialing is None:
            self._dialing = asyncio.create_task(self._dial(wait), name="model dial")
        error = await asyncio.shield(self._dialing)
        if error is not None:
            raise error.with_traceback(None)

    async def _dial(self, wait: float) -> BackendError | None:
        try:
            if wait > 0:
                due = asyncio.Event()
                self._clock.call_later(wait, due.set)
                await due.wait()
            endpoint = await self._endpoint()
            where = where_of(self._model, endpoint)
            connection = await dial(where, endpoint, self._options.network)
        except BackendError as error:
            if not isinstance(error, ModelMissing):
                self._backoff.failed(self._clock.time(), error)
            return error
        finally:
            self._dialing = None
        socket = LaneSocket(connection, where, self._clock, on_lost=self._lost, on_wasted=self._wasted)
        self._sockets[socket] = self._clock.call_later(self._options.max_age, partial(self._aged, socket))
        self._idle.append(socket)
        return None

    def _ensure_spare(self) -> None:
        due = self._backoff.wait(self._clock.time()) == 0
        if not self._idle and self._dialing is None and due and not self._closed:
            self._dialing = asyncio.create_task(self._dial(0), name="model dial")

    def _release(self, socket: LaneSocket, lane: Lane, alone: bool) -> None:
        """The reader of a lane is gone, or its answer has ended. Nothing here waits."""
        if socket.serial:
            self._lanes = False
        if socket.proven:
            self._backoff.succeeded()
        if socket.lost:
            return
        if not lane.ended:
            if self.cancel == "event":
                socket.cancel(lane)
            else:
                socket.abandon(lane)
                if alone:
                    self._forget(socket)
                    socket.abort()
                    self._ensure_spare()
                    return
        if alone and len(self._idle) < SPARES and not socket.old:
            self._idle.append(socket)
        elif alone or (socket in self._retired and not socket.live):
            self._discard(socket)

    def _retire_shared(self) -> None:
        """Let answers in flight finish on the shared socket, and open no further ones there."""
        socket, self._shared = self._shared, None
        if socket is None or socket.lost:
            return
        if socket.live:
            self._retired.add(socket)
        else:
            self._discard(socket)

    def _discard(self, socket: LaneSocket) -> None:
        self._forget(socket)
        self._spawn(socket.close())

    def _aged(self, socket: LaneSocket) -> None:
        """Renew a socket ahead of its end: the fresh one first. One that nobody used lately just ends."""
        socket.old = True
        if socket in self._idle:
            self._discard(socket)
        elif socket is self._shared:
            if self._clock.time() - socket.used < IN_USE:
                self._ensure_spare()
            else:
                self._retire_shared()

    def _drop_suspects(self, lost: Lost) -> None:
        """After a silent death (a machine that slept, a network that changed) no idle socket is trusted."""
        if isinstance(lost.error, Stalled):
            for socket in list(self._idle):
                self._forget(socket)
                socket.abort()

    def _lost(self, socket: LaneSocket, error: BackendError) -> None:
        if socket.tried and not socket.proven:
            self._backoff.failed(self._clock.time(), error)
        log.info("model %s: %s", self._model, error)
        self._forget(socket)

    def _forget(self, socket: LaneSocket) -> None:
        timer = self._sockets.pop(socket, None)
        if timer is not None:
            timer.cancel()
        if socket in self._idle:
            self._idle.remove(socket)
        if socket is self._shared:
            self._shared = None
        self._retired.discard(socket)

    def _wasted(self, tokens: int) -> None:
        self.wasted_tokens += tokens

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name="model socket close")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
