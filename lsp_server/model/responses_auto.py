"""The Responses protocol over whatever the host speaks: its WebSocket, else server-sent events."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from lsp_server.core.prompt import Style
from lsp_server.engine.ports import Backend, Event, Request
from lsp_server.model.dial import UpgradeRefused
from lsp_server.model.inbox import Clock
from lsp_server.model.responses_ws import ResponsesBackend

log = logging.getLogger(__name__)

AGAIN = 600.0
"""Seconds until a refused WebSocket is tried once more."""


class ResponsesAutoBackend:
    """Two backends of one model: the WebSocket first, the stream while the upgrade is refused.

    `over_http` makes the second one when it is first needed.
    """

    def __init__(
        self, socket: ResponsesBackend, over_http: Callable[[], Backend], clock: Clock | None = None
    ) -> None:
        self._socket = socket
        self._over_http = over_http
        self._stream: Backend | None = None
        self._clock = clock
        self._refused_until = float("-inf")

    @property
    def name(self) -> str:
        return self._socket.name

    @property
    def style(self) -> Style:
        return self._socket.style

    @property
    def lanes(self) -> bool | None:
        """As of the socket; None while the upgrade is refused."""
        return self._socket.lanes if self._refused_until <= self._now() else None

    @property
    def wasted_tokens(self) -> int:
        """As of the socket: over HTTP an answer that is not wanted ends with its connection."""
        return self._socket.wasted_tokens

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """See `Backend.stream`."""
        if self._refused_until <= self._now():
            try:
                async with aclosing(self._socket.stream(request)) as events:
                    async for event in events:
                        yield event
                return
            except UpgradeRefused as refused:
                # Refused at the door, so nothing was yielded yet.
                log.info("model %s: %s Using server-sent events.", self.name, refused)
                self._refused_until = self._now() + AGAIN
        async with aclosing(self._second().stream(request)) as events:
            async for event in events:
                yield event

    async def warm(self, request: Request) -> None:
        """See `Backend.warm`."""
        await (self._socket if self._refused_until <= self._now() else self._second()).warm(request)

    async def close(self) -> None:
        """See `Backend.close`."""
        both = [self._socket] if self._stream is None else [self._socket, self._stream]
        await asyncio.gather(*(one.close() for one in both))

    def _second(self) -> Backend:
        if self._stream is None:
            self._stream = self._over_http()
        return self._stream

    def _now(self) -> float:
        return (self._clock or asyncio.get_running_loop()).time()
