"""What docs/editors.md says, pasted as it stands into a real editor with a home of its own."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeVar

import pytest

from tests.support.command import ROOT, Machine
from tests.support.editors import install
from tests.support.editors.driver import Driver, wait_for
from tests.support.editors.emacs import EGLOT, LSP_MODE, Emacs
from tests.support.editors.helix import Helix
from tests.support.editors.model import Model
from tests.support.editors.neovim import Neovim

T = TypeVar("T")
PAGE = (ROOT / "docs/editors.md").read_text()
EMACS = ["Emacs with eglot", "Emacs with lsp-mode"]
NO_QUESTION = "(setq lsp-auto-guess-root t)"
"""lsp-mode asks for the root of a new project, whatever the server."""
BEFORE = """\
def report(items):
    total = 0
    for item in items:
        total = total + item
    smallest = min(items)
    largest = max(items)
    return total, smallest, largest
"""
HALF = """\
def report(items: list[int]) -> int:
    total = 0
    for item in items:
        total += item
    smallest = min(items)
"""
AFTER = """\
def report(items: list[int]) -> int:
    total = sum(items)
    smallest = min(items)
    largest = max(items)
    return total, smallest, largest
"""


def blocks(heading: str) -> list[str]:
    """The code blocks of one section of the page."""
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert section is not None, heading
    return re.findall(r"^```\w+\n(.*?)^```$", section[1], re.MULTILINE | re.DOTALL)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A home with the repository in it, where the page says it is, and `midstream` on the PATH."""
    (tmp_path / "midstream").symlink_to(ROOT)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return Machine(tmp_path)


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as model:
        yield model


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def environment(machine: Machine) -> dict[str, str]:
    """What an editor there finds in its environment beside that of the tests."""
    return {name: value for name, value in machine.environment.items() if os.environ.get(name) != value}


def edit_file(machine: Machine, editor: Driver, text: str) -> None:
    """A file with this text, open and served."""
    folder = machine.home / "project"
    folder.mkdir()
    file = folder / "example.py"
    file.write_text(text)
    editor.open(file)
    editor.wait_until_served()


def start_neovim(machine: Machine, opened: ExitStack, section: str, program: Path) -> Neovim:
    (configuration,) = blocks(section)
    init = machine.home / "init.lua"
    init.write_text(configuration)
    neovim = Neovim(program, None, machine.home, init=init, environment=environment(machine))
    return opened.enter_context(closing(neovim))


def start_helix(machine: Machine, opened: ExitStack) -> Helix:
    languages, keys = blocks("Helix")
    helix = Helix(
        ["midstream"],
        machine.home,
        languages=languages,
        keys=keys,
        completion=True,
        environment=environment(machine),
    )
    return opened.enter_context(closing(helix))


def start_emacs(machine: Machine, opened: ExitStack, section: str) -> Emacs:
    (configuration,) = blocks(section)
    client = EGLOT if section.endswith("eglot") else LSP_MODE
    lisp = f"{NO_QUESTION}\n{configuration}"
    emacs = Emacs([], machine.home, client=client, lisp=lisp, environment=environment(machine))
    return opened.enter_context(closing(emacs))


@pytest.mark.parametrize("section", ["Neovim 0.12", "Neovim 0.11"])
def test_neovim_shows_ghost_text_and_edits(
    machine: Machine, model: Model, opened: ExitStack, section: str
) -> None:
    machine.use(model.server.face.url)
    program = _installed(install.neovim if section == "Neovim 0.12" else install.neovim_011)
    editor = start_neovim(machine, opened, section, program)
    model.always("a + b")
    edit_file(machine, editor, "def add(a, b):\n    \n")
    editor.go_to("    ")
    editor.type("return ")
    wait_for(lambda: editor.ghost() == "a + b", "the ghost text")
    editor.keys("<Tab>")
    wait_for(lambda: editor.text() == "def add(a, b):\n    return a + b\n", "the accepted text")
    model.always("```python\ndef add(a: int, b: int) -> int:\n    return a + b\n```\n")
    editor.keys("<Esc>\\me")
    editor.keys("add types<CR>")
    wait_for(lambda: "a: int" in editor.text() and "```" not in editor.text(), "the edit")
    editor.keys("\\mu")
    wait_for(lambda: editor.text() == "def add(a, b):\n    return a + b\n", "the text as it was")


def test_helix_completes(machine: Machine, model: Model, opened: ExitStack) -> None:
    machine.use(model.server.face.url)
    editor = _installed(lambda: start_helix(machine, opened))
    edit_file(machine, editor, "def add(a, b):\n    return\n")
    model.always("a + b")
    editor.go_to_end()
    editor.type(" ")
    wait_for(lambda: "a + b" in editor.terminal.screen(), "the entry", pause=0.2)
    editor.terminal.press("Tab")
    editor.terminal.press("Enter")
    wait_for(lambda: editor.text() == "def add(a, b):\n    return a + b\n", "the accepted text")


def test_helix_edits_and_redirects(machine: Machine, model: Model, opened: ExitStack) -> None:
    machine.use(model.server.face.url, complete=False)
    editor = _installed(lambda: start_helix(machine, opened))
    first, rest = BEFORE.split("\n", 1)
    edit_file(machine, editor, f"{first}\n    # midstream: add types\n{rest}")
    editor.go_to("add types")
    editor.normal()
    editor.terminal.press("Space", "a")
    wait_for(lambda: "Do: add types" in editor.terminal.screen(), "the code action", pause=0.2)
    editor.terminal.press("Enter")
    turn = model.turn()
    assert "add types" in turn.text
    model.say(turn, "```python\n" + HALF)
    wait_for(lambda: "list[int]" in editor.text(), "the first line", pause=0.2)
    editor.terminal.press("Space", "m", "r")
    editor.terminal.type("use sum")
    editor.terminal.press("Enter")
    second = model.turn()
    model.wait_until_freed(turn)
    assert "add types" in second.text and "use sum" in second.text
    model.say(second, f"```python\n{AFTER}```\n")
    model.finish(second)
    wait_for(lambda: editor.text() == AFTER, f"the edit, not {editor.text()}", pause=0.2)
    editor.terminal.press("Space", "m", "u")
    wait_for(lambda: "total = total + item" in editor.text(), "the text as it was", pause=0.2)


@pytest.mark.parametrize("section", EMACS)
def test_emacs_completes(machine: Machine, model: Model, opened: ExitStack, section: str) -> None:
    machine.use(model.server.face.url)
    editor = _installed(lambda: start_emacs(machine, opened, section))
    edit_file(machine, editor, "def add(a, b):\n    return\n")
    model.always("a + b")
    editor.go_to_end()
    editor.type(" ")
    editor.rest()
    editor.terminal.press("Escape", "Tab")
    wait_for(lambda: editor.text() == "def add(a, b):\n    return a + b\n", "the accepted text")


@pytest.mark.parametrize("section", EMACS)
def test_emacs_completes_a_block(machine: Machine, model: Model, opened: ExitStack, section: str) -> None:
    machine.use(model.server.face.url)
    editor = _installed(lambda: start_emacs(machine, opened, section))
    edit_file(machine, editor, "def add(a, b):\n    \n")
    block = "if a:\n        return b\n    return a + b\n"
    model.always(block)
    editor.go_to("    ")
    editor.terminal.press("Escape", "Tab")
    wait_for(lambda: editor.text() == f"def add(a, b):\n    {block}", f"the block, not {editor.text()}")


@pytest.mark.parametrize("section", EMACS)
def test_emacs_edits_and_redirects(machine: Machine, model: Model, opened: ExitStack, section: str) -> None:
    machine.use(model.server.face.url, complete=False)
    editor = _installed(lambda: start_emacs(machine, opened, section))
    edit_file(machine, editor, BEFORE)
    editor.go_to("total = 0")
    editor.terminal.press("C-c", "m", "e")
    editor.terminal.type("add types")
    editor.terminal.press("Enter")
    turn = model.turn()
    assert "add types" in turn.text
    model.say(turn, "```python\n" + HALF)
    wait_for(lambda: "list[int]" in editor.text(), "the first line")
    editor.terminal.press("C-c", "m", "r")
    editor.terminal.type("use sum")
    editor.terminal.press("Enter")
    second = model.turn()
    model.wait_until_freed(turn)
    assert "add types" in second.text and "use sum" in second.text
    model.say(second, f"```python\n{AFTER}```\n")
    model.finish(second)
    wait_for(lambda: editor.text() == AFTER, "the edit")
    editor.terminal.press("C-c", "m", "u")
    wait_for(lambda: editor.text() == BEFORE, "the text as it was")


def test_the_others_say_that_they_were_not_tried() -> None:
    tried = {"What works everywhere", "Neovim 0.12", "Neovim 0.11", "Helix", *EMACS}
    for heading, text in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL):
        assert (heading in tried) != ("ot tried here" in text), heading


def _installed(have: Callable[[], T]) -> T:
    """What is to be had; where the editor is not here the test skips."""
    try:
        return have()
    except install.Missing as missing:
        pytest.skip(str(missing))
