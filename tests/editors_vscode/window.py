"""One VS Code with the extension, the real server and the scripted model: what the user does and sees."""

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from tests.support.editors import install
from tests.support.editors.driver import wait_for
from tests.support.editors.model import ENVIRONMENT, Model
from tests.support.editors.vscode import VSCode
from tests.support.marked import parse
from tests.support.model_server import Turn

T = TypeVar("T")
SERVER = Path(sys.executable).with_name("midstream")
SHOTS = Path(__file__).parents[2] / "build" / "screenshots" / "vscode"

READERS = """
const plain = (text) => text.replace(/\\u00a0/g, " ").replace(/\\u200b/g, "");
const shown = (element) => element.offsetParent !== null;
const all = (selector) => [...document.querySelectorAll(selector)].filter(shown);
const texts = (selector) => all(selector).map((element) => plain(element.textContent));
const top = (element) => parseFloat(element.style.top);
const byTop = (elements) => elements.sort((one, other) => top(one) - top(other));
const label = (element) => element.getAttribute("aria-label") ?? "";
window.midstream = {
  firstGhostLine: () => texts(".editor-instance .ghost-text-decoration").join(""),
  furtherGhostLines: () =>
    byTop([...document.querySelectorAll(".editor-instance .suggest-preview-text .view-line")])
      .map((line) => plain(line.textContent)),
  lenses: () => texts(".codelens-decoration a").map((text) => text.trim()),
  status: () => all("[id$='midstream.status'] a").map(label)[0] ?? "",
  notifications: () => texts(".notification-list-item-message"),
  buttons: () => texts(".notification-list-item .monaco-button"),
  dialog: () => texts(".monaco-dialog-box").join(" "),
  pickTitle: () => texts(".quick-input-title")[0] ?? "",
  pickHint: () => all(".quick-input-filter input").map((input) => input.placeholder)[0] ?? "",
  rows: () => texts(".quick-input-list .monaco-list-row"),
  menu: () => texts(".action-widget .monaco-list-row"),
  highlighted: () => document.querySelectorAll(".editor-instance .view-overlays .cdr[class*='ced-']").length,
  tabs: () => texts(".tab .label-name"),
};
"""


class Window:
    """What the tests wait for is read off the page, the document, or the model's side."""

    def __init__(self, folder: Path, model: Model) -> None:
        self.model = model
        self._folder = folder
        self._opened = 0
        self._uses: set[int] = set()
        home = folder.parent / f"{folder.name}-vscode"
        machine = home / "user" / "Machine" / "settings.json"
        machine.parent.mkdir(parents=True)
        machine.write_text(json.dumps({"midstream.server.path": str(SERVER)}))
        folder.mkdir()
        self.code = VSCode(
            None,
            folder,
            extensions=[install.extension()],
            settings={"workbench.colorTheme": "Default Light+", **settings_of(model.options())},
            environment={**ENVIRONMENT, "MIDSTREAM_CACHE": str(home / "cache")},
            trust=True,
        )
        self.code.page(f"await page.addInitScript({json.dumps(READERS)})")
        self.code.page(f"await page.evaluate({json.dumps(READERS)})")

    # What is there.

    def open(self, source: str) -> None:
        """A file of its own with the text, the cursor or the selection where the marks are."""
        marked = parse(source)
        self._opened += 1
        path = self._folder / f"example_{self._opened}.py"
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

    def set(self, name: str, value: Any) -> None:
        """Change a setting of the user."""
        self.code.host(
            "const [name, value] = argument;"
            "await vscode.workspace.getConfiguration().update(name, value ?? undefined, true);",
            [name, value],
        )

    def allow(self) -> None:
        """Let Midstream run in a workspace that is not trusted."""
        self.click("[id$='midstream.status'] a")
        self.sees("dialog", "Allow it in this workspace?")
        self.shot("allow")
        self.click(".monaco-dialog-box .monaco-button:has-text('Allow Here')")
        self.is_ready()

    def trust(self) -> None:
        """Trust the workspace."""
        before = self._servers()
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

    def sees_no_lens(self) -> None:
        until(lambda: self.read("lenses"), lambda seen: seen == [], "no lens")

    def sees(self, what: str, part: str) -> None:
        """A part in what one of the readers reads."""
        until(lambda: str(self.read(what)), lambda seen: part in seen, f"{part!r} in {what}")

    def is_ready(self) -> None:
        self.sees("status", "Midstream: ready")

    def shot(self, name: str) -> None:
        """Keep what the user sees."""
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.code.screenshot(SHOTS / f"{name}.png")

    def kill_server(self) -> None:
        """The language server dies at once."""
        before = self._servers()
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        self.has_restarted(before)

    def has_restarted(self, before: Sequence[int]) -> None:
        """Another server than the ones before runs and is ready."""
        wait_for(lambda: bool(now := self._servers()) and not {*now} & {*before}, "another server", pause=0.1)
        self.is_ready()

    def _servers(self) -> Sequence[int]:
        marker = f"MIDSTREAM_CACHE={self._folder.parent / f'{self._folder.name}-vscode'}/cache".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                    if b"serve" in words and marker in (entry / "environ").read_bytes():
                        found.append(int(entry.name))
                except OSError:
                    continue
        return found


def until(look: Callable[[], T], fits: Callable[[T], bool], what: str) -> None:
    """Wait until what there is to see fits."""
    try:
        wait_for(lambda: fits(look()), what, pause=0.05)
    except AssertionError as error:
        raise AssertionError(f"waited for {what}; there is {look()!r}") from error


def settings_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The server's settings as VS Code has them: one name for each, but for the models."""
    flat: dict[str, Any] = {"midstream.models": options["models"]}
    for group in options.keys() - {"models"}:
        flat |= {f"midstream.{group}.{key}": value for key, value in options[group].items()}
    return flat
