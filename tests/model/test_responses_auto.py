"""A host without a WebSocket: the same protocol over server-sent events, and back to the socket later."""

import asyncio
from contextlib import aclosing
from typing import Any

from lsp_server.engine.ports import Delta, Finish
from lsp_server.model import backend, over_http
from lsp_server.model.responses_auto import ResponsesAutoBackend
from lsp_server.model.responses_ws import ResponsesBackend
from lsp_server.settings import Model
from tests.model.clock import FakeClock, until
from tests.model.providers import CHAT, ENVIRONMENT, PROVIDERS, TEXT
from tests.model.test_http_backend import STREAM, Recorder
from tests.support.http_server import Exchange
from tests.support.model_server import TOKEN, ModelServer

BODY = next(provider for provider in PROVIDERS if provider.name == "responses-http").body


class Host(Recorder):
    """Counts upgrades, and refuses them."""

    def __init__(self) -> None:
        super().__init__()
        self.upgrades = 0

    def accept(self, exchange: Exchange) -> None:
        if exchange.method == "GET":
            self.upgrades += 1
            exchange.answer(404, b"{}")
        else:
            super().accept(exchange)


async def text_of(one: Any) -> str:
    async with aclosing(one.stream(CHAT)) as events:
        taken = [event async for event in events]
    assert isinstance(taken[-1], Finish)
    return "".join(event.text for event in taken if isinstance(event, Delta))


async def test_a_refused_upgrade_falls_back_and_comes_back_later() -> None:
    clock = FakeClock()
    async with Host() as server:
        model = Model(name="fast", protocol="responses-ws", model="m", key="env:KEY", url=f"{server.url}/v1")
        socket = ResponsesBackend(model, ENVIRONMENT, clock=clock)
        one = ResponsesAutoBackend(socket, lambda: over_http(model, ENVIRONMENT), clock)
        for upgrades, wait in ((1, 300), (1, 300), (2, 0), (2, 0)):
            server.reply(200, BODY, STREAM)
            assert await text_of(one) == TEXT
            assert server.upgrades == upgrades
            await clock.advance(wait)
        await one.close()


async def test_the_settings_name_only_the_protocol() -> None:
    async with Host() as server:
        url = f"ws://127.0.0.1:{server.port}/v1/responses"
        one = backend(Model(name="fast", protocol="responses-ws", model="m", url=url), {})
        await one.warm(CHAT)
        server.reply(200, BODY, STREAM)
        assert await text_of(one) == TEXT
        assert server.exchanges[0].path == "/v1/responses"
        await one.close()


async def test_what_an_abandoned_answer_wasted_is_told() -> None:
    async with ModelServer() as server:
        model = Model(name="fast", protocol="responses-ws", model="m", key="env:KEY", url=server.face.url)
        one = backend(model, {"KEY": TOKEN})
        assert isinstance(one, ResponsesAutoBackend)
        answer = one.stream(CHAT)
        first = asyncio.ensure_future(anext(answer))
        turn = await server.turn()
        turn.say("a")
        await first
        await answer.aclose()
        assert one.wasted_tokens == 0
        turn.say("b", "c")
        turn.finish()
        await until(lambda: one.wasted_tokens)
        assert (one.wasted_tokens, one.lanes) == (3, True)
        await one.close()
