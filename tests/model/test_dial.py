"""Opening a WebSocket: certificates, proxies, redirects, and what a refused upgrade is called."""

import asyncio
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from websockets.asyncio.server import ServerConnection, serve

from lsp_server.engine.errors import (
    BackendError,
    Overloaded,
    RateLimited,
    Unauthorized,
    Unreachable,
)
from lsp_server.model.dial import Endpoint, Network, UpgradeRefused, dial, proxy_for, where_of
from tests.support.http_server import HttpServer
from tests.support.model_server import ModelServer

KEY = "sk-canary-0123456789abcdef"


async def refused(url: str, network: Network | None = None) -> BackendError:
    endpoint = Endpoint(url, {"Authorization": f"Bearer {KEY}"})
    with pytest.raises(BackendError) as failure:
        await dial(where_of("fast", endpoint), endpoint, network or Network())
    return failure.value


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (200, UpgradeRefused),
        (400, UpgradeRefused),
        (401, Unauthorized),
        (403, Unauthorized),
        (404, UpgradeRefused),
        (426, UpgradeRefused),
        (429, RateLimited),
        (500, Overloaded),
        (503, Overloaded),
    ],
)
async def test_a_refused_upgrade_is_a_named_error(status: int, error: type[BackendError]) -> None:
    async with HttpServer() as server:
        server.reply(status, b"<!doctype html><html>page</html>", {"Retry-After": "7"})
        failure = await refused(server.url.replace("http", "ws") + "/v1/responses")
        assert type(failure) is error
        assert f"127.0.0.1:{server.port}" in str(failure)
        assert "html" not in str(failure)
        if isinstance(failure, RateLimited):
            assert failure.retry_after == 7


async def test_B116_a_key_quoted_at_the_door_is_masked() -> None:
    async with HttpServer() as server:
        server.reply(401, b'{"error": {"message": "Wrong key: %b"}}' % KEY.encode())
        failure = await refused(server.url.replace("http", "ws"))
        assert "Wrong key: ***" in str(failure)
        assert KEY not in repr(failure) + failure.detail


@pytest.mark.parametrize("target", ["ws://127.0.0.2:1/", "wss://elsewhere.example/", "/other"])
async def test_no_redirect_is_followed(target: str) -> None:
    async with HttpServer() as server:
        server.reply(307, b"", {"Location": target})
        failure = await refused(server.url.replace("http", "ws"))
        assert "redirects" in str(failure)
        assert len(server.exchanges) == 1


async def test_a_port_where_nothing_listens() -> None:
    async with HttpServer() as server:
        port = server.port
    failure = await refused(f"ws://127.0.0.1:{port}/")
    assert type(failure) is Unreachable
    assert f"Nothing listens at 127.0.0.1:{port}; start it, or check `url`." == str(failure)


async def test_a_name_that_does_not_exist() -> None:
    assert "cannot be found" in str(await refused("ws://no-such-host.invalid/", Network(proxy="none")))


async def test_a_server_that_speaks_something_else() -> None:
    async def banner(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(banner, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        assert type(await refused(f"ws://127.0.0.1:{port}/")) is UpgradeRefused


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> Iterator[str]:
    path = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(path))
    yield str(path)


@pytest.mark.parametrize("name", ["localhost", "wrong.example"])
@pytest.mark.parametrize("trusted", [True, False])
async def test_B97_a_certificate_that_does_not_fit(
    name: str, trusted: bool, authority: trustme.CA, ca_file: str
) -> None:
    """Never without verification: only the right name from a trusted authority gets through."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)

    async def hello(socket: ServerConnection) -> None:
        await socket.send("hello")
        await socket.wait_closed()

    async with serve(hello, "127.0.0.1", 0, ssl=context) as server:
        url = f"wss://localhost:{next(iter(server.sockets)).getsockname()[1]}/"
        network = Network(ca_file=ca_file if trusted else "")
        if name == "localhost" and trusted:
            endpoint = Endpoint(url)
            connection = await dial(where_of("fast", endpoint), endpoint, network)
            assert await connection.recv() == "hello"
            await connection.close()
        else:
            failure = await refused(url, network)
            assert "certificate of localhost" in str(failure)
            assert ("mismatch" in str(failure)) == trusted


async def test_tls_to_a_server_without_it() -> None:
    async with ModelServer() as server:
        failure = await refused(f"wss://127.0.0.1:{server.port}/")
        assert type(failure) is Unreachable
        assert f"127.0.0.1:{server.port}" in str(failure)


async def test_a_certificate_file_that_is_none(tmp_path: Path) -> None:
    assert "cannot be used" in str(await refused("wss://localhost:1/", Network(ca_file=str(tmp_path / "x"))))


@pytest.mark.parametrize(
    ("host", "setting", "proxy"),
    [
        ("127.0.0.1", "", None),
        ("localhost", "http://proxy:3128", None),
        ("::1", "", None),
        ("api.example", "", True),
        ("api.example", "none", None),
        ("api.example", "http://proxy:3128", "http://proxy:3128"),
    ],
)
def test_loopback_never_goes_through_a_proxy(host: str, setting: str, proxy: object) -> None:
    assert proxy_for(host, Network(proxy=setting)) == proxy


@pytest.mark.parametrize("bypassed", [True, False])
async def test_the_environments_proxy_is_used_unless_bypassed(
    bypassed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with HttpServer() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "no-such-host.invalid" if bypassed else "")
        monkeypatch.delenv("no_proxy", raising=False)
        proxy.reply(502, b"")
        failure = await refused("wss://no-such-host.invalid/v1/responses")
        assert [exchange.method for exchange in proxy.exchanges] == ([] if bypassed else ["CONNECT"])
        assert ("proxy" in str(failure)) is not bypassed
        assert all(KEY not in str(exchange.headers) for exchange in proxy.exchanges)
