"""Neovim, headless and with its own process, driven through its API."""

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pynvim  # type: ignore[import-untyped]

from tests.support.editors.driver import wait_for

GHOST = """
local seen = {}
for name, space in pairs(vim.api.nvim_get_namespaces()) do
  if name:find('inline_completion') or name:find('midstream') then
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })) do
      local lines = { '' }
      for _, chunk in ipairs(mark[4].virt_text or {}) do lines[1] = lines[1] .. chunk[1] end
      for _, line in ipairs(mark[4].virt_lines or {}) do
        local text = ''
        for _, chunk in ipairs(line) do text = text .. chunk[1] end
        lines[#lines + 1] = text
      end
      seen[#seen + 1] = table.concat(lines, '\\n')
    end
  end
end
return table.concat(seen, '\\n')
"""

CALL = """
local name, command, argument = ...
local client = vim.lsp.get_clients({ bufnr = 0, name = name })[1]
_G.midstream_answer = nil
local params = { command = command, arguments = { argument } }
client:request('workspace/executeCommand', params, function(problem, result)
  _G.midstream_answer = { problem = problem and problem.message, result = result }
end, 0)
"""

START = """
local name, command, settings = ...
vim.o.swapfile = false
vim.o.hidden = true
vim.filetype.add({ pattern = { ['.*%.py'] = 'python' } })
local flags = settings.debounce and { debounce_text_changes = settings.debounce } or nil
vim.lsp.config(name, {
  cmd = command, filetypes = settings.filetypes, root_dir = settings.root, cmd_env = settings.environment,
  flags = flags, init_options = settings.options or vim.empty_dict(),
})
vim.lsp.enable(name)
if vim.lsp.inline_completion then vim.lsp.inline_completion.enable() end
"""

WATCH = """
local asked = {}
_G.midstream_answered = ''
_G.midstream_place = function()
  return vim.inspect({ vim.api.nvim_buf_get_changedtick(0), vim.api.nvim_win_get_cursor(0) })
end
vim.api.nvim_create_autocmd('LspRequest', { callback = function(event)
  local request, id = event.data.request, event.data.request_id
  if request.method ~= 'textDocument/inlineCompletion' then return end
  if request.type == 'pending' then asked[id] = _G.midstream_place() end
  if request.type == 'complete' then _G.midstream_answered = asked[id] end
end })
"""
"""Remembers the text and the cursor for which the last answer came."""


class Neovim:
    """A running Neovim whose language server for `filetypes` is `command`; `init` is a file it starts with.

    `debounce` in milliseconds is how long it holds changes back; None is Neovim's own default.
    """

    def __init__(
        self,
        program: Path,
        command: Sequence[str] | None,
        root: Path,
        *,
        name: str = "midstream",
        debounce: int | None = None,
        options: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        filetypes: Sequence[str] = ("python",),
        init: Path | None = None,
    ) -> None:
        self.name = name
        self._debounce = debounce
        arguments = ["--embed", "--headless", "-n", "-i", "NONE", "-u", str(init) if init else "NONE"]
        before = os.environ.copy()
        os.environ.update({"XDG_STATE_HOME": str(root / ".state"), **(environment or {})})
        try:
            self.api = pynvim.attach("child", argv=[str(program), *arguments])
        finally:
            os.environ.clear()
            os.environ.update(before)
        self.api.command("filetype plugin on")
        self.api.exec_lua(WATCH)
        if command:
            settings = {
                "root": str(root),
                "debounce": debounce,
                "options": dict(options or {}),
                "environment": dict(environment or {}),
                "filetypes": list(filetypes),
            }
            settings = {key: value for key, value in settings.items() if value not in (None, {})}
            self.api.exec_lua(START, name, list(command), settings)

    def open(self, path: Path) -> None:
        """Edit a file; `wait_until_served` waits for the server."""
        self.keys("<Esc>")
        self.api.command(f"edit {path}")
        self.api.command("normal! gg0")

    def wait_until_served(self) -> None:
        """Wait until the server has taken the current buffer."""
        script = (
            "local client = vim.lsp.get_clients({ bufnr = 0, name = ... })[1]\n"
            "return client and client.initialized or false"
        )
        wait_for(lambda: self.api.exec_lua(script, self.name), f"{self.name} to be ready")

    def keys(self, keys: str) -> None:
        """Press keys in Neovim's notation, and wait until they were processed."""
        self.api.input(keys)
        self.api.eval("1")  # Neovim takes a request only when no key is left.

    def type(self, text: str) -> None:
        """Type in insert mode at the cursor."""
        if self.api.eval("mode()") != "i":
            self.keys("i")
        for key in text:
            self.keys({"\n": "<CR>", "<": "<lt>"}.get(key, key))

    def go_to_end(self) -> None:
        """Begin to insert at the end of the last line."""
        self.keys("<Esc>GA")

    def go_to(self, text: str) -> None:
        """Begin to insert behind the first place that reads so."""
        self.insert_at(self.text().index(text) + len(text))

    def insert_at(self, offset: int) -> None:
        """Begin to insert at a code point of the buffer."""
        before = self.text()[:offset].split("\n")
        self.keys("<Esc>")
        row, column = len(before), len(before[-1].encode())
        self.api.current.window.cursor = [row, column]
        line = self.api.current.buffer[row - 1]
        self.keys("A" if column == len(line.encode()) else "i")

    def undo(self) -> None:
        """Take back one undo step."""
        self.keys("<Esc>")
        self.api.command("silent undo")

    def rest(self) -> None:
        """Let more time pass than Neovim holds changes back."""
        time.sleep(1.2 * (150 if self._debounce is None else self._debounce) / 1000)

    def text(self) -> str:
        """The buffer as it would be written."""
        end = {"dos": "\r\n", "mac": "\r"}.get(self.api.eval("&fileformat"), "\n")
        lines = self.api.current.buffer[:]
        return end.join(lines) + (end if self.api.eval("&endofline") else "")

    def ghost(self) -> str:
        """The ghost text that is on the screen."""
        return str(self.api.exec_lua(GHOST))

    def wait_until_answered(self) -> None:
        """Wait until the suggestion is the answer for the text and the cursor of now.

        Neovim shows the rest of an older one meanwhile, and would put the whole of it where it was asked for.
        """
        script = "return _G.midstream_answered == _G.midstream_place()"
        wait_for(lambda: self.api.exec_lua(script), "the answer for this place")

    def accept(self) -> None:
        """Accept the ghost text, as the documented key does."""
        self.wait_until_answered()
        before = self.text()
        self.api.exec_lua("vim.lsp.inline_completion.get()")
        wait_for(lambda: self.text() != before, "the suggestion in the buffer")

    def run(self, command: str, argument: Mapping[str, Any]) -> None:
        """Run a command of the server, and go on."""
        self.start_call(command, argument)

    def call(self, command: str, argument: Mapping[str, Any]) -> Any:
        """Run a command of the server on the current buffer and wait for its result."""
        self.start_call(command, argument)
        return self.end_call()

    def start_call(self, command: str, argument: Mapping[str, Any]) -> None:
        """Run a command of the server, and go on."""
        uri = self.api.exec_lua("return vim.uri_from_bufnr(0)")
        self.api.exec_lua(CALL, self.name, command, {"uri": uri, **argument})

    def end_call(self) -> Any:
        """Wait for the result of `start_call`."""
        answer = wait_for(lambda: self.api.exec_lua("return _G.midstream_answer"), "the command's answer")
        assert "problem" not in answer, answer["problem"]
        return answer.get("result")

    def messages(self) -> str:
        """What Neovim has told its user."""
        return str(self.api.exec_lua("return vim.fn.execute('messages')"))

    def close(self) -> None:
        """End Neovim, and with it the server."""
        with suppress(OSError, EOFError):
            self.api.command("qa!")
        with suppress(OSError, EOFError):
            self.api.close()
