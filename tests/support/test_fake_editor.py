"""The fake editor does what the table of real clients says; each mode shows its own trait."""

import asyncio
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core.document import Change, Document
from lsp_server.core.edits import Edit, Patch
from lsp_server.core.text import Encoding, Position
from tests.support.fake_buffer import offset_of, position_of
from tests.support.fake_editor import FakeEditor
from tests.support.fake_modes import MODES

URI = "file:///a.py"


class Mirror:
    """A server that only follows the document."""

    def __init__(self, mode: str, text: str, cursor: int = 0, encoding: Encoding = Encoding.UTF16) -> None:
        self.versions: list[int] = []
        self.encoding = encoding
        self.editor = FakeEditor(mode, self.changed, self.opened, encoding=encoding)
        self.editor.open(URI, text, cursor=cursor)
        while self.editor.deliver():
            pass

    def opened(self, uri: str, language: str, version: int, text: str) -> None:
        self.document = Document.open(uri, language, version, text)

    def changed(self, uri: str, changes: list[Change], version: int) -> None:
        self.document, _ = self.document.apply(changes, version, self.encoding)
        self.versions.append(version)

    def send(self, start: int, end: int, text: str, *, first: bool = True) -> "asyncio.Task[str]":
        patch = Patch(URI, self.document.version, Edit(start, end, text))
        return asyncio.create_task(self.editor.apply(patch, generation="g", first=first, label=""))


@pytest.mark.parametrize("mode", MODES)
async def test_the_mirror_equals_the_buffer_at_rest(mode: str) -> None:
    mirror = Mirror(mode, "one\ntwo\r\n🌒 three\n", cursor=3)
    editor = mirror.editor
    editor.type(URI, " and")
    await editor.settle()
    sent = mirror.send(editor.text(URI).index("three"), editor.text(URI).index("three") + 5, "four\nfive")
    await editor.settle()
    editor.undo(URI)
    editor.type(URI, "\n🌞")
    await editor.settle()
    assert await sent == "applied"
    assert mirror.document.text == editor.text(URI)
    assert not editor.problems


@pytest.mark.parametrize(
    ("mode", "reply", "landed"),
    [
        ("vscode", "refused", False),
        ("applypatch", "refused", False),
        ("helix", "refused", False),
        ("eglot", "refused", False),
        ("neovim", "applied", False),
        ("neovim0", "applied", False),
        ("full", "refused", False),
        ("plain", "applied", True),
    ],
)
async def test_a_key_on_the_way_makes_the_patch_stale(mode: str, reply: str, landed: bool) -> None:
    mirror = Mirror(mode, "red\nblue\n")
    editor = mirror.editor
    editor.type(URI, " ")
    await editor.settle()
    sent = mirror.send(1, 4, "GREEN")
    await asyncio.sleep(0)
    editor.type(URI, "\n")
    await editor.settle()
    assert await sent == reply
    assert bool(editor.landings) is landed
    assert mirror.document.text == editor.text(URI)


async def test_neovim_does_not_check_version_zero() -> None:
    mirror = Mirror("neovim", "red\n")
    sent = mirror.send(0, 3, "GREEN")
    await asyncio.sleep(0)
    mirror.editor.type(URI, "x")
    await mirror.editor.settle()
    assert await sent == "applied"
    assert mirror.editor.text(URI) == "GREENd\n"
    assert mirror.editor.landings[0].foreign == (1,)


async def test_vscode_refuses_when_a_key_falls_between_its_two_processes() -> None:
    mirror = Mirror("vscode", "red\n")
    sent = mirror.send(0, 3, "GREEN")
    await asyncio.sleep(0)
    mirror.editor.work()
    mirror.editor.type(URI, "x")
    await mirror.editor.settle()
    assert await sent == "refused"
    assert mirror.editor.text(URI) == "xred\n"


@pytest.mark.parametrize(("mode", "steps"), [("vscode", 3), ("neovim0", 3), ("applypatch", 1)])
async def test_undo_steps_of_a_stream(mode: str, steps: int) -> None:
    mirror = Mirror(mode, "\n")
    for number in range(3):
        sent = mirror.send(number, number, "x", first=number == 0)
        await mirror.editor.settle()
        assert await sent == "applied"
    assert len(mirror.editor.buffer(URI).steps) == steps


async def test_held_changes_arrive_in_one_event_after_the_reply() -> None:
    mirror = Mirror("neovim", "ab\ncd\n")
    editor = mirror.editor
    sent = mirror.send(0, 0, "# x\n")
    await asyncio.sleep(0)
    editor.work()
    editor.work()
    editor.put_cursor(URI, len("# x\nab\n"))
    editor.type(URI, "z")
    assert editor.deliver()
    await asyncio.sleep(0)
    assert sent.done() and mirror.versions == []
    editor.flush()
    editor.deliver()
    assert mirror.versions == [2]
    assert mirror.document.text == "# x\nab\nzcd\n"


async def test_a_patch_against_an_unknown_version_is_a_problem() -> None:
    mirror = Mirror("plain", "a\n")
    patch = Patch(URI, 7, Edit(0, 0, "x"))
    assert await mirror.editor.apply(patch, generation="g", first=True, label="") == "refused"
    assert mirror.editor.problems


async def test_a_cancelled_patch_is_still_on_the_wire() -> None:
    mirror = Mirror("vscode", "a\n")
    sent = mirror.send(0, 0, "x")
    await asyncio.sleep(0)
    sent.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await sent
    again = mirror.send(0, 0, "y")
    await mirror.editor.settle()
    assert await again == "refused"
    assert mirror.editor.problems == [f"two patches at once for {URI}"]
    assert mirror.document.text == "xa\n"


@given(st.text("a\n\r🌒é\u2028", max_size=12), st.sampled_from(Encoding), st.integers(0, 12))
def test_positions_go_round(text: str, encoding: Encoding, offset: int) -> None:
    offset = min(offset, len(text))
    if text[offset - 1 : offset + 1] == "\r\n":
        offset -= 1
    assert offset_of(text, position_of(text, offset, encoding), encoding) == offset
    assert offset_of(text, Position(99, 0), encoding) == len(text)
