"""How long a request waits for more keys, and what ends the wait."""

import asyncio

import pytest

from lsp_server.settings import Complete
from tests.engine.stage import Stage, accepted
from tests.support.virtual_time import passes, run_virtual


def test_explicit_requests_do_not_wait_and_automatic_ones_do() -> None:
    async def run() -> None:
        on = Stage("x = <|>\n", complete=Complete(debounce=500))
        request = asyncio.ensure_future(on.assistant.complete(on.ask(4, invoked=False)))
        await passes(0.4)
        assert on.model.calls == []
        await passes(0.2)
        assert len(on.model.calls) == 1
        on.model.calls[0].finish("1")
        await request
        second = asyncio.ensure_future(on.assistant.complete(on.ask(0, invoked=True)))
        await on.rest()
        assert len(on.model.calls) == 2
        on.model.calls[1].finish("y")
        await second
        await on.close()

    run_virtual(run())


def test_an_explicit_request_ends_the_wait_of_an_automatic_one_for_the_same_place() -> None:
    async def run() -> None:
        on = Stage("x = <|>\n", complete=Complete(debounce=500))
        first = asyncio.ensure_future(on.assistant.complete(on.ask(4, invoked=False)))
        await passes(0.1)
        second = asyncio.ensure_future(on.assistant.complete(on.ask(4, invoked=True)))
        await on.rest()
        assert await first == []
        on.model.calls[0].finish("1")
        assert accepted(on.text(), await second) == "x = 1\n"
        await passes(1.0)
        assert len(on.model.calls) == 1
        await on.close()

    run_virtual(run())


@pytest.mark.parametrize("after", [0.1, 0.495])
def test_a_key_within_the_wait_spares_the_model(after: float) -> None:
    async def run() -> None:
        on = Stage("x = <|>\n", complete=Complete(debounce=500))
        request = asyncio.ensure_future(on.assistant.complete(on.ask(4, invoked=False)))
        await passes(after)
        on.type("y", 4)
        assert await request == []
        await passes(1.0)
        assert on.model.calls == []
        await on.close()

    run_virtual(run())
