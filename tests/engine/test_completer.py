"""Ghost text: one stream a document, every request answered once, typing decides."""

import asyncio
from dataclasses import replace

import pytest

from lsp_server.core.prompt import Style
from lsp_server.core.text import Span
from lsp_server.engine.errors import Interrupted
from lsp_server.engine.suggestion import Item, Selected
from tests.engine.stage import URI, Stage, accepted
from tests.support.virtual_time import passes, run_virtual, turns


def test_B89_a_stream_that_breaks_off_gives_no_item() -> None:
    async def run() -> None:
        on = Stage("f = <|>\n")
        request = asyncio.ensure_future(on.assistant.complete(on.ask(on.source.at)))
        call = await on.call()
        await on.said(call, "foo(")
        call.fail(Interrupted("The connection broke off."))
        assert await request == []
        await on.close()

    run_virtual(run())


def test_B05_typing_along_keeps_what_is_left_and_loses_nothing() -> None:
    async def run() -> None:
        on = Stage("r<|>\n", "vscode")
        request = asyncio.ensure_future(on.assistant.complete(on.ask(1)))
        call = await on.call()
        await on.said(call, "everse_all(xs)")
        call.finish()
        assert (await request)[0].text == "everse_all(xs)"
        on.type("e", 1)
        on.type("v", 2)
        items = await on.assistant.complete(on.ask(3))
        assert accepted(on.text(), items) == "reverse_all(xs)\n"
        assert len(on.model.calls) == 1
        await on.close()

    run_virtual(run())


def test_B46_an_open_request_is_superseded_by_a_matching_key_and_the_stream_lives() -> None:
    async def run() -> None:
        on = Stage("foob<|>\n")
        first = asyncio.ensure_future(on.assistant.complete(on.ask(4)))
        call = await on.call()
        await on.said(call, "a")
        on.type("a", 4)
        assert await first == []
        second = asyncio.ensure_future(on.assistant.complete(on.ask(5)))
        await on.said(call, "r")
        call.finish()
        assert accepted(on.text(), await second) == "foobar\n"
        assert len(on.model.calls) == 1
        await on.close()

    run_virtual(run())


def test_B49_typing_along_a_suggestion_asks_no_model() -> None:
    async def run() -> None:
        on = Stage("for i<|>\n")
        request = asyncio.ensure_future(on.assistant.complete(on.ask(5)))
        call = await on.call()
        await on.said(call, " in range(10):")
        call.finish()
        await request
        for number, letter in enumerate(" in r"):
            on.type(letter, 5 + number)
            items = await on.assistant.complete(on.ask(6 + number))
            assert items[0].text == " in range(10):"[number + 1 :]
        assert len(on.model.calls) == 1
        await on.close()

    run_virtual(run())


def test_D7_typing_before_the_first_delta_cancels() -> None:
    async def run() -> None:
        on = Stage("for i<|>\n")
        request = asyncio.ensure_future(on.assistant.complete(on.ask(5)))
        call = await on.call()
        on.type(" ", 5)
        await turns(3)
        assert call.closed
        assert await request == []
        await on.close()

    run_virtual(run())


def test_D7_typing_alone_cancels_a_stream_that_says_something_else() -> None:
    async def run() -> None:
        on = Stage("for i<|>\n")
        request = asyncio.ensure_future(on.assistant.complete(on.ask(5)))
        call = await on.call()
        await on.said(call, " in")
        on.type("x", 5)
        await turns(3)
        assert call.closed
        assert await request == []
        await on.close()

    run_virtual(run())


def test_B50_two_triggers_one_cancelled_one_call() -> None:
    async def run() -> None:
        on = Stage("a<|>\n")
        first = asyncio.ensure_future(on.assistant.complete(on.ask(1)))
        second = asyncio.ensure_future(on.assistant.complete(on.ask(1)))
        await turns(1)
        first.cancel()
        call = await on.call()
        await on.said(call, " = 1")
        call.finish()
        assert accepted(on.text(), await second) == "a = 1\n"
        assert len(on.model.calls) == 1
        await asyncio.gather(first, return_exceptions=True)
        await on.close()

    run_virtual(run())


def test_a_cancelled_request_frees_the_model() -> None:
    async def run() -> None:
        on = Stage("a<|>\n")
        request = asyncio.ensure_future(on.assistant.complete(on.ask(1)))
        call = await on.call()
        await on.said(call, " = 1")
        request.cancel()
        await turns(3)
        assert call.closed
        with pytest.raises(asyncio.CancelledError):
            await request
        await on.close()

    run_virtual(run())


def test_B47_no_answer_to_a_request_whose_place_is_gone() -> None:
    async def run() -> None:
        on = Stage("value = compute<|>")
        request = asyncio.ensure_future(on.assistant.complete(on.ask(on.source.at)))
        call = await on.call()
        end = on.source.at
        for back in range(7):
            on.editor.replace(URI, end - back - 1, end - back, "")
            on.deliver()
        assert await request == []
        await turns()
        assert call.closed
        await on.close()

    run_virtual(run())


def test_B17_the_popup_finished_the_word() -> None:
    async def run() -> None:
        on = Stage("con<|>\n", language="javascript")
        request = asyncio.ensure_future(on.assistant.complete(on.ask(3)))
        call = await on.call()
        await on.said(call, "sole.log(1)")
        call.finish()
        await request
        on.editor.replace(URI, 0, 3, "console")
        on.deliver()
        second = asyncio.ensure_future(on.assistant.complete(on.ask(7)))
        await on.rest()
        if len(on.model.calls) > 1:
            on.model.calls[1].finish(".log(1)")
        assert accepted(on.text(), await second) == "console.log(1)\n"
        await on.close()

    run_virtual(run())


def test_B83_the_same_suggestion_is_not_stacked() -> None:
    async def run() -> None:
        on = Stage("use({<|>\n})\n", language="lua")
        at = on.source.at
        request = asyncio.ensure_future(on.assistant.complete(on.ask(at)))
        call = await on.call()
        await on.said(call, "\n    run: go,")
        call.finish()
        on.editor.replace(URI, at, at, (await request)[0].text)
        on.deliver()
        second = asyncio.ensure_future(on.assistant.complete(on.ask(at)))
        await on.rest()
        if len(on.model.calls) > 1:
            on.model.calls[1].finish("\n    run: go,")
        assert await second == []
        await on.close()

    run_virtual(run())


def test_B15_a_loop_is_cut_and_the_model_stopped() -> None:
    async def run() -> None:
        on = Stage("items = [\n<|>")
        request = asyncio.ensure_future(on.assistant.complete(on.ask(on.source.at)))
        call = await on.call()
        await on.said(call, *(['    "a",\n'] * 12))
        items = await request
        assert call.closed
        assert sum(item.text.count('"a"') for item in items) <= 1
        await on.close()

    run_virtual(run())


def test_the_selected_entry_of_the_editors_list_is_extended() -> None:
    async def run() -> None:
        on = Stage("xs.app<|>\n")
        ask = on.ask(6)
        span = Span(3, 6)
        request = asyncio.ensure_future(
            on.assistant.complete(replace(ask, selected=Selected(span, "append")))
        )
        call = await on.call()
        await on.said(call, "(1)")
        call.finish()
        assert await request == [Item("c1", "append(1)", span)]
        await on.close()

    run_virtual(run())


def test_a_block_is_answered_150_ms_after_its_first_line_where_the_client_cannot_ask_again() -> None:
    async def run() -> None:
        on = Stage("def f():\n    <|>\n")
        request = asyncio.ensure_future(on.assistant.complete(on.ask(on.source.at)))
        call = await on.call()
        await on.said(call, "a = 1\n", "    b = ")
        assert not request.done()
        await passes(0.2)
        assert (await request)[0].text.startswith("a = 1")
        await on.said(call, "2\n", "    return a + b")
        call.finish()
        await on.rest()
        items = await on.assistant.complete(on.ask(on.source.at))
        assert accepted(on.text(), items) == "def f():\n    a = 1\n    b = 2\n    return a + b\n"
        assert len(on.model.calls) == 1
        await on.close()

    run_virtual(run())


def test_weak_weights_that_are_unsure_say_nothing() -> None:
    async def run() -> None:
        on = Stage("x = <|>\n", style=Style("plain"))
        request = asyncio.ensure_future(on.assistant.complete(on.ask(4)))
        call = await on.call()
        call.say("per", "haps", "_", "this", "(", ")", logprob=-2.0)
        assert await request == []
        await on.rest()
        assert call.closed
        await on.close()

    run_virtual(run())


def test_B127_a_thousand_cancelled_requests_leave_nothing_open() -> None:
    async def run() -> None:
        on = Stage("x = <|>\n")
        for _ in range(1000):
            request = asyncio.ensure_future(on.assistant.complete(on.ask(4)))
            await turns(4)
            assert len(on.model.open_calls) <= 1
            request.cancel()
            await asyncio.gather(request, return_exceptions=True)
        await on.rest()
        assert on.model.open_calls == []
        await on.close()

    run_virtual(run())


def test_nothing_is_asked_where_there_is_nothing_to_continue() -> None:
    async def run() -> None:
        on = Stage("\n  <|>\n", style=Style("plain"))
        assert await on.assistant.complete(on.ask(on.source.at)) == []
        assert on.model.calls == []
        await on.close()

    run_virtual(run())
