"""What is around the editing: status, views, help, checks, and the snippet for those without the plugin."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.editors_nvim.conftest import one_version
from tests.editors_nvim.desk import PLUGIN, Desk
from tests.editors_nvim.test_edit import AFTER, BEFORE, FIRST, HALFWAY, OLD, REST
from tests.support.editors.driver import wait_for
from tests.support.editors.model import ENVIRONMENT, Model
from tests.support.editors.neovim import Neovim

pytestmark = pytest.mark.editor


def test_the_statusline_says_what_the_server_does(desk: Desk) -> None:
    desk.open("def f():\n    <|>pass\n")
    desk.is_idle()
    turn = desk.edit("return one")
    desk.say(turn, "def f():\n")
    wait_for(lambda: "working scripted" in desk.status(), f"a working status, not {desk.status()!r}")
    desk.answer(turn, "    return 1\n")
    desk.is_idle()


@one_version
def test_an_explanation_opens_beside_the_code(desk: Desk) -> None:
    desk.open("def f():\n    <|>pass\n")
    desk.vim.api.command("Midstream explain")
    desk.answer(desk.model.turn(), "`f` does nothing.")
    desk.shows("`f` does nothing.")
    assert len(list(desk.vim.api.windows)) == 2
    desk.vim.keys("q")
    assert len(list(desk.vim.api.windows)) == 1


def test_what_is_missing_is_told(desk: Desk) -> None:
    desk.open("<|>\n")
    desk.is_idle()
    desk.vim.api.command("checkhealth midstream")
    assert "running, with 1 buffer(s)" in desk.vim.text()
    assert "ERROR" not in desk.vim.text()


@one_version
def test_figures_are_shown_in_a_window(desk: Desk) -> None:
    desk.open("<|>\n")
    desk.vim.api.command("Midstream usage")
    desk.shows("- today:")


@one_version
def test_verbs_and_earlier_instructions_are_completed(desk: Desk) -> None:
    desk.open("def f():\n    <|>pass\n")
    assert desk.vim.api.call("getcompletion", *["Midstream re", "cmdline"]) == ["redirect", "revert"]
    desk.edit("return the answer")
    assert desk.vim.api.call("getcompletion", *["Midstream edit return t", "cmdline"]) == ["the answer"]


@one_version
def test_the_help_describes_the_command(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / "doc"
    folder.mkdir()
    (folder / "midstream.txt").write_text((PLUGIN / "doc/midstream.txt").read_text())
    desk.vim.api.command(f"set runtimepath+={tmp_path}")
    desk.vim.api.command(f"helptags {folder}")
    desk.vim.api.command("help :Midstream")
    assert "Rewrites the function at the cursor" in desk.vim.text()


@one_version
def test_an_unknown_verb_names_the_known_ones(desk: Desk) -> None:
    desk.vim.keys(":silent Midstream sing<CR>")
    desk.tells('there is no "sing"; try one of: accept, doctor, edit')


def test_a_killed_server_comes_back(desk: Desk) -> None:
    desk.open("def f():\n    <|>pass\n")
    desk.is_idle()
    desk.kill_server()
    desk.tells("the server ended by itself; starting it again")
    wait_for(desk.servers, "another server")
    desk.is_idle()
    desk.answer(desk.edit("return one"), "def f():\n    return 1\n")
    desk.shows("return 1")


@one_version
def test_a_server_that_keeps_dying_stays_down(desk: Desk) -> None:
    desk.open("def f():\n    <|>pass\n")
    for _ in range(5):
        desk.kill_server()
    desk.tells("the server keeps ending by itself")
    desk.vim.keys(":edit<CR>")
    wait_for(desk.servers, "another server")
    desk.is_idle()


def test_a_program_that_is_not_there_is_named(start: Callable[..., Desk], tmp_path: Path) -> None:
    desk = start(command=["/no/midstream"])
    path = tmp_path / "example.py"
    path.write_text("pass\n")
    desk.vim.open(path)
    desk.tells("`/no/midstream` is not an executable")
    desk.vim.api.command("checkhealth midstream")
    assert "`/no/midstream` is not an executable" in desk.vim.text()


@pytest.fixture
def snippet(program: Path, tmp_path: Path) -> Iterator[tuple[Neovim, Model]]:
    """A Neovim whose configuration holds the snippet and no plugin."""
    init = tmp_path / "init.lua"
    with Model() as model:
        options = "vim.json.decode(vim.env.MIDSTREAM_OPTIONS)"
        init.write_text(
            f"local patch = dofile('{PLUGIN}/snippets/apply_patch.lua')\n"
            "vim.lsp.config('midstream', vim.tbl_deep_extend('force', patch, {\n"
            f"  cmd = {{ '{sys.executable}', '-m', 'lsp_server', 'serve' }}, init_options = {options},\n"
            "}))\n"
            "vim.lsp.enable('midstream')\n"
        )
        environment = {
            **ENVIRONMENT,
            "MIDSTREAM_OPTIONS": json.dumps(model.options()),
            "MIDSTREAM_CACHE": str(tmp_path / "cache"),
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
        }
        neovim = Neovim(program, None, tmp_path, init=init, environment=environment)
        yield neovim, model
        neovim.close()


def test_the_snippet_alone_makes_an_edit_one_undo_step(snippet: tuple[Neovim, Model], tmp_path: Path) -> None:
    neovim, model = snippet
    path = tmp_path / "example.py"
    path.write_text(BEFORE)
    neovim.open(path)
    neovim.wait_until_served()
    here = {"line": BEFORE[: BEFORE.index(OLD)].count("\n"), "character": 0}
    neovim.start_call("midstream.edit", {"position": here, "instruction": "say what it is", "wait": True})
    turn = model.turn()
    model.say(turn, FIRST)
    wait_for(lambda: neovim.text() == HALFWAY, "the first patch")
    model.say(turn, REST)
    model.finish(turn)
    assert neovim.end_call()["outcome"] == "done"
    assert neovim.text() == AFTER
    neovim.undo()
    assert neovim.text() == BEFORE
