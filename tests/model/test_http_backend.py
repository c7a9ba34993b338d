"""Every HTTP provider against a server on loopback that records, answers, stalls and fails."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trustme

from lsp_server.engine.errors import (
    BackendError,
    Interrupted,
    Overloaded,
    RateLimited,
    Rejected,
    Stalled,
    Unauthorized,
    Unreachable,
)
from lsp_server.engine.ports import Delta, Event, Finish
from lsp_server.model import dialect_of
from lsp_server.model.hosting import REMOTE_CHAT
from lsp_server.model.http_backend import HttpBackend
from tests.model.clock import FakeClock, turns, until
from tests.model.providers import ENVIRONMENT, FILL, PROVIDERS, TEXT, Provider
from tests.support.http_server import Exchange, HttpServer

KEY = ENVIRONMENT["KEY"]
STREAM = {"Content-Type": "text/event-stream"}
CHAT_HTTP = next(provider for provider in PROVIDERS if provider.name == "chat-http")
every_provider = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)


class Recorder(HttpServer):
    """Answers the requests that open a connection ahead of need; the rest is the test's."""

    def accept(self, exchange: Exchange) -> None:
        if exchange.method == "POST":
            super().accept(exchange)
        elif exchange.method == "HEAD":
            exchange.answer(404, b"")
        else:
            exchange.answer(404, b"{}")


@asynccontextmanager
async def served(
    server: HttpServer, provider: Provider, *, clock: FakeClock | None = None, **changes: Any
) -> AsyncIterator[HttpBackend]:
    model = provider.at(server.url, **changes)
    dialect, style = dialect_of(model)
    one = HttpBackend(model, ENVIRONMENT, dialect, style, clock=clock, jitter=lambda: 1.0)
    try:
        yield one
    finally:
        await one.close()


async def collect(one: HttpBackend, provider: Provider) -> list[Event]:
    async with aclosing(one.stream(provider.request)) as events:
        return [event async for event in events]


def ask(one: HttpBackend, provider: Provider = CHAT_HTTP) -> asyncio.Task[list[Event]]:
    return asyncio.create_task(collect(one, provider))


def text_of(events: list[Event]) -> str:
    assert isinstance(events[-1], Finish)
    return "".join(event.text for event in events if isinstance(event, Delta))


async def posted(server: HttpServer, provider: Provider) -> Exchange:
    """The next request; its answer begins, and stops after the first piece of text."""
    exchange = await server.exchange()
    exchange.begin(200, STREAM)
    separator = b"\n" if provider.name == "fim-ollama" else b"\n\n"
    head, _, _ = provider.body.partition(b"a = ")
    exchange.write(provider.body[: provider.body.index(separator, len(head)) + len(separator)])
    return exchange


@every_provider
async def test_an_answer_and_where_its_request_went(provider: Provider) -> None:
    async with Recorder() as server, served(server, provider) as one:
        for _ in range(3):
            server.reply(200, provider.body, STREAM)
            assert text_of(await collect(one, provider)) == TEXT
        first = server.exchanges[0]
        assert first.path == provider.path
        assert first.headers["authorization"] == f"Bearer {KEY}"
        assert first.json.get("model") in ("m", None)
        assert server.connections <= 2


@every_provider
async def test_B51_cancelling_frees_the_caller_and_closes_the_connection(provider: Provider) -> None:
    async with Recorder() as server, served(server, provider) as one:
        task = ask(one, provider)
        exchange = await posted(server, provider)
        await turns(50)
        task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert task.done()
        await exchange.gone.wait()
        server.reply(200, provider.body, STREAM)
        assert text_of(await collect(one, provider)) == TEXT


async def test_after_a_cancel_the_next_request_finds_an_open_connection() -> None:
    async with Recorder() as server, served(server, CHAT_HTTP) as one:
        for _ in range(3):
            task = ask(one)
            exchange = await posted(server, CHAT_HTTP)
            await until(lambda: len(server.open) == 2)
            await turns(500)
            open_before = server.connections
            task.cancel()
            server.reply(200, CHAT_HTTP.body, STREAM)
            await exchange.gone.wait()
            again = await collect(one, CHAT_HTTP)
            assert text_of(again) == TEXT
            assert server.exchanges[-1].connection <= open_before


@every_provider
async def test_B89_a_connection_that_ends_in_the_middle(provider: Provider) -> None:
    async with Recorder() as server, served(server, provider) as one:
        task = ask(one, provider)
        (await posted(server, provider)).drop()
        with pytest.raises(Interrupted):
            await task


async def test_a_connection_lost_before_the_answer_is_tried_once_more() -> None:
    async with Recorder() as server, served(server, CHAT_HTTP) as one:
        task = ask(one)
        (await server.exchange()).drop()
        server.reply(200, CHAT_HTTP.body, STREAM)
        assert text_of(await task) == TEXT
        task = ask(one)
        for _ in range(2):
            (await server.exchange()).drop()
        with pytest.raises(Interrupted):
            await task


@pytest.mark.parametrize("begun", [False, True])
async def test_a_stall_ends_with_a_sentence(begun: bool) -> None:
    clock = FakeClock()
    async with Recorder() as server, served(server, CHAT_HTTP, clock=clock) as one:
        task = ask(one)
        exchange = await (posted(server, CHAT_HTTP) if begun else server.exchange())
        await turns(100)
        await clock.advance(9.9)
        assert not task.done()
        await clock.advance(30)
        with pytest.raises(Stalled):
            await task
        await exchange.gone.wait()


@every_provider
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, Rejected),
        (401, Unauthorized),
        (403, Unauthorized),
        (404, Rejected),
        (408, Stalled),
        (413, Rejected),
        (429, RateLimited),
        (500, Overloaded),
        (529, Overloaded),
    ],
)
async def test_B116_every_status_is_a_named_error_without_the_key(
    provider: Provider, status: int, error: type[BackendError], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    async with Recorder() as server, served(server, provider) as one:
        server.reply(status, b'{"error": {"message": "You sent %b."}}' % KEY.encode(), {"Retry-After": "1"})
        with pytest.raises(error) as failure:
            await collect(one, provider)
        assert "You sent ***" in str(failure.value)
        assert KEY not in repr(failure.value) + failure.value.detail + caplog.text
        assert "the file" not in caplog.text


@every_provider
async def test_B95_a_limited_host_gets_few_requests_and_recovers(provider: Provider) -> None:
    clock = FakeClock()
    async with Recorder() as server, served(server, provider, clock=clock) as one:
        for word in ("0", "2", "soon"):
            for _ in range(50):
                server.reply(429, b"{}", {"Retry-After": word})
                with pytest.raises(RateLimited):
                    await collect(one, provider)
                await clock.advance(0.2)
        sent = len(server.exchanges)
        assert sent <= 12
        server._scripts.clear()
        await clock.advance(60)
        server.reply(200, provider.body, STREAM)
        assert text_of(await collect(one, provider)) == TEXT


@every_provider
async def test_no_redirect_is_followed(provider: Provider) -> None:
    async with Recorder() as other, Recorder() as server, served(server, provider) as one:
        server.reply(307, b"", {"Location": other.url + "/v1"})
        with pytest.raises(Unreachable, match="redirects"):
            await collect(one, provider)
        assert other.connections == 0


@every_provider
async def test_a_web_page_is_no_answer(provider: Provider) -> None:
    async with Recorder() as server, served(server, provider) as one:
        server.reply(200, b"<html>Please log in</html>", {"Content-Type": "text/html"})
        with pytest.raises(Unreachable, match="web page"):
            await collect(one, provider)


@every_provider
async def test_nothing_listens_and_attempts_follow_the_back_off(provider: Provider) -> None:
    clock = FakeClock()
    async with Recorder() as server:
        url = server.url
    model = provider.at(url)
    dialect, _ = dialect_of(model)
    one = HttpBackend(model, ENVIRONMENT, dialect, REMOTE_CHAT, clock=clock, jitter=lambda: 1.0)
    with pytest.raises(Unreachable, match="Nothing listens"):
        await collect(one, provider)
    waiting = ask(one, provider)
    await turns()
    assert 1.0 in clock.delays()
    await clock.advance(1)
    with pytest.raises(Unreachable):
        await waiting
    await one.close()


@pytest.mark.parametrize("name", ["localhost", "wrong.example"])
@pytest.mark.parametrize("trusted", [True, False])
async def test_B97_certificates(name: str, trusted: bool, tmp_path: Path) -> None:
    authority, file = trustme.CA(), tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    async with Recorder(context) as server:
        server.reply(200, CHAT_HTTP.body, STREAM)
        model = CHAT_HTTP.at(f"https://localhost:{server.port}", ca_file=str(file) if trusted else "")
        dialect, style = dialect_of(model)
        one = HttpBackend(model, ENVIRONMENT, dialect, style)
        if trusted and name == "localhost":
            assert text_of(await collect(one, CHAT_HTTP)) == TEXT
        else:
            with pytest.raises(Unreachable, match="certificate of localhost"):
                await collect(one, CHAT_HTTP)
        await one.close()


async def test_a_field_that_the_host_refuses_is_left_out_from_then_on() -> None:
    async with Recorder() as server, served(server, CHAT_HTTP, tier="fast") as one:
        words = b'{"error": {"message": "Unknown parameter: service_tier", "param": "service_tier"}}'
        server.reply(400, words)
        for _ in range(2):
            server.reply(200, CHAT_HTTP.body, STREAM)
            assert text_of(await collect(one, CHAT_HTTP)) == TEXT
        assert ["service_tier" in exchange.json for exchange in server.exchanges] == [True, False, False]


async def test_a_missing_key_sends_nothing() -> None:
    async with Recorder() as server, served(server, CHAT_HTTP, key="env:ABSENT") as one:
        with pytest.raises(Unauthorized, match="ABSENT"):
            await collect(one, CHAT_HTTP)
        await one.warm(CHAT_HTTP.request)
        assert server.connections == 0


async def test_warming_up_opens_a_connection_without_the_key() -> None:
    async with Recorder() as server, served(server, CHAT_HTTP) as one:
        await one.warm(CHAT_HTTP.request)
        assert server.connections == 1
        server.reply(200, CHAT_HTTP.body, STREAM)
        await collect(one, CHAT_HTTP)
        assert server.exchanges[0].connection == 1


async def test_code_cannot_be_filled_in_by_a_chat_model() -> None:
    provider = replace(CHAT_HTTP, request=FILL)
    async with Recorder() as server, served(server, provider) as one:
        with pytest.raises(Rejected, match="style"):
            await collect(one, provider)
        assert not server.exchanges
