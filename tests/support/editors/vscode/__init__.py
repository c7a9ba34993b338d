"""VS Code in a browser: code-server, a Chromium page, and a small extension to look inside."""

import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from typing import IO, Any

from tests.support.editors import install
from tests.support.editors.driver import wait_for

HERE = Path(__file__).parent
QUIET = {
    "chat.disableAIFeatures": True,
    "editor.minimap.enabled": False,
    "extensions.ignoreRecommendations": True,
    "security.workspace.trust.startupPrompt": "never",
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.reduceMotion": "on",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
}
PLAIN = {
    "editor.acceptSuggestionOnEnter": "off",
    "editor.autoClosingBrackets": "never",
    "editor.autoClosingQuotes": "never",
    "editor.quickSuggestions": {"other": "off", "comments": "off", "strings": "off"},
    "editor.wordBasedSuggestions": "off",
}
"""No suggestions and no bracket closing of VS Code's own."""
TEXT = "return vscode.window.activeTextEditor?.document.getText() ?? ''"
OPEN = """
const document = await vscode.workspace.openTextDocument(vscode.Uri.file(argument));
const editor = await vscode.window.showTextDocument(document, { preview: false });
editor.selection = new vscode.Selection(0, 0, 0, 0);
await vscode.commands.executeCommand('setContext', 'midstream.test', true);
"""
"""The last line goes to the window and back, behind the selection."""
RUN = "client.sendRequest('workspace/executeCommand', argument).catch(() => undefined);"
GO_TO = """
const editor = vscode.window.activeTextEditor;
const place = editor.document.positionAt(argument);
editor.selection = new vscode.Selection(place, place);
await vscode.commands.executeCommand('setContext', 'midstream.test', true);
"""
GHOST = """
return page.$$eval('.ghost-text-decoration, .ghost-text', found => found.map(one => one.textContent).join(''))
"""


class VSCode:
    """A running VS Code on `folder`, with one page.

    With a `command`, the standard language client runs it for Python. `extensions` are packaged (`.vsix`) and
    installed as a user would. `settings` are the user's.
    """

    def __init__(
        self,
        command: Sequence[str] | None,
        folder: Path,
        *,
        extensions: Sequence[Path] = (),
        settings: Mapping[str, Any] = PLAIN,
        options: Mapping[str, Any] | None = None,
        environment: Mapping[str, str] | None = None,
        trust: bool = False,
    ) -> None:
        self.folder = folder
        home = folder.parent / f"{folder.name}-vscode"
        listener = socket.create_server(("127.0.0.1", 0))
        harness = {"port": listener.getsockname()[1], "command": command, "options": options or {}}
        self._environment = {
            **os.environ,
            "PATH": f"{install.node().parent}:{os.environ['PATH']}",
            "XDG_DATA_HOME": str(home / "data"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "MIDSTREAM_HARNESS": json.dumps(harness),
            **(environment or {}),
        }
        self._lay_out(home, settings)
        self._server_arguments = [
            *(str(install.node()), str(install.code_server())),
            *("--config", str(home / "config.yaml")),
            *("--user-data-dir", str(home / "user"), "--extensions-dir", str(home / "extensions")),
        ]
        for extension in extensions:
            subprocess.run(
                [*self._server_arguments, "--install-extension", str(extension), "--force"],
                env=self._environment,
                check=True,
                capture_output=True,
            )
        self._processes: list[subprocess.Popen[str]] = []
        self._connections = ExitStack()
        try:
            url = self._start_server(home, trust=trust)
            browser = [str(install.node()), str(HERE / "page.js"), str(install.chromium())]
            page = self._start(
                browser,
                {"NODE_PATH": str(install.code_server().parents[3])},
                stdin=subprocess.PIPE,
                log=home / "page.log",
            )
            assert page.stdin is not None and page.stdout is not None
            self._page = Channel(page.stdin, page.stdout)
            self.page("await page.goto(argument)", f"{url}/?folder={folder}")
            listener.settimeout(90)
            connection = self._connections.enter_context(listener.accept()[0])
            write = self._connections.enter_context(connection.makefile("w"))
            read = self._connections.enter_context(connection.makefile("r"))
            self._host = Channel(write, read)
        except BaseException:
            self.close()
            raise
        finally:
            listener.close()

    def open(self, path: Path) -> None:
        """Open a file and put the cursor at its start."""
        self.host(OPEN, str(path))
        self.page(
            'await page.waitForSelector(`.tab.active[data-resource-name="${argument}"]`);'
            "await page.waitForSelector('.editor-instance .view-lines')",
            path.name,
        )
        self.page(
            "await page.evaluate(() => document.querySelector('.editor-instance .native-edit-context,"
            " .editor-instance textarea.inputarea')?.focus())"
        )

    def wait_until_served(self) -> None:
        """Wait until the language client runs."""
        wait_for(lambda: self.host("return client?.isRunning() ?? false"), "the language client")

    def type(self, text: str) -> None:
        """Type at the cursor; returns when the extension host has seen it."""
        before = self.text()
        self.page("await page.keyboard.type(argument)", text)
        wait_for(lambda: len(self.text()) >= len(before) + len(text), f"{text!r} in VS Code")

    def press(self, keys: str) -> None:
        """Press a key by Playwright's name, such as `Control+z`."""
        self.page("await page.keyboard.press(argument)", keys)

    def go_to_end(self) -> None:
        """Put the cursor at the end of the last line that has text."""
        self.host(GO_TO, units(self.text().rstrip()))

    def go_to(self, text: str) -> None:
        """Put the cursor behind the first place that reads so."""
        before, found, _ = self.text().partition(text)
        self.host(GO_TO, units(before + found))

    def run(self, command: str, argument: Mapping[str, Any]) -> None:
        """Run a command of the server, and go on."""
        self.host(RUN, {"command": command, "arguments": [argument]})

    def undo(self) -> None:
        """Take back one undo step."""
        self.press("Control+z")

    def rest(self) -> None:
        """Let more time pass than the client holds a whole text back."""
        time.sleep(0.4)

    def text(self) -> str:
        """The text of the active document."""
        return str(self.host(TEXT))

    def ghost(self) -> str:
        """The ghost text that is on the page."""
        return str(self.page(GHOST)).replace("\u00a0", " ")

    def screenshot(self, path: Path) -> None:
        """Keep what the user sees."""
        self.page("await page.screenshot({ path: argument })", str(path))

    def host(self, code: str, argument: Any = None) -> Any:
        """Run JavaScript in the extension host, with `vscode`, `client` and `argument`."""
        return self._host.call(code, argument)

    def page(self, code: str, argument: Any = None) -> Any:
        """Run JavaScript beside the browser, with Playwright's `page` and `argument`."""
        return self._page.call(code, argument)

    def close(self) -> None:
        """End the browser, VS Code and all that they started."""
        self._connections.close()
        for process in reversed(self._processes):
            if process.stdin:
                process.stdin.close()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(10)
            # A polite end takes code-server ten seconds.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.stdout:
                process.stdout.close()

    def _lay_out(self, home: Path, settings: Mapping[str, Any]) -> None:
        user = home / "user/User"
        user.mkdir(parents=True)
        (user / "settings.json").write_text(json.dumps({**QUIET, **settings}))
        (home / "config.yaml").write_text("{}\n")
        harness = home / "extensions/midstream.harness-0.0.1"
        harness.mkdir(parents=True)
        for name in ("package.json", "extension.js"):
            shutil.copy(HERE / name, harness / name)
        (harness / "node_modules").symlink_to(install.language_client())

    def _start_server(self, home: Path, *, trust: bool) -> str:
        arguments = [
            *("--bind-addr", "127.0.0.1:0", "--auth", "none", "--disable-telemetry"),
            *("--disable-update-check", "--disable-getting-started-override"),
            *(() if trust else ("--disable-workspace-trust",)),
            str(self.folder),
        ]
        server = self._start([*self._server_arguments, *arguments], {}, log=home / "server.log")
        assert server.stdout is not None
        while line := server.stdout.readline():
            if found := re.search(r"listening on (http://[\d.]+:\d+)", line):
                return found[1]
        raise AssertionError("code-server ended at once: " + (home / "server.log").read_text())

    def _start(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        log: Path,
        stdin: int = subprocess.DEVNULL,
    ) -> "subprocess.Popen[str]":
        with log.open("w") as errors:
            process = subprocess.Popen(
                command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**self._environment, **environment},
                start_new_session=True,
            )
        self._processes.append(process)
        return process


class Channel:
    """Calls over two text streams, one JSON object a line."""

    def __init__(self, write: IO[str], read: IO[str]) -> None:
        self._write, self._read = write, read
        self._ids = count(1)

    def call(self, code: str, argument: Any) -> Any:
        """Send code, and give back what it returned."""
        number = next(self._ids)
        self._write.write(json.dumps({"id": number, "code": code, "argument": argument}) + "\n")
        self._write.flush()
        ready, _, _ = select.select([self._read], [], [], 60)
        assert ready, f"no answer to {code}"
        answer = json.loads(self._read.readline())
        assert answer["id"] == number, answer
        assert "problem" not in answer, f"{answer['problem']} in {code}"
        return answer["result"]


def units(text: str) -> int:
    """What VS Code counts: UTF-16 code units."""
    return len(text.encode("utf-16-le")) // 2
