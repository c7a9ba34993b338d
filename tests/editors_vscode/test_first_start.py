"""The first start after the extension was installed, on a machine that has Python and nothing of ours."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.real_model import midstream
from tests.e2e.test_model_completion import CART
from tests.editors_vscode.conftest import skip_unless_installed
from tests.editors_vscode.window import Window, until
from tests.local.real import DEFAULT, cache_with
from tests.support.editors.driver import wait_for
from tests.support.editors.model import Model

pytestmark = [pytest.mark.model, pytest.mark.timeout(400)]


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Window]:
    """A window with no settings and no `midstream` on the path; only the weights are here already."""
    skip_unless_installed()
    python = Path(sys.base_prefix) / "bin"
    path = [folder for folder in os.environ["PATH"].split(":") if not (Path(folder) / "midstream").exists()]
    monkeypatch.setenv("PATH", ":".join([str(python), *path]))
    home = tmp_path / "project-vscode"
    cache_with(DEFAULT, monkeypatch, home / "cache")
    with Model() as model:
        window = Window(tmp_path / "project", model, {}, {}, trust=False)
        try:
            yield window
        finally:
            window.code.close()
            monkeypatch.setenv("MIDSTREAM_CONFIG", str(home / "config.toml"))
            midstream("host", "stop")


def test_ghost_text_comes_without_a_terminal(fresh: Window) -> None:
    fresh.begin()
    fresh.sees("notifications", "setting up its server (once)")
    fresh.shot("first-start")
    wait_for(lambda: fresh.servers() or failed(fresh), "the server", 300, pause=0.5)
    assert not failed(fresh), "the packages cannot be had here"
    fresh.is_ready()
    fresh.sees("walkthrough", "A model on this machine")
    fresh.shot("welcome")
    fresh.open(CART)
    # What is typed while the model is read from the disk gets no answer.
    for _ in range(5):
        fresh.type(".")
        if wait_until_seen(fresh):
            break
        fresh.press("Backspace")
    fresh.shot("first-ghost")
    until(fresh.ghost, lambda seen: bool(re.match(r" ?items\b", seen)), "what the cart holds")
    (server,) = fresh.servers()
    assert (Path(f"/proc/{server}/cmdline").read_bytes().split(b"\0")[0]).startswith(bytes(fresh.home))


def failed(window: Window) -> bool:
    """True when the user was told that there is no server."""
    return "Setting up the server failed" in str(window.read("notifications"))


def wait_until_seen(window: Window) -> bool:
    """True when a suggestion comes."""
    try:
        wait_for(window.ghost, "a suggestion", 10)
    except AssertionError:
        return False
    return True
