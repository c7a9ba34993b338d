"""Neovim with the plugin, the real server and the scripted model, on one file."""

import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.editors.driver import wait_for
from tests.support.editors.model import ENVIRONMENT, Model
from tests.support.editors.neovim import Neovim
from tests.support.marked import parse
from tests.support.model_server import Turn
from tests.support.processes import servers

HERE = Path(__file__).parent
PLUGIN = HERE.parents[1] / "editors" / "nvim"
SERVER = [sys.executable, "-m", "lsp_server", "serve"]


class Desk:
    """One running Neovim. What the tests wait for is read off the buffer, the screen, or the model's side."""

    def __init__(
        self,
        program: Path,
        folder: Path,
        model: Model,
        command: Sequence[str] = SERVER,
        **settings: Any,
    ) -> None:
        self.model = model
        self._folder = folder
        self._opened = 0
        self._at_line_end = False
        options = model.options(**settings)
        self.vim = self._start(program, {"cmd": list(command), "settings": options})

    def _start(self, program: Path, setup: Mapping[str, Any]) -> Neovim:
        environment = {
            **ENVIRONMENT,
            "MIDSTREAM_PLUGIN": str(PLUGIN),
            "MIDSTREAM_SETUP": json.dumps(setup),
            "MIDSTREAM_CACHE": str(self._folder / "cache"),
            "XDG_CONFIG_HOME": str(self._folder / "config"),
            "XDG_DATA_HOME": str(self._folder / "data"),
        }
        return Neovim(program, None, self._folder, init=HERE / "init.lua", environment=environment)

    def open(self, source: str) -> None:
        """A file of its own with the text, the cursor where the mark is, nothing typed yet."""
        marked = parse(source)
        self._opened += 1
        path = self._folder / f"example_{self._opened}.py"
        path.write_text(marked.text)
        self.vim.open(path)
        self.vim.wait_until_served()
        before = marked.text[: marked.at].split("\n")
        self.vim.api.current.window.cursor = (len(before), len(before[-1].encode()))
        self._at_line_end = marked.text[marked.at : marked.at + 1] in ("", "\n")

    def insert(self, text: str) -> None:
        """Begin to insert at the mark, as fast as one types without looking."""
        self.vim.keys(("A" if self._at_line_end else "i") + text)

    def edit(self, instruction: str) -> Turn:
        """Ask for an edit of the function at the cursor; the request as the model sees it."""
        self.vim.api.command(f"Midstream edit {instruction}")
        return self.model.turn()

    @property
    def asked(self) -> int:
        """How often the model was asked for an answer; reading a file ahead is none."""
        return sum(turn.create.generate for turn in self.model.turns)

    def say(self, turn: Turn, text: str) -> None:
        """A piece of the model's answer."""
        self.model.say(turn, text)

    def answer(self, turn: Turn, text: str) -> None:
        """The rest of the model's answer."""
        self.model.say(turn, text)
        self.model.finish(turn)

    def sees(self, ghost: str) -> None:
        wait_for(lambda: self.vim.ghost() == ghost, f"the ghost text {ghost!r}")

    def reads(self, text: str) -> None:
        """The buffer gets to hold the text."""
        wait_for(lambda: self.vim.text() == text, f"the text {text!r}, not {self.vim.text()!r}")

    def shows(self, part: str) -> None:
        """The buffer gets to hold a part."""
        wait_for(lambda: part in self.vim.text(), f"{part!r} in {self.vim.text()!r}")

    def tells(self, part: str) -> None:
        """The user is told a sentence."""
        wait_for(lambda: part in self.vim.messages(), f"{part!r} in {self.vim.messages()!r}")

    def kill_server(self) -> None:
        """The language server dies at once."""
        (server,) = wait_for(self.servers, "the server")
        os.kill(server, signal.SIGKILL)
        wait_for(lambda: server not in self.servers(), "its end")

    def servers(self) -> Sequence[int]:
        """The language servers of this Neovim that run."""
        return servers(self._folder / "cache")

    def is_idle(self) -> None:
        wait_for(lambda: "ready" in self.status(), f"the status {self.status()!r}")

    def status(self) -> str:
        """The statusline as it is on the screen."""
        return str(self.vim.api.eval("nvim_eval_statusline(&statusline, {}).str"))
