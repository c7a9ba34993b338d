"""A network that fails between an HTTP client and a real server, in each way it can."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from lsp_server.engine.errors import BackendError, Interrupted, Stalled, Unreachable
from lsp_server.engine.ports import Delta, Event, Finish
from lsp_server.model import dialect_of
from lsp_server.model.http_backend import HttpBackend
from tests.model.clock import FakeClock, turns
from tests.model.providers import ENVIRONMENT, PROVIDERS, TEXT, Provider
from tests.model.test_http_backend import STREAM, Recorder
from tests.support.fault_proxy import FaultProxy
from tests.support.http_server import Exchange

NAMES = ("responses-http", "chat-http", "anthropic-http", "fim-ollama")
some = pytest.mark.parametrize(
    "provider", [each for each in PROVIDERS if each.name in NAMES], ids=lambda one: one.name
)


class Playing(Recorder):
    """Answers every request with `body`, or leaves it to the test while there is none."""

    body: bytes | None = None

    def accept(self, exchange: Exchange) -> None:
        if exchange.method == "POST" and self.body is not None:
            exchange.answer(200, self.body, STREAM)
        else:
            super().accept(exchange)


@asynccontextmanager
async def between(
    provider: Provider, clock: FakeClock
) -> AsyncIterator[tuple[Playing, FaultProxy, HttpBackend]]:
    async with Playing() as server, FaultProxy(server.port) as proxy:
        model = provider.at(f"http://127.0.0.1:{proxy.port}")
        dialect, style = dialect_of(model)
        one = HttpBackend(model, ENVIRONMENT, dialect, style, clock=clock, jitter=lambda: 1.0)
        yield server, proxy, one
        await one.close()


async def answer(one: HttpBackend, provider: Provider) -> str:
    async with aclosing(one.stream(provider.request)) as events:
        taken: list[Event] = [event async for event in events]
    assert isinstance(taken[-1], Finish)
    return "".join(event.text for event in taken if isinstance(event, Delta))


def ask(one: HttpBackend, provider: Provider) -> asyncio.Task[str]:
    return asyncio.create_task(answer(one, provider))


async def failure(task: asyncio.Task[str], clock: FakeClock) -> BackendError:
    """What the user hears, however long that takes."""
    while not task.done():
        await clock.advance(0.5)
    error = task.exception()
    assert isinstance(error, BackendError) and str(error)
    return error


async def works_again(server: Playing, one: HttpBackend, provider: Provider) -> None:
    server.body = provider.body
    assert await answer(one, provider) == TEXT


@some
async def test_refused_and_back(provider: Provider) -> None:
    clock = FakeClock()
    async with between(provider, clock) as (server, proxy, one):
        await proxy.refuse()
        assert isinstance(await failure(ask(one, provider), clock), Unreachable)
        await proxy.listen()
        await clock.advance(1)
        await works_again(server, one, provider)


@some
async def test_a_reset_inside_the_stream(provider: Provider) -> None:
    clock = FakeClock()
    async with between(provider, clock) as (server, proxy, one):
        task = ask(one, provider)
        exchange = await server.exchange()
        exchange.begin(200, STREAM)
        exchange.write(provider.body[: len(provider.body) * 3 // 4])
        await turns(200)
        proxy.reset()
        assert isinstance(await failure(task, clock), Interrupted)
        await works_again(server, one, provider)


@some
@pytest.mark.parametrize("begun", [True, False])
async def test_the_other_side_is_gone_without_a_word(provider: Provider, begun: bool) -> None:
    """Half-open: before the answer, and in the middle of it."""
    clock = FakeClock()
    async with between(provider, clock) as (server, proxy, one):
        if begun:
            task = ask(one, provider)
            exchange = await server.exchange()
            exchange.begin(200, STREAM)
            exchange.write(provider.body[: len(provider.body) // 2])
            await turns(200)
            proxy.swallow()
        else:
            proxy.swallow()
            task = ask(one, provider)
        assert isinstance(await failure(task, clock), Stalled)
        proxy.heal()
        proxy.reset()
        await works_again(server, one, provider)


@some
@pytest.mark.parametrize("count", [1, 20, 100, 200])
async def test_a_connection_cut_at_any_byte(provider: Provider, count: int) -> None:
    """Inside the head, inside an event: an error with a sentence, nothing hangs, and it works again."""
    clock = FakeClock()
    async with between(provider, clock) as (server, proxy, one):
        server.body = provider.body
        proxy.cut_after(count)
        await failure(ask(one, provider), clock)
        proxy.mend()
        await clock.advance(1)
        await works_again(server, one, provider)
