"""A function is rewritten live in every editor: typed around, interrupted, redirected and taken back."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.editors.clients import real_client
from tests.support.editors.driver import Driver, wait_for
from tests.support.editors.model import ENVIRONMENT, Model
from tests.support.model_server import Turn

EDITORS = ["neovim", "helix", "emacs", "emacs with lsp-mode", "vscode"]
SERVER = [sys.executable, "-m", "lsp_server", "serve"]
BEFORE = """\
def report(items):
    total = 0
    for item in items:
        total = total + item
    mean = total / len(items)
    smallest = min(items)
    largest = max(items)
    print("📦 total", total)
    print("mean", mean)
    print("range", smallest, largest)
    return total
"""
AFTER = """\
def report(items: list[int]) -> int:
    \"\"\"Print what is worth knowing.\"\"\"
    total = 0
    for number in items:
        total += number
    mean = total / len(items)
    smallest = min(items)
    largest = max(items)
    print("📦 total:", total)
    print(f"mean {mean:.2f}")
    print(f"range {smallest} to {largest}")
    return total
"""
REDIRECTED = """\
def report(items: list[int]) -> int:
    \"\"\"Print what is worth knowing.\"\"\"
    total = sum(items)
    mean = total / len(items)
    smallest = min(items)
    largest = max(items)
    print("📦 total", total)
    print("mean", mean)
    print("range", smallest, largest)
    return total
"""
HALF = AFTER.index("largest = ")
FIRST, REST = f"```python\n{AFTER[:HALF]}", f"{AFTER[HALF:]}```\n"
TAIL = "\n\n# 📝 notes\n"
INSTRUCTION = "add types and a docstring"


class Desk:
    """One editor on a file with the function, with its server and the scripted model."""

    def __init__(self, editor: Driver, model: Model, path: Path) -> None:
        self.editor, self.model, self.path = editor, model, path

    def open(self, name: str) -> None:
        """A new file, served once it answers a command."""
        self.path = self.path.with_name(f"{name}.py")
        self.path.write_text(BEFORE + TAIL)
        self.editor.open(self.path)
        self.editor.wait_until_served()

    def edit(self) -> Turn:
        """Ask for the edit, at the loop; the model's turn."""
        place = {"line": 2, "character": 8}
        self.run("midstream.edit", position=place, instruction=INSTRUCTION)
        return self.turn()

    def turn(self) -> Turn:
        """The model's next turn; without one, what the editor shows may say why."""
        try:
            return self.model.turn()
        except TimeoutError:
            terminal = getattr(self.editor, "terminal", None)
            pytest.fail(f"the model was not asked\n{terminal.screen() if terminal else self.editor.text()}")

    def run(self, command: str, **argument: object) -> None:
        self.editor.run(command, {"uri": self.path.as_uri(), **argument})

    def speak(self, turn: Turn, text: str, pieces: int = 20) -> None:
        """Let the model say text in so many pieces."""
        size = -(-len(text) // pieces)
        self.model.say(turn, *(text[at : at + size] for at in range(0, len(text), size)))

    def see(self, text: str) -> None:
        wait_for(lambda: self.editor.text() == text, f"\n{text}\nnot\n{self.editor.text()}\n")

    def see_part(self, text: str) -> None:
        wait_for(lambda: text in self.editor.text(), f"{text!r} in {self.editor.text()!r}")


@pytest.fixture(scope="module", params=EDITORS)
def desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("work")
    with Model() as model:
        options = model.options(
            complete={"enabled": False}, edit={"format": "scope", "onForeignChange": "rebase"}
        )
        with real_client(request.param, SERVER, folder, options, ENVIRONMENT) as editor:
            yield Desk(editor, model, folder / "none.py")


def test_an_edit_streams_and_is_taken_back(desk: Desk) -> None:
    desk.open("revert")
    turn = desk.edit()
    desk.speak(turn, FIRST)
    desk.see_part("list[int]")
    desk.speak(turn, REST)
    desk.model.finish(turn)
    desk.see(AFTER + TAIL)
    desk.run("midstream.revert")
    desk.see(BEFORE + TAIL)


def test_typing_on_another_line_goes_on(desk: Desk) -> None:
    desk.open("another_line")
    desk.editor.go_to("# 📝 notes")
    turn = desk.edit()
    desk.speak(turn, FIRST)
    desk.see_part("list[int]")
    desk.editor.go_to("# 📝 notes")
    for word in (" to", " be", " kept"):
        desk.editor.type(word)
    desk.speak(turn, REST)
    desk.model.finish(turn)
    desk.see(AFTER + TAIL.replace("# 📝 notes", "# 📝 notes to be kept"))


def test_typing_inside_interrupts(desk: Desk) -> None:
    desk.open("inside")
    turn = desk.edit()
    desk.speak(turn, FIRST)
    desk.see_part("list[int]")
    desk.editor.go_to("return total")
    desk.editor.type("[0]")
    desk.model.wait_until_freed(turn)
    desk.see_part("return total[0]\n")
    assert 'print("range", smallest, largest)' in desk.editor.text()


def test_a_new_instruction_redirects(desk: Desk) -> None:
    desk.open("redirect")
    turn = desk.edit()
    desk.speak(turn, FIRST)
    desk.see_part("list[int]")
    desk.run("midstream.redirect", instruction="use sum")
    second = desk.turn()
    desk.model.wait_until_freed(turn)
    assert INSTRUCTION in second.text and "use sum" in second.text
    desk.speak(second, f"```python\n{REDIRECTED}```\n")
    desk.model.finish(second)
    desk.see(REDIRECTED + TAIL)


def test_undo_takes_it_back_in_a_few_steps(desk: Desk) -> None:
    desk.open("undo")
    turn = desk.edit()
    desk.speak(turn, FIRST)
    desk.see_part("list[int]")
    desk.speak(turn, REST)
    desk.model.finish(turn)
    desk.see(AFTER + TAIL)
    steps = 0
    while desk.editor.text() != BEFORE + TAIL:
        before = desk.editor.text()
        desk.editor.undo()
        wait_for(lambda before=before: desk.editor.text() != before, "an undo step")
        steps += 1
    assert steps <= 8
