"""Ghost text in Neovim with the plugin: what the user sees, and what the model is asked."""

import pytest

from tests.editors_nvim.desk import Desk
from tests.support.editors.driver import wait_for

pytestmark = pytest.mark.editor

ADD = "def add(a, b):\n    <|>\n"


def test_a_suggestion_is_seen_and_accepted(desk: Desk) -> None:
    desk.model.always("a + b\n")
    desk.open(ADD)
    desk.insert("return ")
    desk.sees("a + b")
    desk.vim.keys("<Tab>")
    desk.reads("def add(a, b):\n    return a + b\n")


def test_typing_along_asks_the_model_once(desk: Desk) -> None:
    desk.model.always("a + b\n")
    desk.open(ADD)
    desk.insert("return ")
    desk.sees("a + b")
    desk.vim.type("a +")
    desk.sees(" b")
    assert desk.asked == 1
    desk.vim.keys("<Tab>")
    desk.reads("def add(a, b):\n    return a + b\n")


def test_typing_against_frees_the_model(desk: Desk) -> None:
    desk.open(ADD)
    desk.insert("return")
    overtaken = desk.model.turn()
    desk.say(overtaken, " a + b")
    desk.vim.type("(")
    desk.model.wait_until_freed(overtaken)
    desk.answer(desk.model.turn(), "a + b)\n")
    desk.sees("a + b)")


def test_leaving_insert_mode_frees_the_model(desk: Desk) -> None:
    desk.open(ADD)
    desk.insert("return ")
    turn = desk.model.turn()
    desk.vim.keys("<Esc>")
    desk.model.wait_until_freed(turn)


def test_words_and_lines_are_accepted_one_by_one(desk: Desk) -> None:
    desk.model.always("    total = a + b\n    return total\n")
    desk.open("def add(a, b):<|>\n")
    desk.insert("<CR><Esc>cc")
    wait_for(lambda: "total = a + b" in desk.vim.ghost(), "the suggestion")
    desk.vim.keys("<M-Right>")
    desk.shows("    total")
    wait_for(lambda: "= a + b" in desk.vim.ghost(), "the rest of the suggestion")
    desk.vim.keys("<M-C-Right>")
    desk.shows("    total = a + b\n")


def test_a_long_suggestion_grows_while_it_streams(desk: Desk) -> None:
    desk.open("def fill(rows):\n    <|>\n")
    desk.insert("for row in rows:<CR>")
    turn = desk.model.turn()
    desk.say(turn, "row.check()\n")
    wait_for(lambda: "row.check()" in desk.vim.ghost(), "the first line")
    desk.say(turn, "        row.write()\n")
    wait_for(lambda: "row.write()" in desk.vim.ghost(), "the second line before the end")
    desk.answer(turn, "        row.close()\n")
    wait_for(lambda: "row.close()" in desk.vim.ghost(), "the third line")
    assert desk.asked == 1


def test_a_dismissed_suggestion_is_gone_and_tab_is_a_tab(desk: Desk) -> None:
    desk.model.always("a + b\n")
    desk.open(ADD)
    desk.insert("return ")
    desk.sees("a + b")
    desk.vim.keys("<C-]>")
    desk.sees("")
    desk.vim.keys("<Tab>x")
    desk.reads("def add(a, b):\n    return  x\n")


def test_a_key_that_was_mapped_before_still_does_what_it_did(desk: Desk) -> None:
    desk.vim.api.exec_lua("vim.keymap.set('i', '<Tab>', 'mapped')")
    desk.open(ADD)
    desk.insert("<Tab>")
    desk.reads("def add(a, b):\n    mapped\n")
