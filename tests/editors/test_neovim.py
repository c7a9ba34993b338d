"""Ghost text and streamed edits in Neovim, without a plugin: what a user sees, and what the model sees."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.editors import install
from tests.support.editors.driver import wait_for
from tests.support.editors.model import ENVIRONMENT, Model
from tests.support.editors.neovim import Neovim
from tests.support.marked import parse

SERVER = [sys.executable, "-m", "lsp_server", "serve"]


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as model:
        yield model


@pytest.fixture
def editor(model: Model, tmp_path: Path) -> Iterator[Neovim]:
    """Neovim 0.12 with the configuration of the README."""
    try:
        program = install.neovim()
    except install.Missing as missing:
        pytest.skip(str(missing))
    neovim = Neovim(program, SERVER, tmp_path, options=model.options(), environment=ENVIRONMENT, debounce=0)
    yield neovim
    neovim.close()


def start(editor: Neovim, folder: Path, source: str) -> None:
    """Open a file with marks in it, and begin to insert at its cursor."""
    marked = parse(source)
    path = folder / "example.py"
    path.write_text(marked.text)
    editor.open(path)
    editor.wait_until_served()
    editor.insert_at(marked.at)


def see(editor: Neovim, ghost: str) -> None:
    wait_for(lambda: editor.ghost() == ghost, f"the ghost text {ghost!r}, not {editor.ghost()!r}")


def test_type_see_and_accept(editor: Neovim, model: Model, tmp_path: Path) -> None:
    model.always("a + b")
    start(editor, tmp_path, "def add(a, b):\n    <|>\n")
    editor.type("return ")
    see(editor, "a + b")
    editor.accept()
    assert editor.text() == "def add(a, b):\n    return a + b\n"


def test_typing_along_the_suggestion_asks_nobody(editor: Neovim, model: Model, tmp_path: Path) -> None:
    start(editor, tmp_path, "def add(a, b):\n    <|>\n")
    editor.type("return ")
    turn = model.turn()
    model.say(turn, "a + b\n")
    model.finish(turn)
    see(editor, "a + b")
    editor.type("a +")
    see(editor, " b")
    editor.accept()
    assert editor.text() == "def add(a, b):\n    return a + b\n"
    assert len([turn for turn in model.turns if turn.create.generate]) == 1


def test_typing_against_the_suggestion_frees_the_model(editor: Neovim, model: Model, tmp_path: Path) -> None:
    start(editor, tmp_path, "def add(a, b):\n    <|>\n")
    editor.type("return")
    overtaken = model.turn()
    model.say(overtaken, " a + b")
    editor.type("(")
    model.wait_until_freed(overtaken)
    turn = model.turn()
    model.say(turn, "a + b)")
    model.finish(turn)
    see(editor, "a + b)")
    editor.accept()
    assert editor.text() == "def add(a, b):\n    return(a + b)\n"


def test_fast_typing_leaves_one_generation(editor: Neovim, model: Model, tmp_path: Path) -> None:
    start(editor, tmp_path, "def total(items):\n    <|>\n")
    first = None
    for key in "result = ":
        editor.type(key)
        first = first or model.turn()
    wait_for(lambda: model.server.running <= 1, "the overtaken generations to be freed")
    wait_for(lambda: "result =" in model.turns[-1].text, "the last request")
    model.wait_until_freed(first)
    model.say(model.turns[-1], "sum(items)")
    model.finish(model.turns[-1])
    see(editor, "sum(items)")
    assert all(turn.closed.is_set() for turn in model.turns)
