"""Edits to a text, and what they do to the places in it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lsp_server.core.text import Span


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the code points `[start, end)` by `text`."""

    start: int
    end: int
    text: str

    @property
    def delta(self) -> int:
        """By how much the text grows."""
        return len(self.text) - (self.end - self.start)

    @property
    def size(self) -> int:
        """How many characters it touches: those that it removes and those that it inserts."""
        return self.end - self.start + len(self.text)

    @property
    def is_noop(self) -> bool:
        """True for an edit that removes nothing and inserts nothing."""
        return self.start == self.end and not self.text


@dataclass(frozen=True, slots=True)
class Patch:
    """One edit, bound to the document version that it was computed against."""

    uri: str
    version: int
    edit: Edit


def apply(text: str, edits: Iterable[Edit]) -> str:
    """`text` after all edits, each relative to the text that the one before left."""
    for edit in edits:
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def moved(offset: int, edit: Edit, *, after_insert: bool = False) -> int:
    """Where an anchor is after `edit`.

    Text inserted exactly at the anchor moves it only with `after_insert`. An anchor inside replaced
    text goes to the start of the new text, or to its end with `after_insert`.
    """
    if offset < edit.start or (offset == edit.start and edit.start < edit.end):
        return offset
    if offset == edit.start or offset < edit.end:
        return edit.start + len(edit.text) if after_insert else edit.start
    return offset + edit.delta


def moved_span(span: Span, edit: Edit) -> Span:
    """Where a span is after somebody else's edit: text inserted at its borders stays outside."""
    start = moved(span.start, edit, after_insert=True)
    return Span(start, max(start, moved(span.end, edit)))


def grown_span(span: Span, edit: Edit) -> Span:
    """Where a span is after an edit of its own: text inserted at its borders belongs to it."""
    return Span(moved(span.start, edit), moved(span.end, edit, after_insert=True))


def inverse(edit: Edit, removed: str) -> Edit:
    """The edit that takes `edit` back, given the text that it removed."""
    return Edit(edit.start, edit.start + len(edit.text), removed)


def hull(edits: Sequence[Edit]) -> tuple[Span, Span]:
    """The smallest spans, in the text before and in the text after, outside which nothing changed.

    `edits` must not be empty; each is relative to the text that the one before left.
    """
    start, before_end, after_end = edits[0].start, edits[0].end, edits[0].end
    for edit in edits:
        start = min(start, edit.start)
        beyond = max(0, edit.end - after_end)
        before_end += beyond
        after_end += beyond + edit.delta
    return Span(start, before_end), Span(start, after_end)


def replacement(old: str, new: str, at: int = 0) -> Edit | None:
    r"""The edit that turns `old`, which starts at offset `at`, into `new`; None when they are equal.

    What both have in common at the start, then at the end, is left out. The edit never begins or ends
    between `\r` and `\n`, because no client can express that place.
    """
    if old == new:
        return None
    start = common_prefix(old, new)
    if old[start - 1 : start] == "\r" and "\n" in (old[start : start + 1], new[start : start + 1]):
        start -= 1
    kept = common_suffix(old[start:], new[start:])
    old_end, new_end = len(old) - kept, len(new) - kept
    if old[old_end : old_end + 1] == "\n" and "\r" in (
        old[max(0, old_end - 1) : old_end],
        new[max(0, new_end - 1) : new_end],
    ):
        old_end, new_end = old_end + 1, new_end + 1
    return Edit(at + start, at + old_end, new[start:new_end])


def common_prefix(a: str, b: str) -> int:
    """How many characters `a` and `b` share at their start."""
    low, high = 0, min(len(a), len(b))
    # Comparing halves lets the interpreter compare in bulk, which beats a loop over characters.
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_suffix(a: str, b: str) -> int:
    """How many characters `a` and `b` share at their end."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[len(a) - middle : len(a) - low] == b[len(b) - middle : len(b) - low]:
            low = middle
        else:
            high = middle - 1
    return low
