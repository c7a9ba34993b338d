"""The true buffer of the fake editor: its text, who wrote each character, and its undo steps.

Everything here is done the slow and obvious way, so that it can serve as the truth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from lsp_server.core.text import Encoding, Position, Range

FILE, SERVER = 0, -1
"""Authors of characters. The user's characters carry the number of the keystroke, from 1."""


@dataclass(frozen=True, slots=True)
class Landed:
    """One change that the buffer took: `[start, end)` became `text`; `removed` is what stood there."""

    start: int
    end: int
    text: str
    removed: str
    removed_authors: tuple[int, ...]
    before: str
    author: int

    @property
    def after(self) -> str:
        """The whole text after the change."""
        return self.before[: self.start] + self.text + self.before[self.end :]


class Buffer:
    """A text under editing. Offsets are code points."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.cursor = 0
        self.authors = [FILE] * len(text)
        self.steps: list[list[Landed]] = []

    def replace(self, start: int, end: int, text: str, author: int, *, joins: bool = False) -> Landed:
        """Change the text as a new undo step, or as a part of the last one when it `joins`."""
        landed = self._put(start, end, text, [author] * len(text), author)
        if joins and self.steps:
            self.steps[-1].append(landed)
        else:
            self.steps.append([landed])
        return landed

    def undo(self, author: int) -> list[Landed]:
        """Take back the last step; the characters that return keep the authors they had."""
        step = self.steps.pop() if self.steps else []
        return [
            self._put(
                landed.start,
                landed.start + len(landed.text),
                landed.removed,
                list(landed.removed_authors),
                author,
            )
            for landed in reversed(step)
        ]

    def _put(self, start: int, end: int, text: str, authors: list[int], author: int) -> Landed:
        assert 0 <= start <= end <= len(self.text), f"[{start}, {end}) is not in the buffer"
        landed = Landed(
            start, end, text, self.text[start:end], tuple(self.authors[start:end]), self.text, author
        )
        self.text = self.text[:start] + text + self.text[end:]
        self.authors[start:end] = authors
        if self.cursor >= end and (self.cursor > start or author != SERVER):
            self.cursor += len(text) - (end - start)
        elif self.cursor > start:
            self.cursor = start
        return landed


def hull_of(landed: Sequence[Landed]) -> Landed:
    """Successive changes as one change."""
    before = landed[0].before
    after = landed[-1].after
    start = min(one.start for one in landed)
    tail = min(len(one.before) - one.end for one in landed)
    removed = before[start : len(before) - tail]
    text = after[start : len(after) - tail]
    return Landed(start, start + len(removed), text, removed, (), before, landed[-1].author)


def lines_of(text: str) -> list[str]:
    r"""The lines without their ends, split at `\n`, `\r\n` and `\r` only."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def position_of(text: str, offset: int, encoding: Encoding) -> Position:
    """The place of a code point, counted by encoding everything before it on its line."""
    before = lines_of(text[:offset])
    if text[:offset].endswith("\r") and text[offset : offset + 1] == "\n":
        before = lines_of(text[: offset - 1])
    return Position(len(before) - 1, _count(before[-1], encoding))


def offset_of(text: str, position: Position, encoding: Encoding) -> int:
    """The code point at a place; a place that no line has is the end of the line, or of the text."""
    start = 0
    for _ in range(position.line):
        ends = [index for index in (text.find("\n", start), text.find("\r", start)) if index >= 0]
        if not ends:
            return len(text)
        start = min(ends)
        start += 2 if text.startswith("\r\n", start) else 1
    line = lines_of(text[start:])[0]
    fitting = [
        index for index in range(len(line) + 1) if _count(line[:index], encoding) <= position.character
    ]
    return start + fitting[-1]


def range_of(text: str, start: int, end: int, encoding: Encoding) -> Range:
    """The range between two code points."""
    return Range(position_of(text, start, encoding), position_of(text, end, encoding))


def minimized(old: str, new: str) -> list[tuple[int, int, str]]:
    """The changes that turn `old` into `new`, last first, as VS Code computes them: `(start, end, text)`.

    VS Code compares UTF-16 units. A change that would begin or end inside a character of `old` is stretched
    over the whole of it, but its text is not: a pair of which only one half differs loses the other half.
    """
    old_units, new_units = _units(old), _units(new)
    boundaries = [len(_units(old[:index])) for index in range(len(old) + 1)]
    changes = []
    for kind, start, end, new_start, new_end in SequenceMatcher(
        None, old_units, new_units, autojunk=False
    ).get_opcodes():
        if kind != "equal":
            text = b"".join(new_units[new_start:new_end]).decode("utf-16-le", "surrogatepass")
            first = max(index for index, units in enumerate(boundaries) if units <= start)
            last = min(index for index, units in enumerate(boundaries) if units >= end)
            changes.append((first, last, text))
    return changes[::-1]


def _units(text: str) -> list[bytes]:
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[index : index + 2] for index in range(0, len(data), 2)]


def neovim_range(landed: Landed) -> tuple[int, int, str]:
    """The change as Neovim reports it: `(start, end, text)`.

    Neovim knows only which lines changed. It looks for the first difference in the first of them, and
    for the last difference only when as many lines as before have changed (`vim/lsp/sync.lua`).
    """
    before = landed.before
    after = before[: landed.start] + landed.text + before[landed.end :]
    start = before.rfind("\n", 0, landed.start) + 1
    old_end = _line_end(before, landed.end)
    new_end = len(after) - (len(before) - old_end)
    old, new = before[start:old_end], after[start:new_end]
    kept = 0
    while kept < len(lines_of(old)[0]) and old[kept : kept + 1] == new[kept : kept + 1]:
        kept += 1
    tail = 0
    if old.count("\n") == new.count("\n"):
        last_old, last_new = lines_of(old)[-1], lines_of(new)[-1]
        room = min(len(last_old), len(last_new)) - (kept if old.count("\n") == 0 else 0)
        while tail < room and last_old[-1 - tail] == last_new[-1 - tail]:
            tail += 1
    return start + kept, old_end - tail, new[kept : len(new) - tail]


def _line_end(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    if end < 0:
        return len(text)
    return end - 1 if text[offset:end].endswith("\r") else end


def _count(text: str, encoding: Encoding) -> int:
    codec = {Encoding.UTF8: ("utf-8", 1), Encoding.UTF16: ("utf-16-le", 2), Encoding.UTF32: ("utf-32-le", 4)}
    name, width = codec[encoding]
    return len(text.encode(name, "surrogatepass")) // width
