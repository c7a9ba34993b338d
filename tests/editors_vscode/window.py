"""One VS Code with the extension and the real server: what the user does and sees."""

import json
import os
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tests.support.editors import install
from tests.support.editors.driver import wait_for
from tests.support.editors.model import Model
from tests.support.editors.vscode import VSCode
from tests.support.marked import parse
from tests.support.model_server import Turn
from tests.support.processes import servers

T = TypeVar("T")
SHOTS = Path(__file__).parents[2] / "build" / "screenshots" / "vscode"
READERS = Path(__file__).with_name("readers.js").read_text()
FRAMES = """
const text = (frame) => frame.evaluate(() => document.body?.innerText ?? "").catch(() => "");
return (await Promise.all(page.frames().slice(1).map(text))).join("\\n");
"""
NAMES = r"""
const snapshot = await page.locator("body").ariaSnapshot();
const named = new RegExp(`^ *- '?${argument} "(.*)"`, "gm");
return [...snapshot.matchAll(named)].map((found) => found[1]);
"""
"""The names of what has a role, as the browser gives them to assistive technology."""
STATE = """
try {
  return (await vscode.commands.executeCommand("midstream.status", {})).state;
} catch {
  return "";
}
"""
"""What the server says itself: the status bar may still show what the one before said."""


class Window:
    """What the tests wait for is read off the page, the document, or the model's side."""

    def __init__(
        self,
        folder: Path,
        model: Model,
        settings: Mapping[str, Any],
        environment: Mapping[str, str],
        *,
        trust: bool = True,
    ) -> None:
        self.model = model
        self._folder = folder
        self._opened = 0
        self._records = False
        self.failures = 0
        self.fails = False
        self._uses: set[int] = set()
        self.home = folder.parent / f"{folder.name}-vscode"
        self._log = self.home / "midstream.log"
        folder.mkdir()
        log = {"midstream.log.level": "debug", "midstream.log.file": str(self._log)}
        own = {
            "MIDSTREAM_CACHE": str(self.home / "cache"),
            "MIDSTREAM_CONFIG": str(self.home / "config.toml"),
            "MIDSTREAM_USAGE_FILE": str(self.home / "usage.db"),
        }
        self.code = VSCode(
            None,
            folder,
            extensions=[install.extension()],
            settings={"workbench.colorTheme": "Default Light+", **log, **settings},
            environment={**own, **environment},
            trust=trust,
        )
        self.code.page(f"await page.addInitScript({json.dumps(READERS)})")
        self.code.page(f"await page.evaluate({json.dumps(READERS)})")
        self.code.page("await page.context().tracing.start({ screenshots: true })")

    # What is there.

    def open(self, source: str, name: str = "") -> None:
        """A file of its own with the text, the cursor or the selection where the marks are."""
        marked = parse(source)
        self._opened += 1
        path = self._folder / (name or f"example_{self._opened}.py")
        path.write_text(marked.text)
        self.code.open(path)
        self.select(marked.span.start, marked.span.end)

    def clear(self) -> None:
        """Close all files and what lies over the editor, and let the model end whatever it was asked."""
        self.press("Escape")
        for turn in self._open_turns():
            self.model.finish(turn)
        self.code.host(
            "await vscode.workspace.saveAll();"
            "await vscode.commands.executeCommand('workbench.action.closeAllEditors');"
            "await vscode.commands.executeCommand('notifications.clearAll');"
        )

    def select(self, start: int, end: int) -> None:
        """Select a part of the document, which has plain characters only."""
        self.code.host(
            "const editor = vscode.window.activeTextEditor;"
            "const [start, end] = argument.map((offset) => editor.document.positionAt(offset));"
            "editor.selection = new vscode.Selection(start, end);"
            # To the window and back, behind the selection.
            "await vscode.commands.executeCommand('setContext', 'midstream.test', true);",
            [start, end],
        )

    def turn(self, part: str) -> Turn:
        """The newest request that nobody answered yet and whose prompt has the part in it."""

        def find() -> Turn | None:
            fresh = [turn for turn in self._open_turns() if id(turn) not in self._uses]
            return next((turn for turn in reversed(fresh) if part in turn.text), None)

        found = wait_for(find, f"a request with {part!r}")
        self._uses.add(id(found))
        return found

    def _open_turns(self) -> list[Turn]:
        """The requests whose answers have not ended."""
        return [turn for turn in self.model.turns if turn.create.generate and not turn.closed.is_set()]

    def asked(self, part: str) -> int:
        """How often the model was asked for an answer to a prompt with the part in it."""
        return sum(turn.create.generate and part in turn.text for turn in self.model.turns)

    def say(self, turn: Turn, text: str) -> None:
        self.model.say(turn, text)

    def answer(self, turn: Turn, text: str) -> None:
        """The rest of the model's answer."""
        self.model.say(turn, text)
        self.model.finish(turn)

    # What the user does.

    def type(self, text: str) -> None:
        """Type as fast as one does without looking."""
        self.code.page("await page.keyboard.type(argument)", text)

    def press(self, keys: str) -> None:
        self.code.press(keys)

    def click(self, selector: str) -> None:
        self.code.page("await page.click(argument)", selector)

    def click_lens(self, title: str) -> None:
        self.sees_lens(title)
        self.code.page(
            "await page.locator('.codelens-decoration a', { hasText: argument }).first().click()", title
        )

    def command(self, title: str) -> None:
        """Run a command from the palette."""
        self.press("F1")
        self.type(title)
        wait_for(lambda: any(title in row for row in self.read("rows")), f"{title} in the palette")
        self.press("Enter")

    def instruct(self, instruction: str) -> Turn:
        """Ask for an edit at the cursor; the request as the model sees it."""
        self.press("Control+i")
        wait_for(lambda: "What should change?" in self.read("pickHint"), "the input")
        self.type(instruction)
        self.press("Enter")
        return self.turn(instruction)

    def focus(self) -> None:
        """Put the keyboard back into the editor, without moving the cursor."""
        self.code.host("await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup')")

    def set(self, name: str, value: Any) -> None:
        """Change a setting of the user."""
        self.code.host(
            "const [name, value] = argument;"
            "await vscode.workspace.getConfiguration().update(name, value ?? undefined, true);",
            [name, value],
        )

    def show_in(self, theme: str, kind: str) -> None:
        """Change the colours; `kind` is VS Code's class of such themes."""
        self.set("workbench.colorTheme", theme)
        until(lambda: self.read("theme"), lambda seen: kind in seen, f"the theme {theme}")

    def allow(self) -> None:
        """Let Midstream run in a workspace that is not trusted."""
        self.click("[id$='midstream.status'] a")
        self.sees("dialog", "Allow it in this workspace?")
        self.shot("allow")
        self.click(".monaco-dialog-box .monaco-button:has-text('Allow Here')")
        self.is_ready()

    def trust(self) -> None:
        """Trust the workspace, if it is not trusted yet."""
        if self.code.host("return vscode.workspace.isTrusted"):
            return
        before = self.servers()
        self.code.host("await vscode.commands.executeCommand('workbench.trust.manage')")
        self.click(".workspace-trust-editor .monaco-button:has-text('Trust')")
        self.has_restarted(before)
        self.code.host("await vscode.commands.executeCommand('workbench.action.closeActiveEditor')")

    # What the user sees.

    def read(self, what: str) -> Any:
        return self.code.page("return page.evaluate((what) => window.midstream[what](), argument)", what)

    def ghost(self) -> str:
        """The suggestion, all of its lines."""
        return "\n".join([self.read("firstGhostLine"), *self.read("furtherGhostLines")])

    def sees_ghost(self, ghost: str) -> None:
        until(self.ghost, lambda seen: seen == ghost, f"the ghost text {ghost!r}")

    def reads(self, text: str) -> None:
        """The document gets to hold the text."""
        until(self.code.text, lambda seen: seen == text, f"the text {text!r}")

    def sees_lens(self, title: str) -> None:
        until(lambda: self.read("lenses"), lambda seen: title in seen, f"the lens {title!r}")

    def shows(self, part: str) -> None:
        """A part in one of the pages that lie in frames of their own."""
        until(lambda: str(self.code.page(FRAMES)), lambda seen: part in seen, f"{part!r} in a page")

    def sees_no_lens(self) -> None:
        until(lambda: self.read("lenses"), lambda seen: seen == [], "no lens")

    def sees(self, what: str, part: str) -> None:
        """A part in what one of the readers reads."""
        until(lambda: str(self.read(what)), lambda seen: part in seen, f"{part!r} in {what}")

    def hears(self, role: str, name: str) -> None:
        """A screen reader finds something to be used under this name."""
        until(
            lambda: self.code.page(NAMES, role),
            lambda seen: any(name in each for each in seen),
            f"a {role} named {name!r}",
        )

    def is_ready(self) -> None:
        self.sees("status", "Midstream: ready")

    def shot(self, name: str) -> None:
        """Keep what the user sees."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.code.screenshot(SHOTS / f"{name}.png")

    def begin(self) -> None:
        """Record from here on what a failure would have to be explained with."""
        if self._records:
            self.code.page("await page.context().tracing.stopChunk()")
        self.code.page("await page.context().tracing.startChunk()")
        self._records = True
        # Where the test before has left the mouse, a tip could lie over what this one clicks.
        self.code.page("await page.mouse.move(0, 0)")

    def keep(self, name: str) -> None:
        """Keep the picture, the record (for `npx playwright show-trace`) and the server's log."""
        self.shot(name)
        if self._records:
            self.code.page(
                "await page.context().tracing.stopChunk({ path: argument })", str(SHOTS / f"{name}.zip")
            )
            self._records = False
        if self._log.exists():
            shutil.copy(self._log, SHOTS / f"{name}.log")

    def restart(self) -> None:
        """Begin anew with another server: what a failed test left behind is not the next one's."""
        self.clear()
        before = self.servers()
        self.code.host("await vscode.commands.executeCommand('midstream.restart')")
        self.has_restarted(before)
        self.fails = False

    def kill_server(self, *, comes_back: bool = True) -> None:
        """The language server dies at once."""
        before = self.servers()
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        if comes_back:
            self.has_restarted(before)

    def has_restarted(self, before: Sequence[int]) -> None:
        """Another server than the ones before runs and is ready."""
        wait_for(lambda: bool(now := self.servers()) and not {*now} & {*before}, "another server", pause=0.1)
        wait_for(lambda: self.code.host(STATE) == "ready", "the server to be ready", pause=0.1)
        self.is_ready()

    def files_with(self, text: str) -> list[Path]:
        """The files in VS Code's folders that have the text in them."""
        files = (path for path in self.home.rglob("*") if path.is_file() and not path.is_symlink())
        return [path for path in files if text.encode() in path.read_bytes()]

    def servers(self) -> Sequence[int]:
        """The language servers of this window that run."""
        return servers(self.home / "cache")


def until(look: Callable[[], T], fits: Callable[[T], bool], what: str) -> None:
    """Wait until what there is to see fits."""
    try:
        wait_for(lambda: fits(look()), what, pause=0.05)
    except AssertionError as error:
        raise AssertionError(f"waited for {what}; there is {look()!r}") from error
