"""When nothing is offered, somebody says why, once; and when a model answers again, all is well."""

import asyncio

import pytest

from lsp_server.core.text import Span
from lsp_server.engine.errors import RateLimited, Unauthorized, Unreachable
from lsp_server.settings import Complete, Context
from tests.engine.stage import URI, Stage
from tests.support.virtual_time import passes, run_virtual


def test_B134_a_failure_is_told_once_a_cause() -> None:
    async def run() -> None:
        on = Stage("x = <|>\n")
        for number, error in enumerate(
            [
                Unauthorized("The key is wrong."),
                Unauthorized("The key is wrong."),
                RateLimited("Too many requests."),
            ]
        ):
            request = asyncio.ensure_future(on.assistant.complete(on.ask(4)))
            (await on.call(number)).fail(error)
            assert await request == []
            assert on.editor.statuses[-1].message == str(error), "the trouble stays on show"
        assert [sentence for _, sentence in on.editor.shown] == ["The key is wrong.", "Too many requests."]
        assert on.assistant.status().message == "Too many requests."
        await on.close()

    run_virtual(run())


def test_B134_paused_and_switched_off_languages_ask_nobody() -> None:
    async def run() -> None:
        on = Stage("x = <|>\n")
        on.assistant.pause(5)
        assert await on.assistant.complete(on.ask(4)) == []
        assert on.assistant.status().state == "paused"
        await passes(301)
        assert on.assistant.status().state == "ready"
        other = Stage("x = <|>\n", complete=Complete(languages=("*", "!python")))
        assert await other.assistant.complete(other.ask(4)) == []
        assert on.model.calls == other.model.calls == []
        await on.close()
        await other.close()

    run_virtual(run())


QUIET = {
    "the language": (Complete(languages=("!python",)), Context(), "switched off for python"),
    "the file": (Complete(), Context(ignore=("a.py",)), "a.py"),
}


@pytest.mark.parametrize("cause", QUIET)
def test_B134_who_asks_hears_the_cause_once_and_who_types_finds_it_in_the_status(cause: str) -> None:
    complete, context, words = QUIET[cause]

    async def run() -> None:
        on = Stage("x = <|>\n", complete=complete)
        on.settings = type(on.settings)(complete=complete, context=context)
        for _ in range(3):
            assert await on.assistant.complete(on.ask(4, invoked=False)) == []
        assert on.editor.shown == []
        assert words in (on.assistant.status().message or "")
        assert words in (on.editor.statuses[-1].message or "")
        for _ in range(3):
            assert await on.assistant.complete(on.ask(4)) == []
        [(_, sentence)] = on.editor.shown
        assert words in sentence and on.model.calls == []
        await on.close()

    run_virtual(run())


@pytest.mark.parametrize("way", ["completion", "edit"])
def test_trouble_is_over_as_soon_as_a_model_answers(way: str) -> None:
    async def run() -> None:
        on = Stage("x = <|>\n")
        request = asyncio.ensure_future(on.assistant.complete(on.ask(4)))
        (await on.call()).fail(Unreachable("Nobody answers."))
        await request
        assert on.assistant.status().state == on.editor.statuses[-1].state == "error"
        if way == "completion":
            again = asyncio.ensure_future(on.assistant.complete(on.ask(4)))
            (await on.call(1)).finish("1")
            assert await again
        else:
            generation = on.assistant.edit(URI, Span(4, 4), "change it")
            (await on.call(1)).finish("x = 1\n")
            await on.result(generation)
        assert on.assistant.status().state == on.editor.statuses[-1].state == "ready"
        await on.close()

    run_virtual(run())


def test_an_edit_that_fails_is_told_each_time_and_the_status_keeps_it() -> None:
    async def run() -> None:
        on = Stage("x = <|>\n")
        for number in range(2):
            generation = on.edit()
            (await on.call(number)).fail(Unreachable("Nobody answers."))
            assert (await on.result(generation)).outcome == "failed"
            assert on.assistant.status().message == on.editor.statuses[-1].message == "Nobody answers."
        assert len(on.editor.shown) == 2
        await on.close()

    run_virtual(run())


def test_a_dropped_completion_leaves_no_working_status_behind() -> None:
    async def run() -> None:
        on = Stage("def f():\n    <|>\n")
        on.editor.retriggers = True
        request = asyncio.ensure_future(on.assistant.complete(on.ask(13)))
        await on.said(await on.call(), "a = 1\n", "    b = 2\n", "    c = 3\n")
        assert await request
        assert on.editor.statuses[-1].state == "working"
        on.type("no", 13)
        await on.rest()
        assert on.editor.statuses[-1].state == "ready"
        await on.close()

    run_virtual(run())


def test_a_completion_that_ends_soon_after_its_first_line_leaves_no_working_status_behind() -> None:
    async def run() -> None:
        on = Stage("def f():\n    <|>\n")
        on.editor.retriggers = True
        request = asyncio.ensure_future(on.assistant.complete(on.ask(13)))
        call = await on.call()
        await on.said(call, "a = 1\n", "    b = 2\n")
        call.finish()
        assert await request
        await passes(1)
        assert on.editor.statuses[-1].state == "ready"
        await on.close()

    run_virtual(run())


def test_a_completion_is_stopped_by_its_id() -> None:
    async def run() -> None:
        on = Stage("x = <|>\n")
        request = asyncio.ensure_future(on.assistant.complete(on.ask(4)))
        call = await on.call()
        result = await on.assistant.stop("c1")
        assert (result.id, result.uri, result.outcome) == ("c1", URI, "stopped")
        assert await request == []
        await on.rest()
        assert call.closed
        await on.close()

    run_virtual(run())


def test_what_was_accepted_is_known_with_its_model_and_the_time_it_took() -> None:
    async def run() -> None:
        on = Stage("x = <|>\n")
        request = asyncio.ensure_future(on.assistant.complete(on.ask(4)))
        call = await on.call()
        await passes(2)
        call.finish("1")
        [item] = await request
        taken = on.assistant.accepted(item.id)
        assert taken is not None and taken.model == "scripted" and 2000 <= taken.lead_ms < 3000
        assert on.assistant.accepted(item.id) is None
        await on.close()

    run_virtual(run())
