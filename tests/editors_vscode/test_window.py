"""What is around the editor: status bar, menu, views, keys, and a server that is missing or dies."""

import pytest

from tests.editors_vscode.conftest import SERVER
from tests.editors_vscode.example import REST, edited, halfway
from tests.editors_vscode.window import Window
from tests.support.processes import environment

pytestmark = pytest.mark.timeout(120)


def test_usage_and_doctor_are_shown(window: Window) -> None:
    window.command("Midstream: Usage")
    window.sees("tabs", "Midstream: Usage")
    window.shows("scripted")
    window.shot("usage")
    window.command("Midstream: Doctor")
    for _ in ("the first token", "an answer that is cancelled", "and one beside it"):
        window.answer(window.turn("def add(a, b):\n    return"), " a + b")
    window.sees("tabs", "Preview Doctor")
    window.shows("cancel")
    window.shot("doctor")


def test_the_prompt_is_shown_word_for_word(window: Window) -> None:
    window.open("def cube(a):\n    return<|>\n")
    window.command("Midstream: Show Prompt")
    window.shows("This, and nothing else, would be sent")
    window.shot("prompt")


def test_the_status_bar_says_what_is_going_on(window: Window) -> None:
    turn = halfway(window)
    window.sees("status", "Midstream: working, scripted")
    window.answer(turn, REST)
    window.is_ready()
    window.sees_lens("Accept All (Tab)")
    window.click("[id$='midstream.status'] a")
    window.sees("rows", "Pause…")
    window.shot("menu")
    window.type("Pause")
    window.press("Enter")
    window.sees("rows", "Until I go on")
    window.type("Until")
    window.press("Enter")
    window.sees("status", "Midstream: paused")
    window.shot("paused")
    window.click("[id$='midstream.status'] a")
    window.sees("rows", "Go On")
    window.press("Enter")
    window.is_ready()


def test_what_can_be_done_has_names_to_be_heard(window: Window) -> None:
    edited(window)
    for name in ("Accept All (Tab)", "Revert All", "Redirect", "Think Harder", "Accept This"):
        window.hears("button", name)
    window.hears("button", "Midstream: ready, scripted")
    window.click("[id$='midstream.status'] a")
    window.sees("rows", "Pause…")
    window.hears("option", "Pause…, send nothing while you type")
    window.press("Escape")
    window.focus()
    window.press("Tab")
    window.press("Control+i")
    window.hears("textbox", "What should change? - Midstream: edit area")
    window.hears("option", "Say what to change, or choose")


def test_a_killed_server_comes_back(window: Window) -> None:
    window.kill_server()
    window.shot("recovered")
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


def test_a_server_that_keeps_dying_is_started_again_only_on_request(window: Window) -> None:
    for _ in range(4):
        window.kill_server()
    window.kill_server(comes_back=False)
    window.sees("notifications", "keeps ending by itself")
    window.sees("status", "needs attention")
    window.shot("crash-loop")
    window.click(".notification-list-item .monaco-button:has-text('Start Again')")
    window.is_ready()


def test_a_key_reaches_the_server_and_no_file(window: Window) -> None:
    value = "a-key-for-the-secret-storage"
    window.command("Midstream: Set Key")
    window.sees("rows", "Another name")
    window.shot("keys")
    window.type("Another")
    window.press("Enter")
    window.sees("pickPrompt", "Name of the environment variable")
    window.type("MIDSTREAM_STORED_KEY")
    window.press("Enter")
    window.sees("pickPrompt", "The key, kept in")
    window.type(value)
    window.shot("key")
    before = window.servers()
    window.press("Enter")
    window.has_restarted(before)
    (server,) = window.servers()
    assert f"MIDSTREAM_STORED_KEY={value}".encode() in environment(server)
    assert not window.files_with(value)


def test_the_walkthrough_opens(window: Window) -> None:
    window.command("Welcome: Open Walkthrough")
    window.sees("rows", "Start with Midstream")
    window.type("Start with Mid")
    window.press("Enter")
    window.sees("walkthrough", "Say what to change")
    window.shot("walkthrough")


THEMES = {
    "dark": ("Default Dark+", "vs-dark"),
    "high-contrast": ("Default High Contrast", "hc-black"),
    "high-contrast-light": ("Default High Contrast Light", "hc-light"),
}


@pytest.mark.parametrize("name", THEMES)
def test_it_is_readable_in_other_themes(window: Window, name: str) -> None:
    window.show_in(*THEMES[name])
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
    window.show_in("Default Light+", "vs")
