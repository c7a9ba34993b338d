"""Taking an edit back, or keeping it for good."""

import pytest

from lsp_server.engine.errors import EditRefused
from tests.engine.stage import Stage
from tests.support.virtual_time import passes, run_virtual

BODY = "def f():\n    one = 1\n    two = 2\n    three = 3\n    return one<|>\n"
NEW = "def f():\n    one = 10\n    two = 2\n    three = 30\n    return three\n"


async def edited(source: str, reply: str, mode: str) -> Stage:
    on = Stage(source, mode)
    generation = on.edit()
    (await on.call()).finish(reply)
    await on.result(generation)
    return on


@pytest.mark.parametrize("mode", ["vscode", "neovim", "eglot", "helix", "plain", "full", "applypatch"])
def test_a_revert_keeps_lines_that_the_user_changed_since(mode: str) -> None:
    async def run() -> None:
        on = await edited(BODY, NEW, mode)
        on.type("0", on.text().index("30"))
        on.editor.flush()
        await on.rest()
        strokes = on.editor.strokes
        result = await on.assistant.revert(None)
        await passes(1.0)
        assert on.text() == BODY.replace("<|>", "").replace(
            "three = 3\n    return one", "three = 030\n    return three"
        )
        assert "Reverted, except 2 lines" in (result.message or "")
        assert not any(strokes in landing.foreign for landing in on.editor.landings)
        with pytest.raises(EditRefused):
            on.assistant.revert(None)
        await on.close()

    run_virtual(run())


@pytest.mark.parametrize("mode", ["vscode", "neovim", "applypatch"])
def test_a_revert_does_not_write_again_what_was_typed_in_a_line_that_the_edit_had_left(mode: str) -> None:
    async def run() -> None:
        on = await edited(BODY, NEW, mode)
        on.type("x", on.text().index("2\n"))
        on.editor.flush()
        await on.rest()
        strokes = on.editor.strokes
        await on.assistant.revert(None)
        await passes(1.0)
        assert on.text() == on.source.text.replace("two = 2", "two = x2")
        assert not any(strokes in landing.foreign for landing in on.editor.landings)
        await on.close()

    run_virtual(run())


@pytest.mark.parametrize("mode", ["vscode", "full"])
def test_a_revert_between_characters_outside_the_basic_plane(mode: str) -> None:
    async def run() -> None:
        source = 'def f():\n    return "🌓" + "🌒"<|>\n'
        on = await edited(source, 'def f():\n    x = "🌕🌖"\n    return x\n', mode)
        await on.assistant.revert(None)
        await on.rest()
        assert on.text() == on.source.text
        await on.close()

    run_virtual(run())


def test_accepting_leaves_nothing_to_revert() -> None:
    async def run() -> None:
        on = await edited(BODY, NEW, "vscode")
        assert (await on.assistant.accept(None)).outcome == "done"
        assert on.text() == NEW
        with pytest.raises(EditRefused, match="no edit here"):
            on.assistant.revert(None)
        await on.close()

    run_virtual(run())


def test_B54_a_revert_of_a_running_edit_stops_it_first() -> None:
    async def run() -> None:
        on = Stage(BODY)
        generation = on.edit()
        call = await on.call()
        await on.said(call, "def f():\n", "    one = 10\n")
        await passes(0.3)
        await on.assistant.revert(None)
        await on.rest()
        assert call.closed
        assert on.text() == on.source.text
        assert (await generation.result).outcome == "stopped"
        await on.close()

    run_virtual(run())
