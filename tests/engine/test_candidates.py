"""Several suggestions for one explicit request."""

import asyncio

from lsp_server.settings import Complete
from tests.engine.stage import Stage
from tests.support.virtual_time import passes, run_virtual

THREE = Complete(candidates=3)


def test_an_explicit_request_gets_different_candidates() -> None:
    async def run() -> None:
        on = Stage("x = <|>\n", complete=THREE)
        request = asyncio.ensure_future(on.assistant.complete(on.ask(4)))
        (await on.call(0)).finish("1")
        (await on.call(1)).finish("2")
        (await on.call(2)).finish("1")
        assert [item.text for item in await request] == ["1", "2"]
        await on.close()

    run_virtual(run())


def test_an_automatic_request_gets_one() -> None:
    async def run() -> None:
        on = Stage("x = <|>\n", complete=THREE)
        request = asyncio.ensure_future(on.assistant.complete(on.ask(4, invoked=False)))
        await passes(1.0)
        (await on.call(0)).finish("1")
        assert [item.text for item in await request] == ["1"]
        assert len(on.model.calls) == 1
        await on.close()

    run_virtual(run())


def test_typing_frees_the_candidates_and_answers_nothing() -> None:
    async def run() -> None:
        on = Stage("x = <|>\n", complete=THREE)
        request = asyncio.ensure_future(on.assistant.complete(on.ask(4)))
        (await on.call(0)).finish("1")
        await on.call(2)
        on.type("y", 4)
        assert await request == []
        assert on.model.open_calls == []
        await on.close()

    run_virtual(run())


def test_a_candidate_that_never_comes_does_not_hold_the_first() -> None:
    async def run() -> None:
        on = Stage("x = <|>\n", complete=THREE)
        request = asyncio.ensure_future(on.assistant.complete(on.ask(4)))
        (await on.call(0)).finish("1")
        (await on.call(1)).finish("2")
        await on.call(2)
        assert [item.text for item in await request] == ["1", "2"]
        await on.close()

    run_virtual(run())
