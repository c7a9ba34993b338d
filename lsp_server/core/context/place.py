"""What is around the cursor: the names in use, and what the file imports."""

import re
from dataclasses import dataclass
from functools import lru_cache

from lsp_server.core.context.words import COMMON, LONGEST_LINE, NAME
from lsp_server.core.document import Document
from lsp_server.core.text import Span

ABOVE, BELOW = 30, 10
"""Lines around the cursor whose names count."""

LONGEST = 80
"""Lines of a selection whose names count."""

HEAD = 80
"""Lines at the top of a file that may import something."""

_IMPORTS = re.compile(
    r"^[ \t]*(?:(?:import|from|use|using|require|include|export)\b|\#[ \t]*include\b)"
    r"[^\n({]*(?:[({][^)}]*)?[^\n]*|^[^\n]*\brequire\b[^\n]*",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Place:
    """`near` are the names around, the nearest first; `reached` those that stand behind a dot.

    `called` are those before an opening bracket; `imports` are the words of the lines that import. `word` is
    the start of the name that is being typed, and is in none of the others. `lines` are the lines around,
    without their indentation.
    """

    uri: str
    language: str
    line: int
    near: tuple[str, ...]
    reached: frozenset[str]
    called: frozenset[str]
    imports: frozenset[str]
    lines: frozenset[str]
    word: str = ""


def place_at(document: Document, span: Span) -> Place:
    """The place of a cursor or of a scope; looks at a bounded number of lines."""
    top, bottom = document.line_at(span.start), document.line_at(span.end)
    last = min(document.line_count, max(bottom + 1 + BELOW, top + 1), top + LONGEST)
    order = [*range(top, last), *range(top - 1, max(-1, top - ABOVE - 1), -1)]
    if span.start == span.end:
        order.sort(key=lambda number: abs(number - top))
    word = _word_before(document, span.start) if span.start == span.end else ""
    near: dict[str, None] = {}
    reached, called, lines = set[str](), set[str](), set[str]()
    for number in order:
        text = document.line(number)[:LONGEST_LINE]
        lines.add(text.strip())
        typed = span.start - document.line_start(number) if word and number == top else -1
        for name, start, is_reached, is_called in _names_in(text):
            if start <= typed <= start + len(name):
                continue
            near.setdefault(name)
            if is_reached:
                reached.add(name)
            if is_called:
                called.add(name)
    return Place(
        document.uri,
        document.language,
        top,
        tuple(near),
        frozenset(reached),
        frozenset(called),
        imported(document),
        frozenset(lines),
        word,
    )


def imported(document: Document) -> frozenset[str]:
    """The words of the lines that import, at the top of the file; a list in brackets may go on over lines."""
    return _imported("".join(line[:LONGEST_LINE] for line in document.lines(0, HEAD)))


# Typing changes one line of those that are looked at, so the others are remembered.
@lru_cache(maxsize=1024)
def _names_in(line: str) -> tuple[tuple[str, int, bool, bool], ...]:
    """The names of a line, where they start, and whether they stand behind a dot or before a bracket."""
    return tuple(
        (match[2], match.start(2), bool(match[1]), line.startswith("(", match.end()))
        for match in NAME.finditer(line)
        if match[2] not in COMMON
    )


@lru_cache(maxsize=16)
def _imported(head: str) -> frozenset[str]:
    return frozenset(word for match in _IMPORTS.finditer(head) for word in re.findall(r"\w+", match[0]))


def _word_before(document: Document, cursor: int) -> str:
    """The start of the name that ends at the cursor."""
    start = document.line_start(document.line_at(cursor))
    match = re.search(r"[^\W\d]\w*$", document.slice(max(start, cursor - 80), cursor))
    return match[0] if match else ""
