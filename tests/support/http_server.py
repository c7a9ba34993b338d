"""A bare HTTP/1.1 server on loopback: it records what it is sent, and answers byte for byte as told.

async with HttpServer() as server:
    server.reply(200, b"data: [DONE]\\n\\n", {"Content-Type": "text/event-stream"})
    ...
    exchange = await server.exchange()      # or take each request in hand
    exchange.begin(200, {"Content-Type": "text/event-stream"})
    exchange.write(b"data: {}\\n\\n")
    exchange.end()
"""

import asyncio
import json
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Exchange:
    """One request and its answer. `connection` is the number of its connection, from 1.

    `gone` is set when the client closed the connection before the answer had ended.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int
    transport: asyncio.Transport
    ended: bool = False
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    _chunked: bool = True

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def answer(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.transport.write(_head(status, {**(headers or {}), "Content-Length": str(len(body))}) + body)
        self.ended = True

    def begin(self, status: int, headers: Mapping[str, str] | None = None, *, chunked: bool = True) -> None:
        """The head of an answer of unknown length: in chunks, or up to the end of the connection."""
        self._chunked = chunked
        framing = {"Transfer-Encoding": "chunked"} if chunked else {"Connection": "close"}
        self.transport.write(_head(status, {**(headers or {}), **framing}))

    def write(self, data: bytes) -> None:
        self.transport.write(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)

    def end(self) -> None:
        self.ended = True
        if self._chunked:
            self.transport.write(b"0\r\n\r\n")
        else:
            self.transport.close()

    def drop(self) -> None:
        """Close the connection in the middle of the answer."""
        self.ended = True
        self.transport.close()


class HttpServer:
    """`connections` counts those that were ever opened, `exchanges` holds the requests in their order."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.connections = 0
        self.exchanges: list[Exchange] = []
        self.open: set[asyncio.Transport] = set()
        self.port = 0
        self._tls = tls
        self._scripts: list[tuple[int, Sequence[bytes], Mapping[str, str]]] = []
        self._new: asyncio.Queue[Exchange] = asyncio.Queue()

    async def __aenter__(self) -> "HttpServer":
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for transport in list(self.open):
            transport.abort()
        while self.open:
            await asyncio.sleep(0)

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def reply(
        self, status: int, body: bytes | Sequence[bytes], headers: Mapping[str, str] | None = None
    ) -> None:
        """Answer one further request; several calls queue up. A sequence is sent chunk by chunk."""
        self._scripts.append((status, [body] if isinstance(body, bytes) else body, headers or {}))

    async def exchange(self) -> Exchange:
        """The next request that no script answers."""
        return await self._new.get()

    def accept(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)
        if not self._scripts:
            self._new.put_nowait(exchange)
            return
        status, chunks, headers = self._scripts.pop(0)
        if len(chunks) == 1:
            exchange.answer(status, chunks[0], headers)
            return
        exchange.begin(status, headers)
        for chunk in chunks:
            exchange.write(chunk)
        exchange.end()


class _Connection(asyncio.Protocol):
    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._received = b""
        self._exchange: Exchange | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.connections += 1
        self._number = self._server.connections
        self._server.open.add(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.open.discard(self._transport)
        if self._exchange is not None and not self._exchange.ended:
            self._exchange.gone.set()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, rest = self._received.partition(b"\r\n\r\n")
        if not end:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = [line.partition(":") for line in lines]
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length", "0"))
        if len(rest) < length:
            return
        self._received = rest[length:]
        method, path, _ = first.split(" ", 2)
        self._exchange = Exchange(method, path, headers, rest[:length], self._number, self._transport)
        self._server.accept(self._exchange)


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Status", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
