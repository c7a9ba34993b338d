"""A TCP proxy that fails on command, between a client and a real server."""

import asyncio
import socket
import struct
from contextlib import suppress


class FaultProxy:
    """Forwards 127.0.0.1:`port` to the target until told otherwise. A fault holds from its call on.

    `accepted` counts connections, `connected` is the number that are open now.
    """

    def __init__(self, target: int) -> None:
        self.accepted = 0
        self._target = target
        self._server: asyncio.Server | None = None
        self._pairs: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()
        self._flow = asyncio.Event()
        self._flow.set()
        self._lossy = False
        self._upstream_cut: int | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def __aenter__(self) -> "FaultProxy":
        await self.listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.refuse()
        self.resume()
        self.reset()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def connected(self) -> int:
        return len(self._pairs)

    async def listen(self) -> None:
        """Accept connections, on the same port as before."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def refuse(self) -> None:
        """Listen no longer; connections that are open go on."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def stall(self) -> None:
        """Hold every byte in both directions; nobody is told."""
        self._flow.clear()

    def resume(self) -> None:
        """Deliver what was held, and go on."""
        self._flow.set()

    def swallow(self) -> None:
        """Accept every byte and drop it, as when the other side is gone without a word."""
        self._lossy = True

    def heal(self) -> None:
        """Forward again; connections that lost bytes stay broken, so drop them as well."""
        self._lossy = False
        self.resume()

    def cut_after(self, count: int) -> None:
        """Close each connection once the server has sent this many further bytes on it."""
        self._upstream_cut = count

    def mend(self) -> None:
        """Cut no more connections, and break those that were still to be cut."""
        self._upstream_cut = None
        self.reset()

    def reset(self) -> None:
        """Break every open connection with a reset."""
        for pair in list(self._pairs):
            for writer in pair:
                _reset(writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        upstream_reader, upstream = await asyncio.open_connection("127.0.0.1", self._target)
        pair = (writer, upstream)
        self._pairs.add(pair)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._forward(reader, upstream, None))
                group.create_task(self._forward(upstream_reader, writer, self._upstream_cut))
        except* (ConnectionError, OSError):
            pass
        finally:
            self._pairs.discard(pair)
            for end in pair:
                end.close()
            with suppress(OSError):
                await asyncio.gather(*(end.wait_closed() for end in pair), return_exceptions=True)

    async def _forward(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, cut: int | None
    ) -> None:
        while chunk := await reader.read(65536):
            await self._flow.wait()
            if self._lossy:
                continue
            if cut is not None and len(chunk) >= cut:
                writer.write(chunk[:cut])
                await writer.drain()
                raise ConnectionResetError
            cut = None if cut is None else cut - len(chunk)
            writer.write(chunk)
            await writer.drain()
        raise ConnectionResetError


def _reset(writer: asyncio.StreamWriter) -> None:
    raw = writer.get_extra_info("socket")
    if raw is not None and not writer.is_closing():
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
