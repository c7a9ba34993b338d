"""Ghost text in VS Code with the user's default settings."""

import pytest

from tests.editors_vscode.window import Window
from tests.support.editors.driver import wait_for

pytestmark = pytest.mark.timeout(120)


def test_a_suggestion_is_seen_and_accepted(window: Window) -> None:
    window.open("def add(a, b):\n    <|>\n")
    window.type("return ")
    window.answer(window.turn("return <|cursor|>"), "a + b\n")
    window.sees_ghost("a + b")
    window.shot("ghost-light")
    window.press("Tab")
    window.reads("def add(a, b):\n    return a + b\n")


def test_typing_along_asks_the_model_once(window: Window) -> None:
    window.open("def plus(a, b):\n    <|>\n")
    window.type("return ")
    window.answer(window.turn("return <|cursor|>"), "a + b\n")
    window.sees_ghost("a + b")
    asked = window.asked("def plus")
    window.type("a +")
    window.sees_ghost(" b")
    window.shot("typed-along")
    assert window.asked("def plus") == asked
    window.press("Tab")
    window.reads("def plus(a, b):\n    return a + b\n")


def test_typing_against_frees_the_model(window: Window) -> None:
    window.open("def minus(a, b):\n    <|>\n")
    window.type("return ")
    overtaken = window.turn("return <|cursor|>")
    window.say(overtaken, "a + b")
    window.type("b - ")
    window.model.wait_until_freed(overtaken)
    window.answer(window.turn("b - <|cursor|>"), "a\n")
    window.sees_ghost("a")
    window.shot("typed-against")


def test_words_and_lines_are_accepted_one_by_one(window: Window) -> None:
    window.open("def mean(values):\n    <|>\n")
    window.type("for ")
    window.answer(window.turn("for <|cursor|>"), "value in values:\n")
    window.sees_ghost("value in values:")
    window.press("Control+ArrowRight")
    window.reads("def mean(values):\n    for value\n")
    window.sees_ghost(" in values:")
    window.shot("word")
    window.press("Control+Alt+ArrowRight")
    window.reads("def mean(values):\n    for value in values:\n")


def test_a_long_suggestion_grows_while_it_streams(window: Window) -> None:
    window.open("def fill(rows):\n    for row in rows:<|>\n")
    window.press("Enter")
    turn = window.turn("def fill")
    window.say(turn, "row.check()\n")
    wait_for(lambda: "row.check()" in window.ghost(), "the first line")
    window.say(turn, "        row.write()\n")
    wait_for(lambda: "row.write()" in window.ghost(), "the second line before the end")
    window.shot("growing")
    window.answer(turn, "        row.close()\n")
    wait_for(lambda: "row.close()" in window.ghost(), "the third line")
    assert window.asked("def fill") == 1
    window.press("Tab")
    wait_for(lambda: "row.close()" in window.code.text(), "the suggestion in the document")


def test_escape_ends_the_stream_of_a_suggestion(window: Window) -> None:
    window.open("def long(rows):\n    for row in rows:<|>\n")
    window.press("Enter")
    turn = window.turn("def long")
    window.say(turn, "row.check()\n")
    wait_for(lambda: "row.check()" in window.ghost(), "the first line")
    window.press("Escape")
    window.model.wait_until_freed(turn)
    window.sees_ghost("")
    window.shot("dismissed")


def test_a_suggestion_goes_between_the_brackets_that_vs_code_closes(window: Window) -> None:
    window.open("def shout(word):\n    <|>\n")
    window.type("print(")
    window.answer(window.turn("print(<|cursor|>)"), "word.upper())\n")
    wait_for(lambda: "word.upper()" in window.ghost(), "the argument")
    window.shot("brackets")
    window.press("Tab")
    window.reads("def shout(word):\n    print(word.upper())\n")


def test_a_suggestion_extends_the_entry_that_is_selected_in_the_list(window: Window) -> None:
    window.open("measurements = [1, 2]\nprint(<|>)\n")
    window.type("meas")
    window.sees("list", "measurements")
    window.answer(window.turn("print(measurements<|cursor|>"), ".copy()")
    window.sees_ghost("urements.copy()")
    window.shot("list")


def test_alternatives_are_shown_one_after_the_other(window: Window) -> None:
    window.set("midstream.complete.candidates", 2)
    window.open("def half(a):\n    <|>\n")
    window.type("return ")
    window.answer(window.turn("return <|cursor|>"), "a / 2\n")
    window.sees_ghost("a / 2")
    window.press("Escape")
    window.command("Trigger Inline Suggestion")
    window.answer(window.turn("def half"), "a * 0.5\n")
    window.sees_ghost("a / 2")
    window.press("Alt+]")
    window.sees_ghost("a * 0.5")
    window.shot("alternative")
    window.press("Alt+[")
    window.sees_ghost("a / 2")
    window.set("midstream.complete.candidates", None)
