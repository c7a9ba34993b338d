"""What changed lately, as hunks."""

import pytest

from lsp_server.core.context import Hunk, ended, grown, hunk_of
from lsp_server.core.document import Change, Document
from lsp_server.core.edits import replacement
from lsp_server.core.text import Encoding, Position, Range

URI = "file:///w/app/shop.py"


def hunk(old: str, *new: str) -> Hunk | None:
    """The hunk of a document that became one text after the other; the last burst counts."""
    before, burst = Document.open(URI, "python", 1, old), None
    for version, text in enumerate(new, 2):
        edit = replacement(before.text, text)
        assert edit
        after = before.edited(edit, version)
        burst, _ = grown(burst, before, after, (edit,))
        before = after
    over = ended(burst) if burst else None
    return hunk_of(over) if over else None


@pytest.mark.parametrize(
    ("old", "new", "diff"),
    [
        ("a\nb\nc\nd\n", ["a\nB\nc\nd\n"], " a\n-b\n+B\n c\n"),
        ("a\nb\nc\n", ["a\nB\nc\n", "a\nBB\nc\n", "a\nBBB\nc\n"], " a\n-b\n+BBB\n c\n"),
        ("a\nb\nc\n", ["a\nBb\nc\n", "a\nb\nc\n"], None),
        ("a\nb\nc\n", ["a\n  b\n\nc\n"], None),
        ("a\r\nb\r\n", ["a\r\nB\r\n"], " a\n-b\n+B\n \n"),
        ("a\nb\n", ["a\nnew\nb\n"], " a\n+new\n b\n"),
        (
            "a\nb\nc\n0\nd\ne\nf\n",
            ["a\nB\nc\n0\nd\ne\nf\n", "a\nB\nc\n0\nd\nE\nf\n"],
            " a\n-b\n+B\n c\n@@\n d\n-e\n+E\n f\n",
        ),
        ("b\n", ["b\n" + "x\n" * 40], None),
        ("b\n", ["b\n" + "x" * 500 + "\n"], None),
    ],
)
def test_a_burst_of_edits_is_one_hunk(old: str, new: list[str], diff: str | None) -> None:
    found = hunk(old, *new)
    assert (found and found.text) == diff


def test_far_apart_edits_are_bursts_of_their_own() -> None:
    text = "a\n" + "x = 1\n" * 100 + "b\n"
    found = hunk(text, text.replace("a", "A"), text.replace("a", "A").replace("b", "B"))
    assert found and found.text == " x = 1\n-b\n+B\n \n"


def test_a_change_of_many_places_in_one_message_is_one_burst() -> None:
    before = Document.open(URI, "python", 1, "old = 1\nx = 2\nold += x\n")
    where = [Range(Position(line, 0), Position(line, 3)) for line in (0, 2)]
    after, edits = before.apply([Change(each, "new") for each in where], 2, Encoding.UTF16)
    burst, _ = grown(None, before, after, edits)
    over = ended(burst)
    found = over and hunk_of(over)
    assert found and found.text == "-old = 1\n+new = 1\n x = 2\n-old += x\n+new += x\n \n"
