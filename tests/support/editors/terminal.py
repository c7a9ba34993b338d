"""A terminal for editors that want one: a tmux server of its own, without the user's configuration."""

import os
import signal
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.support.editors import install


class Terminal:
    """A program in a terminal of 120 by 40."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._socket = f"midstream-{uuid.uuid4().hex[:12]}"
        variables = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "screen-256color", **environment}
        settings = [part for name, value in variables.items() for part in ("-e", f"{name}={value}")]
        self._tmux(
            *("-f", "/dev/null", "new-session", "-d", "-s", "main", "-x", "120", "-y", "40"),
            *("-c", str(folder)),
            *settings,
            *command,
        )
        self._pid = int(self._tmux("display-message", "-p", "-t", "main", "#{pane_pid}"))

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names: `Escape`, `C-x`, `Enter`, or single characters."""
        self._tmux("send-keys", "-t", "main", *keys)

    def type(self, text: str) -> None:
        """Type text as it is."""
        for number, line in enumerate(text.split("\n")):
            if number:
                self.press("Enter")
            if line:
                self._tmux("send-keys", "-t", "main", "-l", "--", line)

    def screen(self) -> str:
        """What the terminal shows."""
        return self._tmux("capture-pane", "-p", "-t", "main")

    def close(self) -> None:
        """End the program and its terminal.

        A program that hears that its terminal is gone may still wait for ever for a server that is gone too.
        """
        run = subprocess.run([*self._command, "kill-server"], capture_output=True, check=False)
        if run.returncode == 0:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    @property
    def _command(self) -> list[str]:
        return [str(install.tmux()), "-L", self._socket]

    def _tmux(self, *arguments: str) -> str:
        environment = {name: value for name, value in os.environ.items() if name != "TMUX"}
        run = subprocess.run(
            [*self._command, *arguments], capture_output=True, text=True, env=environment, check=True
        )
        return run.stdout
