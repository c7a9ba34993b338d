"""Our clients against aimock, which nobody here has written. It knows no lanes and echoes none."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from lsp_server.core.prompt import Chat
from lsp_server.engine.errors import BackendError, RateLimited
from lsp_server.engine.ports import Backend, Delta, Finish, Request
from lsp_server.model import backend
from lsp_server.settings import Model
from tests.support.aimock import aimock, fails, says

TEXT = "def add(a, b):\n    return a + b  # 🦊\n"


def model(protocol: str, url: str) -> Backend:
    return backend(Model(name="mock", protocol=protocol, model="gpt-x", url=url, key="env:KEY"), {"KEY": "k"})  # type: ignore[arg-type]


def request(prompt: str) -> Request:
    return Request("complete", Chat("Complete the code.", "", prompt), max_tokens=64)


async def text_of(one: Backend, prompt: str) -> str:
    async with aclosing(one.stream(request(prompt))) as events:
        taken = [event async for event in events]
    assert isinstance(taken[-1], Finish)
    return "".join(event.text for event in taken if isinstance(event, Delta))


async def test_answers_over_the_websocket(tmp_path: Path) -> None:
    fixtures = says("add", TEXT, chunkSize=3), fails("limit", 429, "rate_limit_error", "Slow down.")
    async with aimock(tmp_path, *fixtures) as url:
        one = model("responses-ws", f"{url}/v1")
        for _ in range(3):
            assert await text_of(one, "add") == TEXT
        assert await asyncio.gather(*(text_of(one, "add") for _ in range(3))) == [TEXT] * 3
        with pytest.raises(RateLimited):
            await text_of(one, "limit")
        await one.close()


@pytest.mark.parametrize(
    ("protocol", "path"), [("responses-http", "/v1"), ("chat-http", "/v1"), ("anthropic-http", "")]
)
async def test_answers_and_cancels_over_http(protocol: str, path: str, tmp_path: Path) -> None:
    fixtures = (
        says("add", TEXT, chunkSize=3),
        says("slow", TEXT * 20, chunkSize=1, latency=20),
        says("cut", TEXT, chunkSize=1, truncateAfterChunks=3),
        fails("limit", 429, "rate_limit_error", "Slow down."),
    )
    async with aimock(tmp_path, *fixtures) as url:
        one = model(protocol, url + path)
        assert await asyncio.gather(*(text_of(one, "add") for _ in range(3))) == [TEXT] * 3
        async with aclosing(one.stream(request("slow"))) as events:
            await anext(events)
        assert await text_of(one, "add") == TEXT
        with pytest.raises(BackendError):
            await text_of(one, "cut")
        with pytest.raises(RateLimited):
            await text_of(one, "limit")
        await one.close()


async def test_cancelling_over_the_websocket_closes_a_socket_that_has_no_lanes(tmp_path: Path) -> None:
    async with aimock(tmp_path, says("slow", TEXT * 20, chunkSize=1, latency=20), says("add", TEXT)) as url:
        one = model("responses-ws", f"{url}/v1")
        assert await text_of(one, "add") == TEXT
        for _ in range(3):
            async with aclosing(one.stream(request("slow"))) as events:
                await anext(events)
            assert await text_of(one, "add") == TEXT
        await one.close()


async def test_an_answer_cut_short_is_no_answer(tmp_path: Path) -> None:
    async with aimock(tmp_path, says("cut", TEXT, chunkSize=1, truncateAfterChunks=3)) as url:
        one = model("responses-ws", f"{url}/v1")
        with pytest.raises(BackendError):
            await text_of(one, "cut")
        await one.close()
