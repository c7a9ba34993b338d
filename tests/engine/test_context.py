"""What the prompts hold of other open files, through the engine."""

import asyncio
from typing import Any

import pytest

from lsp_server.core.prompt import Chat, Fill, Style
from lsp_server.core.text import Span
from lsp_server.engine import context
from lsp_server.settings import Complete, Context
from tests.engine.neighbours import CART, SHOP, SHOP_URI, SIGNATURE, STYLES, Two
from tests.engine.stage import URI
from tests.support.operations import steps
from tests.support.virtual_time import passes, run_virtual


@pytest.mark.parametrize("style", STYLES, ids=["chat", "fim"])
def test_a_completion_sees_the_function_of_the_other_file(style: Style) -> None:
    async def run() -> None:
        on = Two(style=style)
        text = await on.asked()
        assert SIGNATURE in text and "w/shop.py" in text
        assert text.index(SIGNATURE) < text.index("due = total") or style.kind == "fim"
        await on.close()

    run_virtual(run())


def test_an_edit_sees_it_and_the_prompt_that_is_shown_too() -> None:
    async def run() -> None:
        on = Two()
        shown = on.assistant.show_prompt(URI, on.source.span, "pay twice")
        assert SIGNATURE in shown["context"]
        assert SIGNATURE in on.assistant.show_prompt(URI, on.source.span, "")["context"]
        generation = on.edit("pay twice")
        call = await on.call()
        assert isinstance(call.request.prompt, Chat) and call.request.prompt.context == shown["context"]
        call.finish("def pay(items):\n    return 2\n")
        await on.result(generation)
        again = on.assistant.redirect(None, "pay thrice")
        assert SIGNATURE in (await on.call(1)).text
        again.cancel("stopped")
        await on.result(again)
        await on.close()

    run_virtual(run())


def test_an_explanation_sees_it_too() -> None:
    async def run() -> None:
        on = Two()
        await passes(1.0)
        answer = asyncio.ensure_future(on.assistant.explain(URI, on.source.span))
        call = await on.call()
        assert SIGNATURE in call.text
        call.finish("It pays.")
        assert await answer == "It pays."
        await on.close()

    run_virtual(run())


def test_alternatives_see_it_too_and_what_is_read_ahead_does_not_pay_for_it() -> None:
    async def run() -> None:
        on = Two(complete=Complete(candidates=2))
        on.beside("file:///w/third.py", "from shop import total\n")
        await passes(1.0)
        [warmed] = on.model.warmed
        assert isinstance(warmed.prompt, Chat) and SIGNATURE not in warmed.prompt.context
        answer = asyncio.ensure_future(on.assistant.complete(on.ask(on.source.at)))
        (await on.call(0)).finish("one = 1")
        second = await on.call(1)
        assert SIGNATURE in second.text
        second.finish("two = 2")
        await answer
        await on.close()

    run_virtual(run())


@pytest.mark.parametrize(
    ("style", "changes"),
    [
        (Style("plain", context_tokens=0), {}),
        (Style("chat", context_tokens=0), {}),
        (Style("chat"), {"max_tokens": 0}),
        (Style("chat"), {"open_files": False, "definitions": False, "recent_edits": False}),
    ],
)
def test_where_it_is_not_wanted_nothing_is_read(style: Style, changes: dict[str, Any]) -> None:
    async def run() -> None:
        on = Two(style=style, context=Context(**changes))
        assert SIGNATURE not in await on.asked()
        assert not on.assistant.context._indexed
        await on.close()

    run_virtual(run())


def test_documents_of_another_kind_say_nothing() -> None:
    async def run() -> None:
        on = Two(other="")
        on.beside("file:///w/shop.rb", "def total(items)\n  items.sum\nend\n", "ruby")
        assert "items.sum" not in await on.asked()
        await on.close()

    run_virtual(run())


def test_a_changed_document_is_read_again() -> None:
    async def run() -> None:
        on = Two()
        assert SIGNATURE in await on.asked()
        on.put("def total(items, tax, discount):", SIGNATURE, SHOP_URI)
        await on.asked()
        on.type("#", on.source.at)
        assert "def total(items, tax, discount):" in await on.asked(at=on.source.at + 1)
        on.editor.close(SHOP_URI)
        on.deliver()
        on.type("#", on.source.at)
        assert "def total" not in await on.asked(at=on.source.at + 2)
        await on.close()

    run_virtual(run())


# --- Recent edits.


def test_what_changed_in_another_file_is_shown_as_a_diff() -> None:
    async def run() -> None:
        on = Two()
        on.put("discount", "tax", SHOP_URI)
        assert "-def total(items, tax=0.2):\n+def total(items, discount=0.2):\n" in await on.asked()
        await on.close()

    run_virtual(run())


def test_what_is_typed_at_the_cursor_is_no_change_until_the_cursor_is_elsewhere() -> None:
    async def run() -> None:
        on = Two(CART + "\n" * 400)
        on.put("owed", "due", URI)
        assert "-    due" not in await on.asked()
        assert "-    due = total(items)\n+    owed = total(items)\n" in await on.asked(at=len(on.text()))
        await on.close()

    run_virtual(run())


def test_a_streamed_edit_is_a_recent_change_and_one_that_was_taken_back_is_none() -> None:
    async def run() -> None:
        on = Two(SHOP + "<|>", "from a import total\n\n\ndef pay(items):\n    return total(<|>items)\n")
        generation = on.edit("no tax", Span(0, len(SIGNATURE)))
        (await on.call()).finish("def total(items):\n    return sum(items)\n")
        await on.result(generation)
        assert "+def total(items):\n" in await on.asked(SHOP_URI, 0)
        await on.assistant.revert(None)
        document = on.workspace.get(SHOP_URI)
        assert document and on.text() == SHOP
        await on.close()

    run_virtual(run())


# --- What it costs.


def test_the_choice_is_kept_while_typing(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    choose = context.choose
    monkeypatch.setattr(context, "choose", lambda *given: made.append(given) or choose(*given))

    async def run() -> None:
        on = Two()
        contexts: set[str] = set()
        await on.asked()
        made.clear()
        for number, key in enumerate("paid = due * 2"):
            on.type(key, on.source.at + number)
            await on.asked(at=on.source.at + number + 1)
            prompt = on.model.calls[-1].request.prompt
            assert isinstance(prompt, Chat)
            contexts.add(prompt.context)
        assert len(contexts) == 1 and SIGNATURE in contexts.pop()
        assert not made
        await on.close()

    run_virtual(run())


def test_a_choice_costs_the_same_in_a_large_document() -> None:
    def cost(lines: int) -> int:
        found: list[int] = []

        async def run() -> None:
            on = Two("x = 1\n" * lines + CART + "x = 1\n" * lines)
            await on.asked()
            document = on.workspace.get(URI)
            assert document
            place = Span(on.source.at, on.source.at)
            on.assistant.context._choices.clear()
            found.append(steps(lambda: on.assistant.context.snippets(document, place, Style("chat"))))
            await on.close()

        run_virtual(run())
        return found[0]

    assert cost(20_000) <= cost(200) * 1.1


def test_a_key_far_from_the_last_one_costs_the_same_in_a_large_document() -> None:
    def cost(lines: int) -> int:
        found: list[int] = []

        async def run() -> None:
            on = Two("x = 1\n" * lines + "<|>")
            kept = on.assistant.context
            note = kept.changed
            kept.changed = lambda changed: found.append(steps(lambda: note(changed)))  # type: ignore
            for at in (0, lines * 3, 0, lines * 3):
                on.type("y", at)
            await on.close()

        run_virtual(run())
        return max(found)

    assert cost(20_000) <= cost(400) * 1.2


def test_a_large_file_is_read_between_the_turns_of_the_loop() -> None:
    async def run() -> None:
        on = Two(other=SHOP * 300)
        document = on.workspace.get(URI)
        assert document
        before = steps(lambda: on.assistant.context.snippets(document, on.source.span, Style("chat")))
        assert before < 20_000, "a request reads nothing by itself"
        assert SIGNATURE in await on.asked()
        await on.close()

    run_virtual(run())


def test_B122_closed_documents_leave_nothing_behind() -> None:
    async def run() -> None:
        on = Two()
        on.put("discount", "tax", SHOP_URI)
        await on.asked()
        on.put("owed", "due", URI)
        for uri in (SHOP_URI, URI):
            on.editor.close(uri)
        on.deliver()
        kept = on.assistant.context
        assert not (kept._used or kept._indexed or kept._choices or kept._burst or kept._bursts)
        await on.close()

    run_virtual(run())


def test_a_fill_keeps_the_code_at_the_cursor_apart_from_the_snippets() -> None:
    async def run() -> None:
        on = Two(style=STYLES[1])
        await on.asked()
        prompt = on.model.calls[-1].request.prompt
        assert isinstance(prompt, Fill)
        assert [each.path for each in prompt.snippets] == ["w/shop.py"]
        assert prompt.prefix.startswith("from shop import total")
        await on.close()

    run_virtual(run())
