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


class Reader:
    """Reads answers of one provider, each in the pieces that it is given."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._dialect, _ = dialect_of(provider.at("http://127.0.0.1:1"))
        self._parts: Sequence[bytes] = ()

    async def __aenter__(self) -> "Reader":
        model = self._provider.at("http://127.0.0.1:1")
        self._http = Http(model, ENVIRONMENT, vendor=self._dialect.vendor, vendor_key="")
        await self._http.close()
        self._http.client = httpx2.AsyncClient(transport=httpx2.MockTransport(self._respond))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.close()

    async def read(self, parts: Sequence[bytes]) -> list[Event]:
        self._parts = parts
        async with aclosing(self._dialect.answer(self._http, self._provider.request, ())) as events:
            return [event async for event in events]

    def _respond(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            return httpx2.Response(404)
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, stream=Pieces(self._parts))


async def events_of(provider: Provider, parts: Sequence[bytes]) -> list[Event]:
    async with Reader(provider) as reader:
        return await reader.read(parts)


def check(provider: Provider, events: Sequence[Event]) -> None:
    assert "".join(event.text for event in events if isinstance(event, Delta)) == TEXT
    finish = events[-1]
    assert isinstance(finish, Finish)
    assert (finish.reason, finish.usage) == ("stop", Usage(9, 4 if provider.cached else 0, 3))


@every_provider
async def test_every_byte_offset(provider: Provider) -> None:
    body = provider.body
    async with Reader(provider) as reader:
        for at in range(len(body) + 1):
            check(provider, await reader.read([body[:at], body[at:]]))


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
