"""The real clients by name, as drivers with one language server each."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.editors import install
from tests.support.editors.driver import Driver
from tests.support.editors.emacs import EGLOT, LSP_MODE, Emacs
from tests.support.editors.helix import Helix
from tests.support.editors.neovim import Neovim
from tests.support.editors.vscode import PLAIN, VSCode
from tests.support.fake_peer import FakePeer

ROOT = Path(__file__).parents[3]
CLIENTS = {
    "neovim": "neovim",
    "neovim without debounce": "neovim0",
    "helix": "helix",
    "emacs": "eglot",
    "emacs with lsp-mode": "lspmode",
    "vscode": "vscode",
    "vscode with whole texts": "full",
    "neovim with patches": "neovimpatch",
    "vscode with our extension": "applypatch",
}
"""What is driven, and the mode of the fake client that plays it."""


@contextmanager
def real_client(
    name: str,
    command: Sequence[str],
    folder: Path,
    options: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Driver]:
    """A running client whose language server for Python is `command`; skips where it is not installed.

    `options` are the `initializationOptions`, `environment` is added to that of the editor.
    """
    try:
        driver = _start(name, command, folder, options, environment)
    except install.Missing as missing:
        pytest.skip(str(missing))
    with closing(driver):
        yield driver


def _start(
    name: str,
    command: Sequence[str],
    folder: Path,
    options: Mapping[str, Any] | None,
    environment: Mapping[str, str] | None,
) -> Driver:
    match name:
        case "neovim" | "neovim without debounce":
            debounce = 500 if name == "neovim" else 0
            program = install.neovim()
            return Neovim(
                program, command, folder, debounce=debounce, options=options, environment=environment
            )
        case "neovim with patches":
            neovim = Neovim(
                install.neovim(), command, folder, debounce=0, options=options, environment=environment
            )
            neovim.api.exec_lua(
                "vim.lsp.config('midstream', dofile(...))",
                str(ROOT / "editors/nvim/snippets/apply_patch.lua"),
            )
            return neovim
        case "vscode with our extension":
            return with_our_extension(command, folder, options=options, environment=environment)
        case "helix":
            return Helix(command, folder, options=options, environment=environment)
        case "emacs" | "emacs with lsp-mode":
            client = EGLOT if name == "emacs" else LSP_MODE
            return Emacs(command, folder, client=client, options=options, environment=environment)
        case "vscode" | "vscode with whole texts":
            return VSCode(command, folder, options=options, environment=environment)
    raise KeyError(name)


def with_our_extension(
    command: Sequence[str],
    folder: Path,
    *,
    options: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> VSCode:
    """VS Code with the packaged extension, which runs `command` as Midstream; `options` are its settings."""
    program = folder.parent / f"{folder.name}-server"
    program.write_text("#!/bin/sh\nexec " + " ".join(map(shlex.quote, command)) + "\n")
    program.chmod(0o755)
    settings = {f"midstream.{name}": value for name, value in (options or {}).items()}
    return VSCode(
        None,
        folder,
        extensions=[install.extension()],
        settings={**PLAIN, "midstream.server.path": str(program), **settings},
        environment=environment,
    )


class FakeDriver:
    """The fake client behind the same handle."""

    def __init__(self, peer: FakePeer) -> None:
        self._peer = peer
        self._uri = ""

    def open(self, path: Path) -> None:
        """Open a file and put the cursor at its start."""
        self._uri = path.as_uri()
        self._peer.open(self._uri, path.read_bytes().decode())

    def wait_until_served(self) -> None:
        """The fake client never waits."""

    def type(self, text: str) -> None:
        """Type at the cursor."""
        self._peer.type(self._uri, text)

    def go_to_end(self) -> None:
        """Put the cursor at the end of the last line that has text."""
        self._peer.put_cursor(self._uri, len(self._peer.text(self._uri).rstrip("\r\n")))

    def go_to(self, text: str) -> None:
        """Put the cursor behind the first place that reads so."""
        self._peer.put_cursor(self._uri, self.text().index(text) + len(text))

    def run(self, command: str, argument: Mapping[str, Any]) -> None:
        """Run a command of the server, and go on."""
        self._peer.request("workspace/executeCommand", {"command": command, "arguments": [argument]})

    def undo(self) -> None:
        """Take back one undo step."""
        self._peer.undo(self._uri)

    def rest(self) -> None:
        """Let more time pass than the client ever waits."""
        self._peer.rest()

    def text(self) -> str:
        """The true text."""
        return self._peer.text(self._uri)

    def close(self) -> None:
        """Nothing runs."""
