"""A name with an IPv6 and an IPv4 address, of which only the second one works."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest
from websockets.asyncio.server import serve

from lsp_server.engine.errors import Unreachable
from lsp_server.engine.ports import Delta
from lsp_server.model.dial import Endpoint, Network, dial, where_of
from tests.model.providers import PROVIDERS
from tests.model.test_http_backend import STREAM, Recorder, served

CHAT = next(provider for provider in PROVIDERS if provider.name == "chat-http")


async def refused(connect: Callable[..., Any], end: socket.socket, address: Any) -> None:
    await connect(end, address)


async def silent(connect: Callable[..., Any], end: socket.socket, address: Any) -> None:
    """As without a route: nobody answers, and nobody refuses."""
    if end.family == socket.AF_INET6:
        await asyncio.Event().wait()
    await connect(end, address)


@pytest.fixture(params=[refused, silent])
async def half_working(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that were looked up. Nothing of ours listens on ::1."""
    loop = asyncio.get_running_loop()
    names: list[str] = []
    connect = loop.sock_connect

    async def look_up(host: Any, port: Any, **_: Any) -> list[Any]:
        names.append(host if isinstance(host, str) else host.decode())
        kind = (socket.SOCK_STREAM, socket.IPPROTO_TCP, "")
        return [
            (socket.AF_INET6, *kind, ("::1", int(port), 0, 0)),
            (socket.AF_INET, *kind, ("127.0.0.1", int(port))),
        ]

    monkeypatch.setattr(loop, "getaddrinfo", look_up)
    monkeypatch.setattr(loop, "sock_connect", lambda *where: request.param(connect, *where))
    return names


class Named(Recorder):
    """Is reached by its name."""

    @property
    def url(self) -> str:
        return f"http://model.example:{self.port}"


async def open_socket(port: int) -> str:
    """The address that a socket was opened to."""
    endpoint = Endpoint(f"ws://model.example:{port}/v1/responses")
    connection = await dial(where_of("fast", endpoint), endpoint, Network(proxy="none"))
    await connection.close()
    return str(connection.remote_address[0])


async def test_B98_a_socket_opens_over_the_family_that_works(half_working: list[str]) -> None:
    async with serve(lambda socket: socket.wait_closed(), "127.0.0.1", 0) as server:
        assert await open_socket(next(iter(server.sockets)).getsockname()[1]) == "127.0.0.1"
    assert half_working == ["model.example"]


@pytest.mark.parametrize("half_working", [refused], indirect=True)
async def test_with_neither_family_the_user_hears_that_nothing_listens(half_working: list[str]) -> None:
    async with Named() as server:
        port = server.port
    with pytest.raises(Unreachable, match=f"^Nothing listens at model.example:{port};"):
        await open_socket(port)
    async with served(server, CHAT, proxy="none") as one:
        with pytest.raises(Unreachable, match=f"^Nothing listens at model.example:{port};"):
            await anext(one.stream(CHAT.request))


async def test_B98_http_goes_over_the_family_that_works(half_working: list[str]) -> None:
    async with Named() as server, served(server, CHAT, proxy="none") as one:
        server.reply(200, CHAT.body, STREAM)
        async with aclosing(one.stream(CHAT.request)) as events:
            assert [event async for event in events if isinstance(event, Delta)]
    assert set(half_working) == {"model.example"}
