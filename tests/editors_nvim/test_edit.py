"""Streamed edits in Neovim with the plugin."""

from collections.abc import Callable

import pytest

from tests.editors_nvim.conftest import one_version
from tests.editors_nvim.desk import Desk
from tests.support.model_server import Turn

pytestmark = pytest.mark.editor

HEAD = "top = 1\n\n\n"
TAIL = "\n\nbottom = 1\n"
OLD = "def area(w, h):\n    # both in metres\n    size = w * h\n    log(size)\n    return size\n"
FIRST = 'def area(w, h):\n    """The area of a rectangle."""\n    # both in metres\n    size = w * h\n'
REST = "    return size\n"
NEW = FIRST + REST
BEFORE = HEAD + OLD + TAIL
HALFWAY = HEAD + FIRST + "    log(size)\n    return size\n" + TAIL
AFTER = HEAD + NEW + TAIL
SOURCE = BEFORE.replace("size =", "<|>size =")


def halfway(desk: Desk) -> Turn:
    """An edit whose first change is in the buffer."""
    desk.open(SOURCE)
    turn = desk.edit("say what it is")
    desk.say(turn, FIRST)
    desk.reads(HALFWAY)
    return turn


def test_an_edit_streams_and_is_one_undo_step(desk: Desk) -> None:
    turn = halfway(desk)
    desk.answer(turn, REST)
    desk.reads(AFTER)
    desk.is_idle()
    desk.vim.undo()
    desk.reads(BEFORE)


def test_a_redirect_goes_on_from_what_is_on_the_screen(desk: Desk) -> None:
    turn = halfway(desk)
    desk.vim.api.command("Midstream redirect in a comment instead")
    desk.model.wait_until_freed(turn)
    redirected = desk.model.turn()
    assert "say what it is" in redirected.text
    assert "in a comment instead" in redirected.text
    assert "The area of a rectangle." in redirected.text
    new = (
        "def area(w, h):\n    # the area in square metres\n    size = w * h\n    log(size)\n    return size\n"
    )
    desk.answer(redirected, new)
    desk.reads(HEAD + new + TAIL)
    desk.is_idle()
    desk.vim.undo()
    desk.vim.undo()
    desk.reads(BEFORE)


def test_typing_ends_the_edit_and_nothing_typed_is_lost(desk: Desk) -> None:
    turn = halfway(desk)
    desk.vim.keys("Go")
    desk.vim.type("typed")
    desk.model.wait_until_freed(turn)
    desk.tells("your typing ended the edit")
    desk.reads(HALFWAY + "typed\n")


def test_with_rebase_typing_elsewhere_and_the_edit_both_arrive(start: Callable[..., Desk]) -> None:
    desk = start(edit={"onForeignChange": "rebase"})
    turn = halfway(desk)
    desk.vim.keys("Go")
    words = ["typed ", "while ", "it ", "streams"]
    for word in words:
        desk.vim.type(word)
        desk.say(turn, f"    {word.strip()}()\n")
    desk.answer(turn, REST)
    calls = "".join(f"    {word.strip()}()\n" for word in words)
    desk.reads(HEAD + FIRST + calls + REST + TAIL + "".join(words) + "\n")


def test_a_stopped_edit_stays_and_a_reverted_one_goes(desk: Desk) -> None:
    turn = halfway(desk)
    desk.vim.api.command("Midstream stop")
    desk.model.wait_until_freed(turn)
    desk.tells("stopped")
    desk.reads(HALFWAY)
    desk.vim.api.command("Midstream revert")
    desk.reads(BEFORE)


@one_version
def test_a_range_edits_its_lines(desk: Desk) -> None:
    desk.open(SOURCE)
    desk.vim.api.command("1Midstream edit make it two")
    turn = desk.model.turn()
    desk.answer(turn, "top = 2\n")
    desk.reads(BEFORE.replace("top = 1", "top = 2"))


@one_version
def test_an_instruction_is_asked_for(desk: Desk) -> None:
    desk.open(SOURCE)
    desk.vim.keys(":Midstream edit<CR>")
    desk.model.wait_until_read("size = w * h")
    desk.vim.keys("shout<CR>")
    assert "shout" in desk.model.turn().text


@one_version
def test_a_comment_directs_an_edit(desk: Desk) -> None:
    desk.open(SOURCE.replace("<|>size", "# mid<|>stream: say what it is\n    size"))
    desk.vim.api.exec_lua(
        "vim.lsp.buf.code_action({ apply = true, filter = function(action)"
        " return vim.startswith(action.title, 'Do: ') end })"
    )
    desk.answer(desk.model.turn(), NEW)
    desk.reads(AFTER)


def test_a_diagnostic_of_another_source_is_fixed(desk: Desk) -> None:
    desk.open(SOURCE)
    desk.vim.api.exec_lua(
        "local row = vim.api.nvim_win_get_cursor(0)[1] - 1\n"
        "vim.diagnostic.set(vim.api.nvim_create_namespace('checker'), 0,\n"
        "  {{ lnum = row, col = 4, end_col = 8, message = 'size is no name', source = 'checker' }})"
    )
    desk.vim.api.command("Midstream fix")
    turn = desk.model.turn()
    assert "size is no name" in turn.text
    desk.answer(turn, NEW)
    desk.reads(AFTER)
