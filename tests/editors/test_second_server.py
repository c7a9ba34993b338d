"""The completion list of Helix, with the entries of another server beside ours."""

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.command import ROOT
from tests.support.editors import install
from tests.support.editors.driver import wait_for
from tests.support.editors.helix import Helix, toml
from tests.support.editors.model import ENVIRONMENT, Model

LANGUAGES = """
[language-server.words]
command = {python}
args = ["-m", "tests.support.word_server", {ready}, "address", "adapt"]
environment = {{ PYTHONPATH = {root} }}

[language-server.midstream]
command = {python}
args = ["-m", "lsp_server", "serve"]
environment = {{ PYTHONPATH = {root} }}
config = {options}

[[language]]
name = "python"
language-servers = ["words", "midstream"]
"""
BEFORE = "def address():\n    return\n"


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as model:
        yield model


@pytest.fixture
def editor(model: Model, tmp_path: Path) -> Iterator[Helix]:
    ready = tmp_path / "ready"
    languages = LANGUAGES.format(
        python=json.dumps(sys.executable),
        root=json.dumps(str(ROOT)),
        ready=json.dumps(str(ready)),
        options=toml(model.options()),
    )
    own = {"MIDSTREAM_CONFIG": str(tmp_path / "none"), "MIDSTREAM_USAGE_FILE": str(tmp_path / "usage")}
    environment = {**ENVIRONMENT, **own}
    try:
        helix = Helix(["-"], tmp_path, languages=languages, completion=True, environment=environment)
    except install.Missing as missing:
        pytest.skip(str(missing))
    with closing(helix):
        file = tmp_path / "example.py"
        file.write_text(BEFORE)
        helix.open(file)
        wait_for(ready.exists, "the other server")
        helix.wait_until_served()
        helix.go_to_end()
        yield helix


def see(editor: Helix, *entries: str) -> None:
    """Wait until the list shows these entries."""
    wait_for(
        lambda: all(entry in editor.terminal.screen() for entry in entries),
        f"{entries} in the list",
        pause=0.2,
    )


def choose(editor: Helix, told: str) -> None:
    """Go through the list to the entry that explains itself so, and accept it."""
    for _ in range(4):
        editor.terminal.press("Tab")
        try:
            wait_for(lambda: told in editor.terminal.screen(), told, seconds=2, pause=0.2)
            break
        except AssertionError:
            continue
    editor.terminal.press("Enter")


def test_entries_of_both_servers_stand_side_by_side(editor: Helix, model: Model) -> None:
    model.always("dress(1)\n")
    editor.type(" ad")
    see(editor, "adapt", "address(1)")
    choose(editor, "Midstream")
    wait_for(lambda: editor.text() == "def address():\n    return address(1)\n", "our text")


def test_the_other_servers_entry_is_its_own(editor: Helix, model: Model) -> None:
    model.always("dress(1)\n")
    editor.type(" ad")
    see(editor, "adapt", "address(1)")
    choose(editor, "a word")
    wait_for(
        lambda: editor.text() in (f"{BEFORE[:-1]} {word}\n" for word in ("address", "adapt")),
        "the word of the other server",
    )


def test_typing_on_asks_again_although_the_other_list_is_complete(editor: Helix, model: Model) -> None:
    model.always("dress(1)\n")
    editor.type(" ad")
    see(editor, "adapt", "address(1)")
    model.always("ed(2)\n")
    editor.type("apt")
    see(editor, "adapted(2)")
    assert "address(1)" not in editor.terminal.screen()
    assert "return adapt" in model.turns[-1].text
