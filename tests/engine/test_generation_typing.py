"""Typing while an edit streams: it ends the edit, or with rebase goes on beside it; no key is lost."""

import pytest

from lsp_server.settings import Edit
from tests.engine.stage import URI, Stage
from tests.support.virtual_time import run_virtual, turns

MODES = ["vscode", "neovim", "neovim0", "eglot", "helix", "plain", "full", "applypatch"]
FUNCTION = "top = 0\n\ndef f():\n    return 1<|>\n\nbottom = 0\n"


@pytest.mark.parametrize("mode", MODES)
def test_typing_anywhere_ends_the_edit_by_default(mode: str) -> None:
    async def run() -> None:
        on = Stage(FUNCTION, mode)
        generation = on.edit()
        call = await on.call()
        await on.said(call, "def f():\n", "    a = 1\n")
        on.type("# note\n", 0)
        result = await on.result(generation)
        assert result.outcome == "typed_over"
        assert call.closed
        assert on.text().startswith("# note\ntop = 0\n\n")
        on.editor.flush()
        await on.rest()
        await on.close()

    run_virtual(run())


@pytest.mark.parametrize("mode", MODES)
def test_B42_with_rebase_typing_elsewhere_lets_the_edit_go_on(mode: str) -> None:
    async def run() -> None:
        on = Stage(FUNCTION, mode, edit=Edit(format="scope", on_foreign_change="rebase"))
        on.editor.replace(URI, 0, len("top"), "top")  # Neovim does not compare its first version.
        on.editor.rest()
        on.deliver()
        generation = on.edit()
        call = await on.call()
        await on.said(call, "def f():\n", "    a = 1\n")
        on.type("# note\n", 0)
        await on.said(call, "    b = 2\n", "    return a + b\n")
        call.finish()
        result = await on.result(generation)
        assert result.outcome == "done"
        assert (
            on.text() == "# note\ntop = 0\n\ndef f():\n    a = 1\n    b = 2\n    return a + b\n\nbottom = 0\n"
        )
        await on.close()

    run_virtual(run())


@pytest.mark.parametrize("mode", ["plain", "neovim"])
def test_B37_a_patch_on_a_moved_text_is_taken_back_by_one_edit_and_told(mode: str) -> None:
    async def run() -> None:
        on = Stage(FUNCTION, mode, automatic=False)
        generation = on.edit()
        call = await on.call()
        call.say("def f():\n", "    a = 1\n", "    return a\n")
        call.finish()
        while not on.editor.incoming:
            await turns(1)
        on.editor.replace(URI, 0, 0, "\n")
        while on.editor.step():
            await on.rest()
        result = await on.result(generation)
        while on.editor.step():
            await on.rest()
        assert result.outcome in ("typed_over", "rejected")
        assert on.text() == "\n" + on.source.text
        assert len(on.editor.patches) == 2
        assert any("taken back" in sentence for _, sentence in on.editor.shown)
        await on.close()

    run_virtual(run())


@pytest.mark.parametrize("mode", ["plain", "neovim0", "neovim"])
def test_a_key_that_a_patch_on_the_wire_deletes_comes_back(mode: str) -> None:
    async def run() -> None:
        on = Stage(FUNCTION, mode, automatic=False)
        generation = on.edit()
        call = await on.call()
        call.finish("def f():\n    a = 1\n    return a\n")
        while not on.editor.incoming:
            await turns(1)
        on.editor.replace(URI, on.text().index("return"), on.text().index("return"), "k")
        for _ in range(3):
            while on.editor.step():
                await on.rest()
        await on.result(generation)
        while on.editor.step():
            await on.rest()
        assert on.text() == on.source.text.replace("return", "kreturn")
        assert len(on.editor.patches) == 2
        assert any("taken back" in sentence for _, sentence in on.editor.shown)
        await on.close()

    run_virtual(run())


@pytest.mark.parametrize("stops", [True, False])
@pytest.mark.parametrize("count", range(12))
def test_a_patch_that_is_overtaken_in_the_same_turn_is_not_sent(count: int, stops: bool) -> None:
    async def run() -> None:
        on = Stage(FUNCTION, automatic=False)
        generation = on.edit()
        call = await on.call()
        call.finish("def f():\n    return 2\n")
        await turns(count)
        sent = len(on.editor.patches)
        if stops:
            stopped = on.assistant.stop(None)
        else:
            on.editor.replace(URI, 0, 0, "x")
            on.editor.deliver()
        await on.rest()
        assert len(on.editor.patches) == sent
        on.deliver()
        if stops:
            await stopped
        assert (await on.result(generation)).outcome == ("stopped" if stops else "typed_over")
        await on.close()

    run_virtual(run())


def test_B42_with_rebase_typing_inside_still_ends_it() -> None:
    async def run() -> None:
        on = Stage(FUNCTION, edit=Edit(format="scope", on_foreign_change="rebase"))
        generation = on.edit()
        call = await on.call()
        await on.said(call, "def f():\n", "    a = 1\n")
        on.type("#", "return 1")
        assert (await on.result(generation)).outcome == "typed_over"
        await on.close()

    run_virtual(run())


def test_B40_a_formatter_moves_the_function_and_the_edit_goes_on() -> None:
    async def run() -> None:
        on = Stage(
            "import b\nimport a\n\ndef f():\n    return 1<|>\n",
            edit=Edit(format="scope", on_foreign_change="rebase"),
        )
        generation = on.edit()
        call = await on.call()
        await on.said(call, "def f():\n", "    x = 1\n")
        head = "import b\nimport a\n\n"
        on.editor.replace(URI, 0, len(head), "import a\nimport b\n\n\n")
        on.deliver()
        await on.said(call, "    return x\n")
        call.finish()
        assert (await on.result(generation)).outcome == "done"
        assert on.text() == "import a\nimport b\n\n\ndef f():\n    x = 1\n    return x\n"
        await on.close()

    run_virtual(run())


def test_B65_lines_come_and_go_above_while_the_edit_runs() -> None:
    async def run() -> None:
        on = Stage(
            "x = 1\n\ndef f():\n    return 1<|>\n\ndef g():\n    return 2\n",
            edit=Edit(format="scope", on_foreign_change="rebase"),
        )
        generation = on.edit()
        call = await on.call()
        await on.said(call, "def f():\n", "    a = 1\n")
        on.editor.replace(URI, 0, len("x = 1\n"), "")
        on.deliver()
        await on.said(call, "    b = 2\n")
        on.type("one\ntwo\nthree\n", 0)
        await on.said(call, "    return a + b\n")
        call.finish()
        assert (await on.result(generation)).outcome == "done"
        function = "def f():\n    a = 1\n    b = 2\n    return a + b\n"
        assert on.text() == f"one\ntwo\nthree\n\n{function}\ndef g():\n    return 2\n"
        await on.close()

    run_virtual(run())
