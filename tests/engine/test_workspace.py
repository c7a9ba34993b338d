"""One patch at a time, believed only when the client reports it."""

import asyncio

import pytest

from lsp_server.core.edits import Edit
from lsp_server.core.text import Encoding, Span
from lsp_server.engine.patches import Landing, Outstanding, Region
from lsp_server.engine.workspace import Changed, Workspace
from tests.support.fake_editor import FakeEditor
from tests.support.marked import parse

URI = "file:///w/a.py"


class Desk:
    """A workspace behind a fake client, with one marked region in one document."""

    def __init__(self, mode: str, source: str) -> None:
        marked = parse(source)
        self.workspace = Workspace(Encoding.UTF16)
        self.changes: list[Changed] = []
        self.editor = FakeEditor(mode, self._change, self.workspace.open, self.workspace.close)
        self.editor.open(URI, marked.text)
        while self.editor.step():
            pass
        self.region = self.workspace.region(URI, "e1", marked.span)
        self._place = marked.span.start

    def _change(self, uri: str, changes: list, version: int) -> None:  # type: ignore[type-arg]
        changed = self.workspace.change(uri, changes, version)
        if changed is not None:
            self.changes.append(changed)

    def send(self, text: str) -> Outstanding:
        """Replace the region by `text`."""
        span = self.region.span
        version = self.workspace.get(URI).version  # type: ignore[union-attr]
        return self.workspace.send(
            URI,
            Edit(span.start, span.end, text),
            "e1",
            blind=not self.editor.checks_version(version),
            send=lambda patch: self.editor.apply(patch, generation="e1", first=True, label=""),
        )

    async def sent(self, text: str) -> Outstanding:
        """Replace the region by `text`; the patch is on the wire, and the client has not seen it."""
        outstanding = self.send(text)
        while not self.editor.incoming:
            await asyncio.sleep(0)
        return outstanding

    async def rest(self) -> None:
        await self.editor.settle()
        mirror = self.workspace.get(URI)
        assert mirror is not None and mirror.text == self.editor.text(URI)
        assert not self.editor.problems


@pytest.mark.parametrize(
    "mode", ["vscode", "neovim", "neovim0", "eglot", "helix", "plain", "full", "applypatch"]
)
async def test_a_patch_lands_and_its_region_grows(mode: str) -> None:
    desk = Desk(mode, "a = 1\n<[b = 2]>\nc = 3\n")
    outstanding = desk.send("b = 22\nb2 = 3")
    await desk.rest()
    assert outstanding.landing.result() is Landing.LANDED
    assert desk.editor.text(URI) == "a = 1\nb = 22\nb2 = 3\nc = 3\n"
    assert desk.region.produced == "b = 22\nb2 = 3" == slice_of(desk, desk.region)
    assert not desk.region.touched
    assert not desk.workspace.busy(URI)


@pytest.mark.parametrize("mode", ["vscode", "neovim0", "eglot", "helix", "applypatch"])
async def test_a_key_that_overtakes_a_patch_makes_it_lost_not_misplaced(mode: str) -> None:
    desk = Desk(mode, "a = 1\n<[b = 2]>\n")
    if mode == "neovim0":  # Version 0 is unchecked there.
        desk.editor.replace(URI, 0, 0, "\n")
        await desk.rest()
    outstanding = await desk.sent("b = 22")
    desk.editor.replace(URI, 0, 0, "x")
    await desk.rest()
    assert outstanding.landing.result() in (Landing.LOST, Landing.REFUSED)
    assert desk.editor.text(URI).replace("\n", "") == "xa = 1b = 2"


async def test_B37_a_version_blind_client_puts_a_patch_on_a_moved_text_and_the_undo_is_known() -> None:
    desk = Desk("plain", "<[red]>\nblue\n")
    outstanding = await desk.sent("GREEN")
    desk.editor.replace(URI, 0, 0, "\n")
    await desk.rest()
    assert desk.editor.text(URI) == "GREEN\nred\nblue\n"
    assert outstanding.landing.result() is Landing.MISPLACED
    misplaced = desk.changes[-1].misplaced
    assert misplaced is not None
    undo = misplaced.undo
    text = desk.editor.text(URI)
    assert text[: undo.start] + undo.text + text[undo.end :] == "\nred\nblue\n"


@pytest.mark.parametrize("mode", ["vscode", "neovim", "plain"])
async def test_a_patch_that_falls_on_a_document_that_was_opened_again_can_be_taken_back(mode: str) -> None:
    """Versions begin anew there, so that the client compares with the wrong one."""
    desk = Desk(mode, "a = 1\n<[b = 2\nc = 3\n]>d = 4\n")
    if mode == "vscode":
        desk.editor.replace(URI, 0, 0, "x")
        await desk.rest()
    await desk.sent("")
    desk.editor.close(URI)
    desk.editor.open(URI, "a = 1\nb = 2\nc = 3\nd = 4\n")
    desk.editor.replace(URI, 6, 6, "new\n")
    await desk.rest()
    text = desk.editor.text(URI)
    assert text == "a = 1\nc = 3\nd = 4\n"
    misplaced = desk.changes[-1].misplaced
    assert misplaced is not None
    undo = misplaced.undo
    assert text[: undo.start] + undo.text + text[undo.end :] == "a = 1\nnew\nb = 2\nc = 3\nd = 4\n"


@pytest.mark.parametrize("key", ["x", "\r\n", "\n    "])
async def test_a_key_that_a_lost_patch_would_have_written_stays(key: str) -> None:
    desk = Desk("applypatch", "on<|>e\n")
    place = desk.region.span.start
    outstanding = await desk.sent(key)
    desk.editor.replace(URI, 0, 0, "0")
    desk.editor.replace(URI, place, place, key)
    await desk.rest()
    assert outstanding.landing.result() is Landing.LOST
    assert all(changed.misplaced is None for changed in desk.changes)


@pytest.mark.parametrize("typed", ["XY", "c"])
async def test_a_user_who_does_what_a_blind_patch_does_hides_nothing_of_its_landing(typed: str) -> None:
    desk = Desk("neovim0", "a<[b]>cd\n")
    await desk.sent("")
    desk.editor.replace(URI, 1, 3, typed)
    await desk.rest()
    assert desk.editor.text(URI) == f"a{typed[1:]}d\n"
    misplaced = desk.changes[-1].misplaced
    assert misplaced is not None
    assert misplaced.undo == Edit(1, 1, typed[0])


async def test_a_blind_patch_beside_the_typing_is_where_it_belongs() -> None:
    desk = Desk("plain", "<[red]>\nblue\n")
    outstanding = await desk.sent("GREEN")
    end = len("red\nblue\n")
    desk.editor.replace(URI, end, end, "below")
    await desk.rest()
    assert outstanding.landing.result() is Landing.LANDED
    assert desk.editor.text(URI) == "GREEN\nblue\nbelow"


async def test_B56_a_reply_after_the_waiter_is_gone_is_accounted_for() -> None:
    desk = Desk("vscode", "<[red]>\n")
    outstanding = desk.send("GREEN")
    waiter = asyncio.create_task(wait_for(outstanding))
    await asyncio.sleep(0)
    waiter.cancel()
    await asyncio.wait([waiter])
    assert desk.workspace.outstanding(URI) is outstanding
    await desk.rest()
    assert desk.workspace.outstanding(URI) is None
    assert desk.editor.text(URI) == "GREEN\n"


async def test_B31_changes_to_a_document_that_is_not_open_are_ignored(
    caplog: pytest.LogCaptureFixture,
) -> None:
    workspace = Workspace()
    for version in range(5):
        assert workspace.change(URI, [], version) is None
    assert len(caplog.records) == 1
    workspace.open(URI, "python", 1, "x")
    assert workspace.get(URI) is not None


async def test_a_second_patch_may_not_go_before_the_first_is_settled() -> None:
    desk = Desk("vscode", "<[red]>\n")
    desk.send("GREEN")
    with pytest.raises(RuntimeError, match="under way"):
        desk.send("BLUE")
    await desk.rest()
    desk.send("BLUE")
    await desk.rest()
    assert desk.editor.text(URI) == "BLUE\n"


async def test_whoever_waits_for_the_document_goes_on_one_after_the_other() -> None:
    desk = Desk("vscode", "<[red]>\n")
    desk.send("GREEN")

    async def send_next(text: str) -> bool:
        settled = await desk.workspace.settled(URI, 5.0)
        if settled:
            desk.send(text)
        return settled

    waiting = asyncio.gather(send_next("BLUE"), send_next("WHITE"))
    await desk.rest()
    assert await waiting == [True, True]
    await desk.rest()
    assert desk.editor.text(URI) == "WHITE\n"


async def test_closing_settles_what_is_under_way() -> None:
    desk = Desk("vscode", "<[red]>\n")
    outstanding = desk.send("GREEN")
    desk.workspace.close(URI)
    assert outstanding.landing.result() is Landing.CLOSED
    await desk.editor.settle()
    await desk.workspace.shutdown()


TOUCHES = {
    "a line inserted above": ("<|><[b]>\n", "x\n", False),
    "a character before the first line's text": ("<|><[b]>\n", "x", True),
    "a line inserted below": ("<[b]><|>\nc\n", "\nx", False),
    "a character at the end of the last line": ("<[b]><|>\nc\n", "x", True),
    "a character in the line above": ("a<|>\n<[b]>\n", "x", False),
    "a character in the line below": ("<[b]>\n<|>c\n", "x", False),
    "a character inside": ("<[b<|>b]>\n", "x", True),
    "a character beside a part of a line": ("f(<[b]>, c<|>)\n", "x", True),
}


@pytest.mark.parametrize("name", TOUCHES)
async def test_what_counts_as_typing_in_the_region(name: str) -> None:
    source, text, expected = TOUCHES[name]
    cursor = parse(source.replace("<[", "").replace("]>", "")).cursor
    desk = Desk("vscode", source.replace("<|>", ""))
    desk.editor.replace(URI, cursor, cursor, text)
    await desk.rest()
    assert desk.region.touched is expected


def slice_of(desk: Desk, region: Region) -> str:
    document = desk.workspace.get(URI)
    assert document is not None
    span: Span = region.span
    return document.slice(span.start, span.end)


async def wait_for(outstanding: Outstanding) -> None:
    await asyncio.shield(outstanding.landing)
