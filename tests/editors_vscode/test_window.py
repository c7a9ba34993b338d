"""What a user meets in VS Code, one scenario after the other, in one window."""

import pytest

from tests.editors_vscode.window import SERVER, Window
from tests.support.editors.driver import wait_for

pytestmark = [pytest.mark.editor, pytest.mark.timeout(120)]

HEAD = "top = 1\n\n\n"
TAIL = "\n\nbottom = 1\n"
OLD = "def area(w, h):\n    # both in metres\n    size = w * h\n    log(size)\n    return size\n"
FIRST = 'def area(w, h):\n    """The area of a rectangle."""\n    # both in metres\n    size = w * h\n'
REST = "    return size\n"
BEFORE = HEAD + OLD + TAIL
HALFWAY = HEAD + FIRST + "    log(size)\n    return size\n" + TAIL
AFTER = HEAD + FIRST + REST + TAIL
SOURCE = BEFORE.replace("size =", "<|>size =")


def test_nothing_is_sent_before_an_untrusted_workspace_is_allowed(untrusted: Window) -> None:
    untrusted.sees("status", "off in this workspace")
    untrusted.open("def wary(a, b):\n    <|>\n")
    untrusted.type("return a")
    untrusted.shot("untrusted")
    assert untrusted.model.turns == []


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


def test_words_and_lines_are_accepted_one_by_one(window: Window) -> None:
    window.open("def mean(values):\n    <|>\n")
    window.type("for ")
    window.answer(window.turn("for <|cursor|>"), "value in values:\n")
    window.sees_ghost("value in values:")
    window.press("Control+ArrowRight")
    window.reads("def mean(values):\n    for value\n")
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
    wait_for(lambda: turn.cancelled, "the generation to be freed", 3)
    window.sees_ghost("")


def halfway(window: Window, instruction: str = "say what it is") -> object:
    """An edit whose first change is in the document."""
    window.open(SOURCE)
    turn = window.instruct(instruction)
    window.say(turn, FIRST)
    window.reads(HALFWAY)
    return turn


def test_an_edit_streams_and_one_undo_takes_it_back(window: Window) -> None:
    window.open(SOURCE)
    window.press("Control+i")
    window.sees("pickTitle", "edit area")
    window.shot("input-light")
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
    window.shot("redirect-light")
    new = OLD.replace("both in metres", "the area in square metres")
    window.answer(redirected, new)
    window.reads(HEAD + new + TAIL)
    window.sees_lens("Accept (Tab)")
    window.press("Tab")
    window.sees_no_lens()
    window.reads(HEAD + new + TAIL)


def test_escape_stops_and_revert_takes_back(window: Window) -> None:
    turn = halfway(window)
    window.press("Escape")
    window.model.wait_until_freed(turn)
    window.reads(HALFWAY)
    window.click_lens("Revert")
    window.reads(BEFORE)
    window.sees_no_lens()


def test_typing_ends_an_edit_and_nothing_typed_is_lost(window: Window) -> None:
    turn = halfway(window)
    window.click(".editor-instance .view-lines")
    window.press("Control+End")
    window.type("typed")
    window.model.wait_until_freed(turn)
    window.reads(HALFWAY + "typed")
    window.sees_lens("Accept (Tab)")


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
    window.set("midstream.edit.onForeignChange", None)


def test_one_change_is_rejected_and_the_other_accepted(window: Window) -> None:
    turn = halfway(window)
    window.answer(turn, REST)
    window.sees_lens("Reject This")
    window.press("Control+Home")
    window.press("Alt+F5")
    window.press("Control+Alt+n")
    window.reads(AFTER.replace('    """The area of a rectangle."""\n', ""))
    window.shot("rejected")
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
    window.shot("explanation")


def test_usage_and_doctor_are_shown(window: Window) -> None:
    window.command("Midstream: Usage")
    window.sees("tabs", "Midstream: Usage")
    window.shot("usage")


def test_the_status_bar_says_what_is_going_on(window: Window) -> None:
    turn = halfway(window)
    window.sees("status", "Midstream: working, scripted")
    window.answer(turn, REST)
    window.is_ready()
    window.click("[id$='midstream.status'] a")
    window.sees("rows", "Pause…")
    window.shot("menu")
    window.type("Pause")
    window.press("Enter")
    window.sees("rows", "Until I go on")
    window.type("Until")
    window.press("Enter")
    window.sees("status", "Midstream: paused")
    window.click("[id$='midstream.status'] a")
    window.sees("rows", "Go On")
    window.press("Enter")
    window.is_ready()


def test_a_killed_server_comes_back(window: Window) -> None:
    window.kill_server()
    window.open("def again(a):\n    <|>\n")
    window.type("return ")
    window.answer(window.turn("return <|cursor|>"), "a\n")
    window.sees_ghost("a")


def test_without_python_one_sentence_and_a_button_help(window: Window) -> None:
    window.set("midstream.server.python", "/no/python/here")
    window.set("midstream.server.path", "")
    window.sees("notifications", "Midstream needs Python 3.11 or newer")
    window.sees("buttons", "Choose Python…")
    window.sees("status", "needs attention")
    window.shot("no-python")
    window.set("midstream.server.path", str(SERVER))
    window.has_restarted([])
    window.set("midstream.server.python", None)


@pytest.mark.parametrize("theme", ["Default Dark+", "Default High Contrast"])
def test_it_is_readable_in_other_themes(window: Window, theme: str) -> None:
    name = theme.split()[1].lower().rstrip("+")
    window.set("workbench.colorTheme", theme)
    window.open("def add(a, b):\n    <|>\n")
    window.type("return ")
    window.answer(window.turn("return <|cursor|>"), "a + b\n")
    window.sees_ghost("a + b")
    window.shot(f"ghost-{name}")
    window.press("Escape")
    turn = halfway(window)
    window.sees_lens("Stop (Esc)")
    window.shot(f"editing-{name}")
    window.answer(turn, REST)
    window.sees_lens("Accept All (Tab)")
    window.shot(f"review-{name}")
    window.press("Tab")
    window.sees_no_lens()
    window.set("workbench.colorTheme", "Default Light+")
