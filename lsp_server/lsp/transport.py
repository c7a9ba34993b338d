"""Bytes in, message bodies out: the framing of LSP's base protocol, and the three ways to be reached.

pygls reads each header line through a thread pool; here the event loop reads the pipe itself where the
platform allows it, so a keystroke costs no thread hop.
"""

import asyncio
import contextlib
import os
import stat
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO, Protocol

MAXIMUM_BODY = 256 * 1024 * 1024
CHUNK = 1 << 16


class FramingError(Exception):
    """The peer does not speak the base protocol; nothing after it can be understood."""


class Framer:
    """A push machine: bytes as they come, whole message bodies out."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._wanted = -1

    def push(self, data: bytes) -> list[bytes]:
        """Bodies that `data` completes. Raises FramingError on a header without a usable length."""
        self._buffer += data
        bodies: list[bytes] = []
        while True:
            if self._wanted < 0:
                end = self._buffer.find(b"\r\n\r\n")
                if end < 0:
                    if len(self._buffer) > CHUNK:
                        raise FramingError("no header in the first 64 KiB")
                    return bodies
                self._wanted = content_length(bytes(self._buffer[:end]))
                del self._buffer[: end + 4]
            if len(self._buffer) < self._wanted:
                return bodies
            bodies.append(bytes(self._buffer[: self._wanted]))
            del self._buffer[: self._wanted]
            self._wanted = -1


def content_length(header: bytes) -> int:
    """The Content-Length of a header block; names are case-insensitive, other fields are ignored."""
    for line in header.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            digits = value.strip()
            if digits.isdigit() and int(digits) <= MAXIMUM_BODY:
                return int(digits)
            raise FramingError(f"unusable Content-Length {digits[:20]!r}")
    raise FramingError("a header without Content-Length")


class Writer(Protocol):
    """What pygls writes to."""

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...


class StreamWriter:
    """Writes to a blocking stream: files, and pipes where the event loop cannot watch them."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> None:
        """Raises BrokenPipeError when the client is gone."""
        self._stream.write(data)
        self._stream.flush()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.close()


class TransportWriter:
    """Writes without blocking: what the client does not take at once waits in the transport."""

    def __init__(self, transport: asyncio.WriteTransport) -> None:
        self._transport = transport

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def close(self) -> None:
        self._transport.close()


async def pipe_writer(stream: BinaryIO) -> Writer:
    """The writer that suits the stream on this platform."""
    if not watchable(stream):
        return StreamWriter(stream)
    transport, _ = await asyncio.get_running_loop().connect_write_pipe(asyncio.BaseProtocol, stream)
    return TransportWriter(transport)


def watchable(stream: BinaryIO) -> bool:
    """True for what an event loop can wait for; the selectors refuse files and devices."""
    mode = os.fstat(stream.fileno()).st_mode
    return os.name == "posix" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


def take_stdout() -> BinaryIO:
    """Keep stdout for the protocol: whatever else writes to descriptor 1 goes to stderr from now on."""
    sys.stdout.flush()
    ours = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return ours


async def read_pipe(stream: BinaryIO, receive: Callable[[bytes], None]) -> None:
    """Feed `receive` with what comes in, until the end of the stream."""
    if not watchable(stream):
        await read_in_thread(stream, receive)
        return
    loop = asyncio.get_running_loop()
    ended = loop.create_future()
    transport, _ = await loop.connect_read_pipe(lambda: Pipe(receive, ended), stream)
    try:
        await ended
    finally:
        transport.close()


class Pipe(asyncio.Protocol):
    """Hands on what comes in within the turn of the loop in which it is read."""

    def __init__(self, receive: Callable[[bytes], None], ended: "asyncio.Future[None]") -> None:
        self._receive = receive
        self._ended = ended

    def data_received(self, data: bytes) -> None:
        self._receive(data)

    def connection_lost(self, exc: Exception | None) -> None:
        resolve(self._ended)


def resolve(future: asyncio.Future[None]) -> None:
    """Resolve a future that may have been cancelled meanwhile."""
    if not future.done():
        future.set_result(None)


async def read_in_thread(stream: BinaryIO, receive: Callable[[bytes], None]) -> None:
    """The same for what an event loop cannot watch: files, and pipes on Windows."""
    loop = asyncio.get_running_loop()
    ended = loop.create_future()

    def tell(callback: Callable[..., object], *arguments: object) -> None:
        # The loop may be gone when the process is on its way out.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(callback, *arguments)

    def pump() -> None:
        try:
            while data := os.read(stream.fileno(), CHUNK):
                tell(receive, data)
        finally:
            tell(resolve, ended)

    threading.Thread(target=pump, name="stdin", daemon=True).start()
    await ended
