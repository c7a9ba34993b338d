"""Our HTTP clients against llama.cpp's own server, with real weights: an independent counterpart."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from lsp_server.core.prompt import Chat, Fill, Snippet
from lsp_server.engine.errors import Unauthorized
from lsp_server.engine.ports import Backend, Delta, Event, Finish, Request
from lsp_server.model import over_http
from lsp_server.settings import Model
from tests.local.real import DEFAULT, real_weights

pytestmark = pytest.mark.model
KEY = "key-of-the-llama-server"
FILL = Request(
    "complete",
    Fill("def add(a, b):\n    return a +", "\n\n\nprint(add(1, 2))\n", "fim", True, "a.py", "python"),
    max_tokens=8,
    stop=("\n",),
    cache_key="a.py",
    logprobs=True,
)
CHAT = Request("explain", Chat("You are terse.", "", "Say the word yes."), max_tokens=8)


@pytest.fixture
async def url() -> AsyncIterator[str]:
    """A server of two slots; opening and freeing it take a while, so both happen in a thread."""
    held = [await asyncio.to_thread(_open)]
    yield held[0].listening_address
    await asyncio.to_thread(held.clear)


def _open() -> Any:
    xllamacpp: Any = import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(real_weights(DEFAULT).path)
    parameters.n_parallel = 2
    parameters.n_ctx = 2 * 512
    # Snippets get what the context has beyond one batch.
    parameters.n_batch = 128
    parameters.cpuparams.n_threads = 1
    parameters.api_keys = [KEY]
    parameters.port = 0
    parameters.ui = False
    parameters.warmup = False
    parameters.verbosity = 1
    return xllamacpp.Server(parameters)


def model(url: str, protocol: Any, path: str = "", **options: Any) -> Backend:
    settings = Model(
        name="fast", protocol=protocol, model="m", url=url + path, key="env:KEY", temperature=0.0, **options
    )
    return over_http(settings, {"KEY": KEY})


async def collect(one: Backend, request: Request) -> list[Event]:
    async with aclosing(one.stream(request)) as events:
        return [event async for event in events]


def text_of(events: list[Event]) -> str:
    assert isinstance(events[-1], Finish)
    return "".join(event.text for event in events if isinstance(event, Delta))


async def test_snippets_are_read_and_stay_in_the_cache(url: str) -> None:
    one = model(url, "fim-http", fim="llama-cpp")
    assert isinstance(FILL.prompt, Fill)
    snippet = Snippet("w/shop.py", "def total(items, tax):\n    return sum(items) * (1 + tax)\n")
    fill = replace(FILL.prompt, snippets=(snippet,))
    typed = replace(fill, prefix=fill.prefix + " b")
    finishes = [
        (await collect(one, replace(FILL, prompt=prompt)))[-1] for prompt in (FILL.prompt, fill, typed)
    ]
    plain, first, second = [finish.usage for finish in finishes if isinstance(finish, Finish)]
    assert first.input_tokens > plain.input_tokens + 15
    assert second.cached_tokens > first.input_tokens // 2


async def test_infill_and_every_v1_protocol(url: str) -> None:
    one = model(url, "fim-http", fim="llama-cpp")
    await one.warm(FILL)
    first = await collect(one, FILL)
    assert text_of(first).strip() == "b"
    assert all(len(event.logprobs) == 1 for event in first if isinstance(event, Delta))
    finish = first[-1]
    assert isinstance(finish, Finish)
    assert finish.reason == "stop"
    assert 0 < finish.usage.cached_tokens < finish.usage.input_tokens
    assert finish.timings["prompt_n"] < 5
    async with aclosing(one.stream(replace(FILL, max_tokens=200, stop=()))) as events:
        await anext(events)
    assert text_of(await collect(one, FILL)).strip() == "b"
    await one.close()

    plain = replace(FILL, prompt=replace(FILL.prompt, suffix="", layout="plain"))  # type: ignore[type-var]
    for protocol, path, request in (
        ("fim-http", "/v1", plain),
        ("chat-http", "/v1", CHAT),
        ("responses-http", "/v1", CHAT),
        ("anthropic-http", "", CHAT),
    ):
        one = model(url, protocol, path)
        events_ = await collect(one, request)
        assert text_of(events_).strip(), protocol
        ended = events_[-1]
        assert isinstance(ended, Finish)
        assert ended.usage.output_tokens > 0, protocol
        await one.close()

    stranger = over_http(Model(name="fast", protocol="chat-http", model="m", url=f"{url}/v1"), {})
    with pytest.raises(Unauthorized):
        await collect(stranger, CHAT)
    await stranger.close()
