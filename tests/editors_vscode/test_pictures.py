"""The pictures of the documentation, taken of the real window; `UPDATE_PICTURES=1` puts them there."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors_vscode.film import Film
from tests.editors_vscode.window import SHOTS, Window

pytestmark = pytest.mark.timeout(120)

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
MEDIA = ROOT / "editors" / "vscode" / "media"
UPDATE = bool(os.environ.get("UPDATE_PICTURES"))

LOOK = {
    "breadcrumbs.enabled": False,
    "editor.cursorBlinking": "solid",
    "editor.fontSize": 15,
    "editor.occurrencesHighlight": "off",
    "editor.scrollbar.vertical": "hidden",
    "window.commandCenter": False,
    "workbench.activityBar.location": "hidden",
    "workbench.layoutControl.enabled": False,
    "workbench.statusBar.visible": False,
}
STYLE = "* { animation: none !important; }"
"""What turns or blinks would be in every picture."""
CART = """\
class Cart:
    def __init__(self, owner):
        self.owner = owner
        self.items = []

    def total(self):
        return <|>

"""
HEAD = '"""Addresses of pages."""\n\nimport re\n\n\n'
SLUG = """\
def slug(title):
    result = ""
    for <|>word in title.split(" "):
        result = result + word.lower() + "-"
    return result[:-1]


print(slug("A Short Story"))
"""
FIRST = """\
def slug(title):
    \"""The title in a URL.\"""
    result = ""
    for word in re.split(r"\\W+", title):
"""
SECOND = """\
        result = result + word.lower() + "-"
    return result[:-1]
"""
STEPS = [
    SLUG.replace("<|>", "").replace("    result = ", '    """The title in a URL."""\n    result = ', 1),
    FIRST + SECOND + SLUG.partition("[:-1]\n")[2],
]
JOINED = """\
def slug(title):
    \"""The title in a URL.\"""
    words = "".join(c if c.isalnum() else " " for c in title).split()
    return "-".join(words).lower()
"""
BLOCK = ["for item in self.items:", "    print(item.name, item.price)", 'print("total", self.total())']


@pytest.fixture
def stage(window: Window) -> Iterator[Window]:
    """A small window with nothing but the editor."""
    window.code.page("await page.setViewportSize({ width: 760, height: 380 })")
    for name, value in LOOK.items():
        window.set(name, value)
    window.show_in("Default Dark Modern", "vs-dark")
    window.code.page("await page.addStyleTag({ content: argument })", STYLE)
    window.code.host("await vscode.commands.executeCommand('workbench.action.closeSidebar')")
    yield window
    window.show_in("Default Light+", "vs")
    for name in LOOK:
        window.set(name, None)
    window.code.page("await page.setViewportSize({ width: 1100, height: 640 })")
    window.code.page("await page.evaluate(() => document.head.lastElementChild.remove())")


def test_ghost_text(stage: Window) -> None:
    film = Film(stage)
    stage.open(CART, "cart.py")
    film.take(900)
    film.type("sum(")
    stage.answer(stage.turn("return sum(<|cursor|>"), "item.price for item in self.items)\n")
    stage.sees_ghost("item.price for item in self.items")
    film.take(1500, first=True)
    still(stage, "ghost")
    stage.press("Tab")
    stage.reads(CART.replace("<|>", "sum(item.price for item in self.items)"))
    film.take(900)
    for key in ("End", "Enter", "Enter", "Shift+Tab"):
        stage.press(key)
    film.type("def receipt(self):")
    stage.press("Enter")
    turn = stage.turn("receipt(self):\n        <|cursor|>")
    indent = " " * 8
    for number, line in enumerate(BLOCK):
        stage.say(turn, (indent if number else "") + line + "\n")
        stage.sees_ghost(("\n" + indent).join(BLOCK[: number + 1]))
        film.take(500)
    stage.answer(turn, "")
    film.take(1200)
    stage.press("Tab")
    stage.sees_ghost("")
    film.take(2500)
    finish(stage, film, "ghost")


def test_redirect(stage: Window) -> None:
    film = Film(stage)
    stage.open(HEAD + SLUG, "slug.py")
    film.take(900)
    stage.press("Control+i")
    stage.sees("pickTitle", "edit slug")
    film.take(500)
    film.type("split at any punctuation", keys=2)
    film.take(300)
    stage.press("Enter")
    turn = stage.turn("split at any punctuation")
    for piece, step in zip([FIRST, SECOND], STEPS, strict=True):
        stage.say(turn, piece)
        stage.reads(HEAD + step)
        stage.sees_lens("Stop (Esc)")
        film.take(700)
    film.type("without a regex, and join", keys=2)
    still(stage, "redirect")
    film.take(300, first=True)
    stage.press("Enter")
    stage.model.wait_until_freed(turn)
    turn = stage.turn("without a regex")
    film.take(400)
    stage.answer(turn, JOINED)
    stage.sees_lens("Accept (Tab)")
    film.take(2200)
    still(stage, "review")
    stage.press("Tab")
    stage.sees_no_lens()
    film.take(1800)
    finish(stage, film, "redirect")


def still(stage: Window, name: str) -> None:
    """A picture for the page of the extension."""
    stage.code.screenshot((MEDIA if UPDATE else SHOTS) / f"{name}.png")


def finish(stage: Window, film: Film, name: str) -> None:
    """An animation for README.md. It takes longer to make than a model may take to begin its answer."""
    stage.clear()
    film.save((IMAGES if UPDATE else SHOTS / "animated") / f"{name}.png")
