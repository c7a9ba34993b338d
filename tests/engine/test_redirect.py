"""Redirect, revert, accept and stop: each handled exactly once, against what is on screen."""

import pytest

from lsp_server.core.text import Span
from lsp_server.engine.errors import EditRefused
from lsp_server.engine.generation import Generation
from lsp_server.settings import Edit
from tests.engine.stage import URI, Stage
from tests.support.virtual_time import passes, run_virtual, turns

FUNCTION = "top = 0\n\ndef f():\n    return 1<|>\n\nbottom = 0\n"
OTHER = "file:///w/b.py"
MODES = ["vscode", "neovim", "eglot", "helix", "plain", "applypatch"]
A = ["def f():\n", "    return 'A1", "A2'\n"]
LONG = ["def f():\n", *(f"    step_{number} = call({number})\n" for number in range(8))]
B = "def f():\n    return 'B'\n"
AFTER_B = f"top = 0\n\n{B}\nbottom = 0\n"


def ids(on: Stage) -> list[tuple[str, str]]:
    return [(result.id, result.outcome) for result in on.editor.results]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("chunks", [0, 1, 2, 3])
def test_B52_a_redirect_between_the_chunks_leaves_nothing_of_the_first(mode: str, chunks: int) -> None:
    async def run() -> None:
        on = Stage(FUNCTION, mode)
        first = on.edit("say A")
        call = await on.call()
        await on.said(call, *A[:chunks])
        await passes(0.3)
        second = on.assistant.redirect(URI, "say B")
        answer = await on.call(1)
        call.say(*A[chunks:])
        await on.said(answer, *B.splitlines(keepends=True))
        answer.finish()
        assert (await on.result(second)).outcome == "done"
        assert on.text() == AFTER_B
        assert call.closed
        assert ids(on) == [(first.job.id, "redirected"), (second.job.id, "done")]
        await on.close()

    run_virtual(run())


@pytest.mark.parametrize("count", range(0, 40, 3))
def test_B52_a_redirect_in_the_turns_around_the_end_is_handled_once(count: int) -> None:
    async def run() -> None:
        on = Stage(FUNCTION)
        first = on.edit("say A")
        call = await on.call()
        await on.said(call, *A[:2])
        call.finish(A[2])
        await turns(count)
        second = on.assistant.redirect(first.job.id, "say B")
        answer = await on.call(1)
        answer.finish(B)
        assert (await on.result(second)).outcome == "done"
        assert (await first.result).outcome in ("done", "redirected")
        assert on.text() == AFTER_B
        assert sorted(name for name, _ in ids(on)) == [first.job.id, second.job.id]
        await on.close()

    run_virtual(run())


def test_B54_after_an_interruption_the_text_stays_and_revert_restores_the_original() -> None:
    async def interrupted(how: str) -> str:
        on = Stage(FUNCTION)
        generation = on.edit()
        call = await on.call()
        await on.said(call, *LONG)
        await passes(0.3)
        match how:
            case "stop":
                await on.assistant.stop(None)
            case "redirect":
                on.assistant.redirect(None, "another way")
                await on.rest()
            case "typing":
                on.type("x", 0)
                await on.rest()
        text = on.text().removeprefix("x")
        assert generation.result.done()
        await on.assistant.revert(None)
        await on.rest()
        assert on.text().removeprefix("x") == on.source.text
        await on.close()
        return text

    texts = {run_virtual(interrupted(how)) for how in ("stop", "redirect", "typing")}
    assert len(texts) == 1 and LONG[1] in texts.pop()


def test_a_redirect_touches_only_the_lines_that_differ_from_the_screen() -> None:
    async def run() -> None:
        on = Stage(FUNCTION, "applypatch")
        on.edit("say A")
        call = await on.call()
        await on.said(call, "def f():\n", "    one = 1\n", "    two = 2\n", "    return one + two\n")
        call.finish()
        await passes(1.0)
        sent = len(on.editor.patches)
        second = on.assistant.redirect(None, "start at two")
        answer = await on.call(1)
        await on.said(answer, "def f():\n", "    one = 2\n", "    two = 2\n", "    return one + two\n")
        answer.finish()
        assert (await on.result(second)).outcome == "done"
        assert [(each.edit.end - each.edit.start, each.edit.text) for each in on.editor.patches[sent:]] == [
            (1, "2")
        ]
        await on.close()

    run_virtual(run())


def test_a_redirect_tells_the_model_what_was_said_and_what_is_there() -> None:
    async def run() -> None:
        on = Stage(FUNCTION)
        on.edit("say A")
        call = await on.call()
        await on.said(call, *LONG)
        await passes(0.3)
        on.assistant.redirect(None, "say B")
        prompt = (await on.call(1)).request.prompt
        text = str(prompt)
        assert "say A" in text and "say B" in text and LONG[1] in on.text() and LONG[1].strip() in text
        await on.close()

    run_virtual(run())


def test_a_redirect_needs_an_edit_and_words() -> None:
    async def run() -> None:
        on = Stage(FUNCTION)
        with pytest.raises(EditRefused, match="no edit here"):
            on.assistant.redirect(None, "another way")
        on.edit()
        with pytest.raises(EditRefused, match="instruction is empty"):
            on.assistant.redirect(None, " ")
        assert len(on.model.calls) <= 1
        await on.close()

    run_virtual(run())


def test_a_directive_after_an_interruption_redirects_and_goes_away() -> None:
    async def run() -> None:
        on = Stage(FUNCTION)
        on.edit("say A")
        call = await on.call()
        await on.said(call, *LONG)
        await passes(0.3)
        comment = "    # midstream: say B\n"
        on.type(comment, on.text().index(LONG[1]))
        await on.rest()
        start = on.text().index(comment)
        directive = Span(start, start + len(comment) - 1)
        second = on.assistant.redirect(URI, "say B", directive=directive)
        answer = await on.call(1)
        assert "# midstream" not in str(answer.request.prompt)
        answer.finish(B)
        assert (await on.result(second)).outcome == "done"
        assert on.text() == AFTER_B
        await on.close()

    run_virtual(run())


def test_a_new_edit_supersedes_the_running_one() -> None:
    async def run() -> None:
        on = Stage(FUNCTION)
        first = on.edit("say A")
        call = await on.call()
        await on.said(call, "def f():\n")
        second = on.edit("say B", Span(on.text().index("return"), on.text().index("return")))
        assert (await on.result(first)).outcome == "superseded"
        assert call.closed
        (await on.call(1)).finish(B)
        assert (await on.result(second)).outcome == "done"
        assert on.text() == AFTER_B
        await on.close()

    run_virtual(run())


async def two_edits(on: Stage) -> tuple[Generation, Generation]:
    on.editor.open(OTHER, on.source.text)
    on.deliver()
    first = on.edit("say A")
    return first, on.assistant.edit(OTHER, on.source.span, "say B")


@pytest.mark.parametrize("mode", MODES)
def test_B59_edits_in_two_documents_never_mix(mode: str) -> None:
    async def run() -> None:
        on = Stage(FUNCTION, mode)
        first, second = await two_edits(on)
        calls = await on.call(0), await on.call(1)
        for number in range(6):
            for name, call in zip("ab", calls, strict=True):
                await on.said(call, f"    {name}{number} = 0\n" if number else "def f():\n")
            await passes(0.1)
        for call in calls:
            call.finish()
        for generation, name, uri in ((first, "a", URI), (second, "b", OTHER)):
            assert (await on.result(generation)).outcome == "done"
            body = "".join(f"    {name}{number} = 0\n" for number in range(1, 6))
            assert on.text(uri) == f"top = 0\n\ndef f():\n{body}\nbottom = 0\n"
        await on.close()

    run_virtual(run())


def test_B59_stopping_one_leaves_the_other_running() -> None:
    async def run() -> None:
        on = Stage(FUNCTION)
        first, second = await two_edits(on)
        calls = await on.call(0), await on.call(1)
        await on.said(calls[0], "def f():\n", "    a = 1\n")
        assert (await on.assistant.stop(URI)).outcome == "stopped"
        assert not first.running and second.running
        calls[1].finish(B)
        assert (await on.result(second)).outcome == "done"
        assert on.text(OTHER) == AFTER_B
        await on.close()

    run_virtual(run())


def test_B62_undoing_the_edit_leaves_the_users_own_line() -> None:
    async def run() -> None:
        on = Stage(FUNCTION, "applypatch", edit=Edit(format="scope", on_foreign_change="rebase"))
        generation = on.edit()
        call = await on.call()
        await on.said(call, "def f():\n", "    a = 1\n")
        on.type("# note\n", 0)
        call.finish("    return a\n")
        assert (await on.result(generation)).outcome == "done"
        assert not any("note" in patch.edit.text for patch in on.editor.patches)
        await on.assistant.revert(None)
        assert on.text() == "# note\n" + on.source.text
        await on.close()

    run_virtual(run())


def test_B64_the_second_hunk_finds_its_place_after_the_first_and_a_key() -> None:
    async def run() -> None:
        source = "<[def a():\n    pass\n\ndef b():\n    pass]>\n"
        on = Stage(source, "applypatch", edit=Edit(format="hunks", on_foreign_change="rebase"))
        generation = on.edit()
        call = await on.call()
        hunk = "<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n"
        body = "    x = 1\n    y = 2\n    return x\n"
        await on.said(call, hunk.format("def a():\n    pass\n", "def a():\n" + body))
        await passes(0.3)
        on.type("\n", 0)
        call.finish(hunk.format("def b():\n    pass\n", "def b():\n    return 2\n"))
        assert (await on.result(generation)).outcome == "done"
        assert on.text() == f"\ndef a():\n{body}\ndef b():\n    return 2\n"
        await on.close()

    run_virtual(run())


def test_B119_only_the_scope_changes_whatever_a_comment_asks_for() -> None:
    async def run() -> None:
        on = Stage("top = 0\n\ndef f():\n    # also change b.py\n    return 1<|>\n\nbottom = 0\n")
        on.editor.open(OTHER, "other = 0\n")
        on.deliver()
        generation = on.edit()
        call = await on.call()
        call.finish("```python\ndef f():\n    return 2\n```\n\nb.py:\n```python\nother = 1\n```\nrm -rf /\n")
        await on.result(generation)
        assert on.text() == "top = 0\n\ndef f():\n    return 2\n\nbottom = 0\n"
        assert on.text(OTHER) == "other = 0\n"
        await on.close()

    run_virtual(run())
