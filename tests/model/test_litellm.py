"""Our clients through the litellm proxy, to a host that only the proxy knows. For the nightly run."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from lsp_server.core.prompt import Chat
from lsp_server.engine.errors import BackendError, RateLimited
from lsp_server.engine.ports import Backend, Delta, Finish, Request
from lsp_server.model import backend
from lsp_server.settings import Model
from tests.model.providers import BODIES, TEXT
from tests.model.test_http_backend import STREAM
from tests.support.http_server import Exchange, HttpServer
from tests.support.litellm_proxy import KEY, litellm

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(600)]
REQUEST = Request("complete", Chat("Be brief.", "the file", " the task"), max_tokens=32)
RESPONSES = BODIES / "responses-http.sse"
PROTOCOLS = {"chat-http": "/v1", "responses-http": "/v1", "anthropic-http": ""}
"""Its Responses WebSocket wants TLS between itself and the host behind it, which is not there on loopback."""


def chunk(**fields: object) -> bytes:
    whole = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "upstream", **fields}
    return b"data: %b\n\n" % json.dumps(whole).encode()


def said(text: str) -> bytes:
    return chunk(choices=[{"index": 0, "delta": {"role": "assistant", "content": text}}])


END = (
    chunk(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}])
    + chunk(choices=[], usage={"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12})
    + b"data: [DONE]\n\n"
)


class Upstream(HttpServer):
    """Answers a chat or a response, refuses when it is told to, or leaves a request to the test."""

    refuses = by_hand = False

    def accept(self, exchange: Exchange) -> None:
        limited = b'{"error": {"message": "slow down", "type": "rate_limit_error"}}'
        if self.refuses:
            self.exchanges.append(exchange)
            exchange.answer(429, limited, {"Retry-After": "7", "Content-Type": "application/json"})
            return
        if not self.by_hand:
            responses = [RESPONSES.read_bytes()]
            self.reply(200, responses if "responses" in exchange.path else [said(TEXT), END], STREAM)
        super().accept(exchange)


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    async with Upstream() as server:
        yield server


def model(protocol: str, url: str, key: str = KEY) -> Backend:
    return backend(
        Model(name="fast", protocol=protocol, model="m", url=url + PROTOCOLS[protocol], key="env:KEY"),  # type: ignore[arg-type]
        {"KEY": key},
    )


async def answer(one: Backend) -> tuple[str, Finish]:
    async with aclosing(one.stream(REQUEST)) as events:
        taken = [event async for event in events]
    last = taken[-1]
    assert isinstance(last, Finish)
    return "".join(event.text for event in taken if isinstance(event, Delta)), last


async def test_every_protocol_that_the_gateway_speaks(tmp_path: Path, upstream: Upstream) -> None:
    async with litellm(tmp_path, f"{upstream.url}/v1") as url:
        for protocol in PROTOCOLS:
            one = model(protocol, url)
            text, last = await answer(one)
            assert (text, last.reason) == (TEXT, "stop"), protocol
            assert last.usage.output_tokens == 3, protocol
            assert "the file" in str(upstream.exchanges[-1].json)

            upstream.refuses = True
            with pytest.raises(RateLimited):
                await answer(one)
            await one.close()
            upstream.refuses = False

            stranger = model(protocol, url, "sk-wrong-0123456789abcdef")
            with pytest.raises(BackendError) as refused:
                await answer(stranger)
            assert "0123456789abcdef" not in str(refused.value)
            await stranger.close()

        upstream.by_hand = True
        one = model("chat-http", url)
        async with aclosing(one.stream(REQUEST)) as events:
            first = asyncio.ensure_future(anext(events))
            exchange: Exchange = await upstream.exchange()
            exchange.begin(200, STREAM)
            exchange.write(said("begun"))
            await first
        await exchange.gone.wait()
        await one.close()
