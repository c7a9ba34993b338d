"""What changed lately, as hunks of a diff.

Changes close to each other are one burst; only its first and its last text count, so that a burst that was
taken back leaves nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from lsp_server.core.context.words import LONGEST_LINE
from lsp_server.core.document import Document
from lsp_server.core.edits import Edit, hull
from lsp_server.core.text import Span

NEAR = 300
"""Characters between a burst and a change that still belongs to it."""

LARGEST = 4_000
"""Characters of a burst: with more, the next change begins another one."""

MOST_LINES = 30
"""Lines of a hunk: a longer one is new code, and no hint at what comes next."""

_AROUND = 1


@dataclass(frozen=True, slots=True)
class Burst:
    """Changes to one place: `old` of the text `before` became `new` of the text `after`."""

    before: Document
    after: Document
    old: Span
    new: Span


@dataclass(frozen=True, slots=True)
class Ended:
    """The lines of a burst before and after it, with one unchanged line on each side."""

    uri: str
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hunk:
    """The lines of a burst with `-`, `+` or a blank in front. `adds_only`: nothing was removed."""

    uri: str
    text: str
    adds_only: bool


def is_near(burst: Burst, span: Span) -> bool:
    """True where a change at `span` of the burst's last text goes on with it."""
    return span.start <= burst.new.end + NEAR and span.end >= burst.new.start - NEAR


def grown(
    burst: Burst | None, before: Document, after: Document, edits: Sequence[Edit]
) -> tuple[Burst, bool]:
    """The burst that a change belongs to, and whether it is still the one before. Takes no look at the text.

    `edits` lead from `before` to `after` and are not empty.
    """
    old, new = hull(edits)
    known = burst is not None and burst.after.uri == after.uri and len(burst.new) <= LARGEST
    if burst is None or not known or not is_near(burst, old):
        return Burst(before, after, old, new), False
    left = max(0, burst.new.start - old.start)
    beyond = max(0, old.end - burst.new.end)
    start = burst.new.start - left
    end = burst.new.end + beyond + len(new) - len(old)
    whole = Span(burst.old.start - left, burst.old.end + beyond)
    return Burst(burst.before, after, whole, Span(start, end)), True


def ended(burst: Burst) -> Ended | None:
    """What is kept of a burst instead of two whole documents; None where it is too much to show."""
    old, new = _lines(burst.before, burst.old), _lines(burst.after, burst.new)
    return None if old is None or new is None else Ended(burst.after.uri, old, new)


def hunk_of(burst: Ended) -> Hunk | None:
    """What a burst changed; None where that is nothing but blanks, or too much to show."""
    old, new = burst.old, burst.new
    if _bare(old) == _bare(new):
        return None
    lines: list[str] = []
    groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_AROUND)
    for number, group in enumerate(groups):
        lines += ["@@"] if number else []
        for kind, first, end, new_first, new_end in group:
            if kind == "equal":
                lines += [" " + line.rstrip("\r\n") for line in old[first:end]]
                continue
            lines += ["-" + line.rstrip("\r\n") for line in old[first:end]]
            lines += ["+" + line.rstrip("\r\n") for line in new[new_first:new_end]]
    if len(lines) > MOST_LINES or any(len(line) > LONGEST_LINE for line in lines):
        return None
    adds_only = not any(line.startswith("-") for line in lines)
    return Hunk(burst.uri, "".join(line + "\n" for line in lines), adds_only)


def _lines(document: Document, span: Span) -> tuple[str, ...] | None:
    """The whole lines of a span, and one on each side; None where they are too many, or too long."""
    first, last = document.line_at(span.start), document.line_at(span.end)
    if last - first > 3 * MOST_LINES or len(span) > 2 * LARGEST:
        return None
    lines = tuple(document.lines(max(0, first - _AROUND), last + 1 + _AROUND))
    return lines if sum(map(len, lines)) <= 3 * LARGEST else None


def _bare(lines: Sequence[str]) -> list[str]:
    return [line for text in lines if (line := "".join(text.split()))]
