"""Recorded answers of every HTTP provider, cut at every byte and at random: always the same text."""

from collections.abc import Sequence
from contextlib import aclosing

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings

from lsp_server.engine.errors import BackendError, Overloaded, RateLimited
from lsp_server.engine.ports import Delta, Event, Finish, Usage
from lsp_server.model import dialect_of
from lsp_server.model.http import Http
from lsp_server.model.inbox import Lost
from tests.model.providers import ENVIRONMENT, PROVIDERS, TEXT, Pieces, Provider
from tests.support.transcript import cuts, pieces

every_provider = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)


async def events_of(provider: Provider, parts: Sequence[bytes]) -> list[Event]:
    def respond(request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            return httpx2.Response(404)
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Pieces(parts))

    model = provider.at("http://127.0.0.1:1")
    dialect, _ = dialect_of(model)
    http = Http(model, ENVIRONMENT, vendor=dialect.vendor, vendor_key="")
    await http.close()
    http.client = httpx2.AsyncClient(transport=httpx2.MockTransport(respond))
    try:
        async with aclosing(dialect.answer(http, provider.request, ())) as events:
            return [event async for event in events]
    finally:
        await http.close()


def check(provider: Provider, events: Sequence[Event]) -> None:
    assert "".join(event.text for event in events if isinstance(event, Delta)) == TEXT
    finish = events[-1]
    assert isinstance(finish, Finish)
    assert (finish.reason, finish.usage) == ("stop", Usage(9, 4 if provider.cached else 0, 3))


@every_provider
async def test_every_byte_offset(provider: Provider) -> None:
    body = provider.body
    # The vendors' SDKs bring parsers of their own, so there every fifth byte is enough.
    ours = "chat" not in provider.name and "anthropic" not in provider.name
    for at in range(0, len(body) + 1, 1 if ours else 5):
        check(provider, await events_of(provider, [body[:at], body[at:]]))


@every_provider
@given(sizes=cuts())
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
async def test_any_cuts(provider: Provider, sizes: list[int]) -> None:
    check(provider, await events_of(provider, pieces(provider.body, sizes)))


@every_provider
async def test_line_ends_make_no_difference(provider: Provider) -> None:
    check(provider, await events_of(provider, [provider.body.replace(b"\n", b"\r\n")]))


@every_provider
async def test_B89_a_body_cut_short_is_no_answer(provider: Provider) -> None:
    """Whatever the byte: without the end of the protocol there is no Finish."""
    body = provider.body
    marks = (b"finish_reason", b"message_stop", b"response.completed", b'"done": true', b'"stop": true')
    end = min(place for mark in marks if (place := _end_mark(body, mark)) >= 0)
    for at in range(0, end, 17):
        try:
            events = await events_of(provider, [body[:at]])
        except (BackendError, Lost):
            continue
        assert not any(isinstance(event, Finish) for event in events)


def _end_mark(body: bytes, mark: bytes) -> int:
    return body.find(b'finish_reason": "stop"') if mark == b"finish_reason" else body.find(mark)


@pytest.mark.parametrize(
    ("name", "event", "error"),
    [
        ("responses-http", b'data: {"type":"error","code":"server_error","message":"Oops."}\n\n', Overloaded),
        (
            "responses-http",
            b'data: {"type":"error","code":"rate_limit_exceeded","message":"S"}\n\n',
            RateLimited,
        ),
        (
            "responses-http",
            b'data: {"type":"response.failed","response":{"id":"r","error":{"code":"server_error"}}}\n\n',
            Overloaded,
        ),
        ("chat-http", b'data: {"error":{"message":"Oops.","code":"server_error"}}\n\n', Overloaded),
        ("chat-http", b'data: {"error":{"message":"Slow.","type":"rate_limit_error"}}\n\n', RateLimited),
        (
            "anthropic-http",
            b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Busy."}}\n\n',
            Overloaded,
        ),
        ("fim-completions", b'data: {"error":{"message":"Oops.","code":500}}\n\n', Overloaded),
        ("fim-ollama", b'{"error":"model runner has stopped"}\n', Overloaded),
        (
            "fim-llama-cpp",
            b'data: {"error":{"message":"Oops.","code":500,"type":"server_error"}}\n\n',
            Overloaded,
        ),
    ],
)
async def test_an_error_inside_a_good_stream(name: str, event: bytes, error: type[BackendError]) -> None:
    provider = next(one for one in PROVIDERS if one.name == name)
    separator = b"\n" if name == "fim-ollama" else b"\n\n"
    parts = provider.body.split(separator)
    with pytest.raises(error):
        await events_of(provider, [separator.join(parts[:2]) + separator, event])


async def test_a_length_and_a_filter_are_told() -> None:
    provider = next(one for one in PROVIDERS if one.name == "chat-http")
    for word, reason in (("length", "length"), ("content_filter", "filter")):
        body = provider.body.replace(b'"finish_reason": "stop"', f'"finish_reason": "{word}"'.encode())
        finish = (await events_of(provider, [body]))[-1]
        assert isinstance(finish, Finish)
        assert finish.reason == reason
