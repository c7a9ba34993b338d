"""Hosts for the doctor to visit, and what it says of them."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress

import trustme
from websockets.asyncio.server import ServerConnection, serve

from lsp_server.cli import checkup
from lsp_server.settings import load_user
from lsp_server.wire.answer import Answer
from lsp_server.wire.client import Usage
from lsp_server.wire.server import Create, parse_request
from tests.model.test_http_backend import STREAM
from tests.support.command import Machine
from tests.support.http_server import Exchange, HttpServer
from tests.support.model_server import TOKEN

STEPS = ("key", "DNS", "TCP", "proxy", "TLS", "upgrade", "budget", "auth", "first token", "cancel", "lanes")
CHAT = b"".join(
    b"data: %b\n\n" % json.dumps({"id": "1", "choices": [{"index": 0, **choice}]}).encode()
    for choice in ({"delta": {"content": " a + b"}}, {"delta": {}, "finish_reason": "stop"})
)
Steps = dict[str, tuple[bool, str, str]]
"""Whether each step is well, what was found, and what to do."""


async def report(machine: Machine) -> Steps:
    """What the doctor finds out about the model, by step; never the key."""
    environment = machine.environment
    settings, problems = load_user(environment)
    assert not problems
    checks = checkup.examine_model(settings.models["scripted"], settings.budget, environment)
    async with aclosing(checks) as lines:
        steps = {name.removeprefix("model scripted, "): line async for name, *line in lines}
    assert TOKEN not in str(steps)
    assert list(steps) == [step for step in STEPS if step in steps], "in the order of a request"
    return {name: (bool(ok), str(found), str(mend)) for name, (ok, found, mend) in steps.items()}


def failed(steps: Steps) -> dict[str, str]:
    return {name: found for name, (ok, found, _) in steps.items() if not ok}


async def check(machine: Machine, step: str, found: str, mend: str) -> None:
    """This step is the only one that fails, nothing is tried after it, and the user hears what to do."""
    steps = await report(machine)
    assert list(failed(steps)) == [step], steps
    assert list(steps)[-1] == step
    assert found in steps[step][1], steps[step]
    assert mend in steps[step][2], steps[step]


def certified(authority: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return context


@asynccontextmanager
async def behind_tls(authority: trustme.CA, name: str = "localhost") -> AsyncIterator[int]:
    """The port of a model that speaks WebSocket with lanes, with a certificate for this name."""

    async def answer(connection: ServerConnection) -> None:
        async for frame in connection:
            create = parse_request(frame)
            assert isinstance(create, Create)
            one = Answer(create, "r1", created_at=1)
            for event in [*one.started(), *one.delta(" a + b"), *one.completed(Usage())]:
                await connection.send(event)

    context = certified(authority, name)
    async with serve(answer, "127.0.0.1", 0, ssl=context, close_timeout=1) as server:
        yield next(iter(server.sockets)).getsockname()[1]


Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def speaking(talk: Talk) -> AsyncIterator[int]:
    """The port of a server that speaks like this with each client."""

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await talk(reader, writer)
        writer.close()

    server = await asyncio.start_server(serve_one, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


class Chatting(HttpServer):
    """Answers every POST alike, as a stream of events unless it is a page, and every GET as an upgrade."""

    def __init__(
        self, body: bytes, status: int = 200, *, upgrade: int = 404, tls: ssl.SSLContext | None = None
    ) -> None:
        super().__init__(tls)
        self._body, self._status, self._upgrade = body, status, upgrade

    def accept(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)
        moved = {"Location": "https://elsewhere.example/"}
        if exchange.method != "POST":
            exchange.answer(self._upgrade, b"{}", moved)
        elif self._body.startswith(b"<"):
            exchange.answer(self._status, self._body, {"Content-Type": "text/html"})
        else:
            exchange.answer(self._status, self._body, STREAM if self._status == 200 else moved)


async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Say nothing."""


def tunnel_to(port: int) -> Talk:
    """A proxy that takes everybody to this port, under the name model.example."""

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"CONNECT model.example:443 ")
        there, away = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        with suppress(ExceptionGroup):
            async with asyncio.TaskGroup() as group:
                group.create_task(pour(reader, away))
                group.create_task(pour(there, writer))
        away.close()

    return connect


async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    raise ConnectionResetError
