"""Helix in a terminal."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.support.editors import install
from tests.support.editors.driver import wait_for
from tests.support.editors.terminal import Terminal

LANGUAGES = """
[language-server.midstream]
command = {program}
args = {arguments}
config = {options}

[[language]]
name = "python"
language-servers = ["midstream"]
"""

CONFIGURATION = """
[editor]
auto-save = false
auto-pairs = false
auto-completion = {completion}

[editor.lsp]
display-messages = true
"""


class Helix:
    """A running Helix whose language server for Python is `command`, unless `languages` says otherwise.

    `keys` is added to its `config.toml`.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        languages: str | None = None,
        completion: bool = False,
        keys: str = "",
        options: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        configuration = folder / ".config/helix"
        configuration.mkdir(parents=True, exist_ok=True)
        program, *arguments = [json.dumps(part) for part in command]
        (configuration / "languages.toml").write_text(
            languages
            or LANGUAGES.format(
                program=program, arguments=f"[{', '.join(arguments)}]", options=toml(dict(options or {}))
            )
        )
        (configuration / "config.toml").write_text(
            CONFIGURATION.format(completion=json.dumps(completion)) + keys
        )
        self._path: Path | None = None
        self.terminal = Terminal(
            [str(install.helix())],
            folder,
            {
                "XDG_CONFIG_HOME": str(folder / ".config"),
                "XDG_CACHE_HOME": str(folder / ".cache"),
                "XDG_STATE_HOME": str(folder / ".state"),
                **(environment or {}),
            },
        )
        wait_for(lambda: "NOR" in self.terminal.screen(), "Helix")

    def open(self, path: Path) -> None:
        """Open a file and put the cursor at its start."""
        self.command(f"open {path}")
        self._path = path
        wait_for(lambda: path.name in self.terminal.screen().splitlines()[-2], f"{path.name} in Helix")
        self.terminal.press("g", "g")

    def wait_until_served(self) -> None:
        """Wait until Helix knows the server's commands."""
        wait_for(self._offers_commands, "the server's commands", pause=0.3)

    def type(self, text: str) -> None:
        """Type in insert mode at the cursor."""
        self._insert("i")
        last = text.rpartition("\n")[2]
        before = self.terminal.screen().count(last)
        self.terminal.type(text)
        wait_for(lambda: self.terminal.screen().count(last) > before, f"{text!r} in Helix")

    def go_to_end(self) -> None:
        """Begin to insert at the end of the last line."""
        self.normal()
        self.terminal.press("g", "e")
        self._insert("A")

    def go_to(self, text: str) -> None:
        """Begin to insert behind the first place that reads so."""
        self.normal()
        self.terminal.press("g", "g")
        self.terminal.type(f"/{text}")
        self.terminal.press("Enter")
        self._insert("a")

    def run(self, command: str, argument: Mapping[str, Any]) -> None:
        """Run a command of the server, by Helix's own command for it."""
        self.command(f"lsp-workspace-command {command} {json.dumps(argument)}")

    def undo(self) -> None:
        """Take back one undo step."""
        self.normal()
        self.terminal.press("u")

    def rest(self) -> None:
        """Helix holds nothing back."""

    def text(self) -> str:
        """The buffer, by way of its file."""
        path = self._path
        assert path is not None
        before = _modified(path)
        self.command("write!")
        wait_for(lambda: _modified(path) not in (None, before), "the file to be written")
        return path.read_bytes().decode()

    def command(self, command: str) -> None:
        """Run one of Helix's own commands."""
        self.normal()
        self.terminal.type(f":{command}")
        self.terminal.press("Enter")

    def normal(self) -> None:
        """Go to normal mode."""
        # An escape that nobody needed would turn the next key into its Alt twin.
        if " NOR " not in self.terminal.screen():
            self._escape(lambda: " NOR " in self.terminal.screen())

    def close(self) -> None:
        """End Helix, and with it the server."""
        self.terminal.close()

    def _offers_commands(self) -> bool:
        """Look into the picker of the servers' commands, which is empty until a server runs."""
        self.command("lsp-workspace-command")
        wait_for(lambda: "┌──" in self.terminal.screen(), "the picker")
        offered = "midstream.edit" in self.terminal.screen()
        self._escape(lambda: "┌──" not in self.terminal.screen())
        return offered

    def _escape(self, done: Callable[[], bool]) -> None:
        """Press Escape until it has worked: on a busy machine a terminal can lose one."""
        while not done():
            self.terminal.press("Escape")
            with suppress(AssertionError):
                wait_for(done, "Escape to work", seconds=1)

    def _insert(self, key: str) -> None:
        if " INS " not in self.terminal.screen():
            self.terminal.press(key)
            wait_for(lambda: " INS " in self.terminal.screen(), "insert mode")


def toml(value: object) -> str:
    """A value as TOML writes it on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(name)} = {toml(item)}" for name, item in value.items()) + "}"
    return json.dumps(value)


def _modified(path: Path) -> int | None:
    # Helix replaces the file, so that for a moment there is none, or an empty one.
    try:
        return path.stat().st_mtime_ns if path.stat().st_size else None
    except FileNotFoundError:
        return None
