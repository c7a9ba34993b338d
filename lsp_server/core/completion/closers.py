"""Trimming by what follows the cursor: the closers and the comma that are there already."""

from functools import lru_cache

from lsp_server.core.completion.brackets import Mark, Scanner
from lsp_server.core.completion.context import Context
from lsp_server.core.completion.indentation import columns


def within_closers(candidate: str, context: Context) -> str:
    """The candidate up to the first closer, or comma, that the text after the cursor has already."""
    limit = Limit(context)
    end = next((mark.offset for mark in limit.push(candidate)), None)
    return candidate if end is None else candidate[:end]


class Limit:
    """Push machine that marks where a candidate at the cursor leaves the room that it has.

    The brackets opened on the cursor's line need their closers. Those that follow on the same line, or on
    the first line below that has the indentation of this one, are there; the candidate may bring the others.
    Closers of brackets opened further above are there when any unmatched closer follows at all.
    """

    def __init__(self, context: Context) -> None:
        before = Scanner(context.language)
        before.push(context.before_line)
        self._scanner = before.inner(context.language)
        self._room = _room(context)
        self._comma = context.after_line.lstrip().startswith(",")

    def push(self, text: str) -> list[Mark]:
        """The marks in `text` that lie at or beyond the end of the room."""
        return [mark for mark in self._scanner.push(text) if self._is_beyond(mark)]

    def _is_beyond(self, mark: Mark) -> bool:
        if mark.text == ",":
            return self._comma
        if self._room is None:
            return False
        self._room -= 1
        return self._room < 0


@lru_cache(maxsize=8)
def _room(context: Context) -> int | None:
    """How many unmatched closers a candidate may have; None for any number.

    It reads many lines, and is asked for with every piece of an answer.
    """
    before = Scanner(context.language)
    before.push(context.before_line)
    opened = len(before.open)
    after = before.inner(context.language)
    there = _closers(after.push(context.after_line))
    if there:
        return max(0, opened - there)
    after.push("\n")
    for line in context.following:
        there = _closers(after.push(line + "\n"))
        if there:
            same_level = columns(line) == columns(context.before_line + context.after_line)
            return max(0, opened - there) if same_level else opened
    return None


def _closers(marks: list[Mark]) -> int:
    return sum(mark.text != "," for mark in marks)
