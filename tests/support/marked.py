"""Source text with marks in it, so that a test never spells a line or a column.

    <|>          the cursor
    <[ ... ]>    the selection
    ^^^ name     on a line of its own, a label for the text above it

A label line repeats the tabs of the line above it, so that the two line up.
"""

import re
from dataclasses import dataclass, field

from lsp_server.core.text import Span, split_lines

CURSOR, OPEN, CLOSE = "<|>", "<[", "]>"
_LABEL = re.compile(r"[ \t]*(\^+) (\S.*?)\s*\Z")


@dataclass(frozen=True, slots=True)
class Marked:
    """A text without its marks, and where they were (code points)."""

    text: str
    cursor: int | None = None
    selection: Span | None = None
    labels: dict[str, Span] = field(default_factory=dict)

    @property
    def at(self) -> int:
        """The cursor of a text that must have one."""
        assert self.cursor is not None, "the text has no cursor mark"
        return self.cursor

    @property
    def span(self) -> Span:
        """The selection, or the cursor as an empty one."""
        return self.selection or Span(self.at, self.at)


def parse(source: str) -> Marked:
    """Take the marks out of `source`."""
    labels: dict[str, Span] = {}
    kept, above, length = [], 0, 0
    for line in split_lines(source):
        if label := _LABEL.match(line):
            bare_column = label.start(1)
            labels[label[2]] = Span(above + bare_column, above + label.end(1))
            continue
        kept.append(line)
        above, length = length, length + len(_bare(line))
    text, marks = "", {}
    for piece in re.split(r"(<\|>|<\[|\]>)", "".join(kept)):
        if piece in (CURSOR, OPEN, CLOSE):
            assert piece not in marks, f"{piece} appears twice"
            marks[piece] = len(text)
        else:
            text += piece
    assert (OPEN in marks) == (CLOSE in marks), "a selection needs both of its marks"
    selection = Span(marks[OPEN], marks[CLOSE]) if OPEN in marks else None
    return Marked(text, marks.get(CURSOR), selection, labels)


def show(text: str, cursor: int | None = None, selection: Span | None = None) -> str:
    """`text` with the marks put in; the inverse of `parse` but for labels."""
    marks = [] if selection is None else [(selection.end, CLOSE), (selection.start, OPEN)]
    if cursor is not None:
        marks.append((cursor, CURSOR))
    for offset, mark in sorted(marks, key=lambda mark: mark[0], reverse=True):
        text = text[:offset] + mark + text[offset:]
    return text


def _bare(line: str) -> str:
    return line.replace(CURSOR, "").replace(OPEN, "").replace(CLOSE, "")
