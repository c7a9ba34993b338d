"""Emacs with eglot or lsp-mode, in a terminal: its idle timers run there, as they do for a user."""

import base64
import json
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.editors import install
from tests.support.editors.driver import wait_for
from tests.support.editors.terminal import Terminal

INIT = """
(setq inhibit-startup-screen t make-backup-files nil auto-save-default nil create-lockfiles nil
      server-socket-dir {folder} server-name "midstream" ring-bell-function 'ignore
      confirm-kill-processes nil python-indent-guess-indent-offset nil)
(require 'package)
(add-to-list 'package-directory-list "/usr/share/emacs/site-lisp/elpa")
(package-initialize)
(require 'server)
{lisp}
(server-start)
"""


@dataclass(frozen=True, slots=True)
class Client:
    """One of the clients that Emacs has: Lisp that starts a server for Python, and what it is asked by.

    `served` tells whether the server has the buffer; `run` sends a command with an argument.
    """

    start: str
    served: str
    run: str


EGLOT = Client(
    start="""
(require 'python)
(require 'eglot)
(setq eglot-sync-connect nil eglot-confirm-server-initiated-edits nil eglot-autoshutdown t)
(electric-indent-mode -1)
(setq eglot-server-programs `((python-mode {command} :initializationOptions ,{options})))
(add-hook 'python-mode-hook 'eglot-ensure)
""",
    served="(and (eglot-managed-p) t)",
    run="(eglot-execute-command (eglot-current-server) '{command} (vector {argument}))",
)
LSP_MODE = Client(
    start="""
(require 'python)
(require 'lsp-mode)
(electric-indent-mode -1)
(setq lsp-auto-guess-root t)
(lsp-register-client
 (make-lsp-client :new-connection (lsp-stdio-connection '({command}))
                  :activation-fn (lsp-activate-on "python")
                  :initialization-options {options}
                  :server-id 'midstream))
(add-hook 'python-mode-hook 'lsp)
""",
    served="(and (bound-and-true-p lsp-mode) (seq-some (lambda (workspace)"
    " (eq (lsp--workspace-status workspace) 'initialized)) (lsp-workspaces)))",
    run="""(lsp-request-async "workspace/executeCommand"
 (list :command "{command}" :arguments (vector {argument})) #'ignore :mode 'detached)""",
)


class Emacs:
    """A running Emacs whose language server for Python is `command`, unless `lisp` says otherwise."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        client: Client = EGLOT,
        lisp: str | None = None,
        options: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        program = install.emacs()
        self._client = client
        self._folder = folder / ".emacs"
        self._folder.mkdir(mode=0o700, exist_ok=True)
        if lisp is None:
            quoted = " ".join(_lisp(part) for part in command)
            lisp = client.start.replace("{command}", quoted).replace("{options}", _parsed(options or {}))
        file = self._folder / "init.el"
        file.write_text(INIT.replace("{folder}", _lisp(str(self._folder))).replace("{lisp}", lisp))
        self.terminal = Terminal(
            [str(program), "-nw", "-Q", "-l", str(file)],
            folder,
            {"HOME": str(self._folder), **(environment or {})},
        )
        wait_for(lambda: (self._folder / "midstream").exists(), "Emacs")

    def open(self, path: Path) -> None:
        """Open a file and put the cursor at its start."""
        self.evaluate(
            f"(progn (switch-to-buffer (find-file-noselect {_lisp(str(path))})) (setq midstream-there nil)"
            ' (global-set-key (kbd "<f12>")'
            " (lambda () (interactive) (goto-char 1) (setq midstream-there t))) nil)"
        )
        # A client connects after the next command of the user, which evaluating is not.
        self.terminal.press("F12")
        wait_for(lambda: self.evaluate("midstream-there") == "t", "the key to be taken")

    def wait_until_served(self) -> None:
        """Wait until the server has the buffer."""
        served = f"(with-current-buffer (window-buffer) {self._client.served})"
        wait_for(lambda: self.evaluate(served) == "t", "the server to have the buffer")

    def type(self, text: str) -> None:
        """Type at the cursor."""
        before = len(self.text())
        self.terminal.type(text)
        wait_for(lambda: len(self.text()) >= before + len(text), f"{text!r} in Emacs")

    def go_to_end(self) -> None:
        """Put the cursor at the end of the last line."""
        self.evaluate(
            "(with-current-buffer (window-buffer)"
            ' (goto-char (point-max)) (skip-chars-backward "\\n") (set-window-point nil (point)))'
        )

    def go_to(self, text: str) -> None:
        """Put the cursor behind the first place that reads so."""
        self.evaluate(
            "(with-current-buffer (window-buffer)"
            f" (goto-char 1) (search-forward {_lisp(text)}) (set-window-point nil (point)))"
        )

    def run(self, command: str, argument: Mapping[str, Any]) -> None:
        """Run a command of the server, as a key of the user's would. eglot waits for its answer."""
        call = self._client.run.replace("{command}", command).replace("{argument}", _parsed(argument))
        self.evaluate(f"(with-current-buffer (window-buffer) {call} nil)")

    def undo(self) -> None:
        """Take back one undo step."""
        self.terminal.press("C-x", "u")

    def rest(self) -> None:
        """Let more time pass than eglot's idle timer takes."""
        time.sleep(0.7)

    def text(self) -> str:
        """The buffer, with the line ends that Emacs has in memory."""
        encoded = self.evaluate(
            "(with-current-buffer (window-buffer) (base64-encode-string (encode-coding-string"
            " (buffer-substring-no-properties 1 (1+ (buffer-size))) 'utf-8-unix) t))"
        )
        return base64.b64decode(encoded.strip('"')).decode()

    def evaluate(self, expression: str) -> str:
        """Let Emacs evaluate Lisp, and give back what it prints."""
        client = shutil.which("emacsclient")
        assert client is not None
        run = subprocess.run(
            [client, "-s", str(self._folder / "midstream"), "--eval", expression],
            capture_output=True,
            text=True,
            timeout=30,
        )
        assert run.returncode == 0, run.stdout + run.stderr
        return run.stdout.strip()

    def close(self) -> None:
        """End Emacs, and with it the server."""
        self.terminal.close()


def _parsed(value: Mapping[str, Any]) -> str:
    """Lisp that gives a JSON object as the clients want it."""
    text = _lisp(json.dumps(dict(value)))
    return f"(json-parse-string {text} :object-type 'plist :false-object :json-false)"


def _lisp(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
