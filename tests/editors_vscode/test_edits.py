"""Edits by instruction in VS Code: they stream in, and are redirected, stopped, accepted and taken back."""

import pytest

from tests.editors_vscode.example import (
    AFTER,
    BEFORE,
    FIRST,
    HALFWAY,
    HEAD,
    NEW,
    OLD,
    REST,
    SOURCE,
    TAIL,
    edited,
    halfway,
)
from tests.editors_vscode.window import Window
from tests.support.editors.driver import wait_for

pytestmark = pytest.mark.timeout(120)


def test_an_edit_streams_and_one_undo_takes_it_back(window: Window) -> None:
    window.open(SOURCE)
    window.press("Control+i")
    window.sees("pickTitle", "edit area")
    wait_for(lambda: window.read("highlighted") > 0, "the function to be highlighted")
    window.shot("input-light")
    window.model.wait_until_read("size = w * h")
    window.type("say what it is")
    window.press("Enter")
    turn = window.turn("say what it is")
    window.say(turn, FIRST)
    window.reads(HALFWAY)
    window.sees_lens("Stop (Esc)")
    window.shot("editing-light")
    window.answer(turn, REST)
    window.reads(AFTER)
    window.sees_lens("Accept All (Tab)")
    window.shot("review-light")
    window.press("Control+z")
    window.reads(BEFORE)
    window.sees_no_lens()


def test_a_new_instruction_redirects_a_running_edit(window: Window) -> None:
    turn = halfway(window)
    window.type("in a comment instead")
    window.press("Enter")
    window.model.wait_until_freed(turn)
    redirected = window.turn("in a comment instead")
    assert "say what it is" in redirected.text
    assert "The area of a rectangle." in redirected.text
    window.sees("pickTitle", "in a comment instead")
    window.sees_lens("Stop (Esc)")
    window.shot("redirect-light")
    new = OLD.replace("both in metres", "the area in square metres")
    window.answer(redirected, new)
    window.reads(HEAD + new + TAIL)
    window.sees_lens("Accept (Tab)")
    window.shot("redirected")
    window.press("Tab")
    window.sees_no_lens()
    window.reads(HEAD + new + TAIL)


def test_escape_stops_and_revert_takes_back(window: Window) -> None:
    turn = halfway(window)
    window.press("Escape")
    window.model.wait_until_freed(turn)
    window.reads(HALFWAY)
    window.sees_lens("Revert")
    window.shot("stopped")
    window.click_lens("Revert")
    window.reads(BEFORE)
    window.sees_no_lens()


def test_typing_ends_an_edit_and_tab_is_a_key_again(window: Window) -> None:
    turn = halfway(window)
    window.click(".editor-instance .view-lines")
    window.press("Control+End")
    window.type("typed ")
    window.model.wait_until_freed(turn)
    window.reads(HALFWAY + "typed ")
    window.sees_lens("Accept")
    window.shot("typed-over")
    window.press("Tab")
    window.reads(HALFWAY + "typed   ")
    window.sees_lens("Accept")


def test_with_rebase_typing_elsewhere_and_the_edit_both_arrive(window: Window) -> None:
    window.set("midstream.edit.onForeignChange", "rebase")
    turn = halfway(window)
    window.click(".editor-instance .view-lines")
    window.press("Control+End")
    words = ["typed ", "while ", "it ", "streams"]
    for word in words:
        window.type(word)
        window.say(turn, f"    {word.strip()}()\n")
    window.answer(turn, REST)
    calls = "".join(f"    {word.strip()}()\n" for word in words)
    window.reads(HEAD + FIRST + calls + REST + TAIL + "".join(words))
    window.sees_lens("Accept All")
    window.shot("typed-elsewhere")
    window.set("midstream.edit.onForeignChange", None)


def test_one_change_is_rejected_and_the_other_accepted_by_keys(window: Window) -> None:
    edited(window)
    window.press("Control+Home")
    window.press("Alt+F5")
    window.press("Control+k")
    window.press("Control+n")
    window.reads(BEFORE.replace("    log(size)\n", ""))
    window.sees_lens("Accept (Tab)")
    window.shot("rejected")
    window.press("Control+k")
    window.press("Control+y")
    window.sees_no_lens()
    window.reads(BEFORE.replace("    log(size)\n", ""))


def test_one_change_is_accepted_and_the_other_rejected_by_the_mouse(window: Window) -> None:
    edited(window)
    window.click_lens("Accept This")
    window.sees_lens("Accept (Tab)")
    window.shot("accepted")
    window.click_lens("Revert")
    window.reads(HALFWAY)
    window.sees_no_lens()


def test_changed_lines_say_what_they_were(window: Window) -> None:
    window.open(SOURCE)
    new = OLD.replace("w * h", "abs(w * h)").replace("    # both in metres\n    size", "    size")
    window.answer(window.instruct("no negative areas"), new)
    window.reads(HEAD + new + TAIL)
    window.sees("removed", "was 2 lines")
    window.press("Tab")
    window.sees_no_lens()


def test_an_earlier_instruction_is_taken_from_the_list(window: Window) -> None:
    edited(window)
    window.press("Tab")
    window.sees_no_lens()
    window.press("Control+i")
    window.sees("rows", "say what it is")
    window.shot("history")
    window.type("WHAT")
    wait_for(lambda: len(window.read("rows")) == 2, "what was typed and what has it in it")
    window.shot("history-searched")
    window.press("ArrowDown")
    window.press("Enter")
    window.answer(window.turn("say what it is"), NEW)
    window.sees("message", "the model left the code as it is")


def test_the_last_edit_is_run_again_on_the_deep_model(window: Window) -> None:
    edited(window)
    window.click_lens("Think Harder")
    turn = window.turn("say what it is")
    new = OLD.replace("both in metres", "in square metres")
    window.answer(turn, new)
    window.reads(HEAD + new + TAIL)
    window.sees_lens("Accept (Tab)")
    window.shot("harder")
    window.press("Tab")
    window.sees_no_lens()


def test_the_light_bulb_mends_a_diagnostic(window: Window) -> None:
    window.open(SOURCE)
    window.code.host(
        "const editor = vscode.window.activeTextEditor;"
        "const line = editor.selection.active.line;"
        "globalThis.checker ??= vscode.languages.createDiagnosticCollection('checker');"
        "const found = new vscode.Diagnostic(new vscode.Range(line, 4, line, 8), 'size is no name');"
        "globalThis.checker.set(editor.document.uri, [found]);"
    )
    window.press("Control+.")
    window.sees("menu", "Fix with Midstream: size is no name")
    window.sees("menu", "Add types to 'area'")
    window.shot("light-bulb")
    window.code.page(
        "await page.locator('.action-widget .monaco-list-row', { hasText: argument }).click()", "Fix with"
    )
    turn = window.turn("size is no name")
    window.answer(turn, FIRST + REST)
    window.reads(AFTER)
    window.press("Tab")
    window.sees_no_lens()


def test_a_comment_directs_an_edit(window: Window) -> None:
    window.open(SOURCE.replace("<|>size", "# mid<|>stream: say what it is\n    size"))
    window.press("Control+.")
    window.sees("menu", "Do: say what it is")
    window.shot("directive")
    window.press("Enter")
    window.answer(window.turn("say what it is"), FIRST + REST)
    window.reads(AFTER)
    window.press("Tab")
    window.sees_no_lens()


def test_an_explanation_opens_beside_the_code(window: Window) -> None:
    window.open(SOURCE)
    window.command("Midstream: Explain Function or Selection")
    window.answer(window.turn("def area"), "`area` multiplies.")
    window.sees("tabs", "Preview Explanation")
    window.shows("area multiplies")
    window.shot("explanation")
