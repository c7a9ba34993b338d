"""Scopes of languages whose definitions are not indented blocks: headings, paragraphs, equations, units.

Each function takes a line and returns the block around it, None between blocks.
"""

import re
from collections.abc import Callable
from itertools import pairwise

from lsp_server.core.document import Document
from lsp_server.core.syntax.block import Block, ScopeKind, bare, trimmed, width_of

REACH = 2_000
"""How many lines to look up and down at most."""

_HEADING = re.compile(r" {0,3}#{1,6}\s+(?P<name>.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*$")
_FENCE = re.compile(r"\s*(?:```|~~~)")


def heading_at(document: Document, number: int) -> Block | None:
    """A heading of a text with what is said under it, up to the next heading of any level."""
    low, high = max(0, number - REACH), min(document.line_count, number + REACH)
    headings: list[tuple[int, str | None]] = [(low, None)]
    fenced = False
    for line in range(low, high):
        text = bare(document, line)
        fenced ^= bool(_FENCE.match(text))
        if fenced:
            continue
        if found := _HEADING.match(text):
            headings.append((line, found["name"]))
        elif line > low and text.strip() and _UNDERLINE.match(text):
            above = bare(document, line - 1)
            if above.strip() and not _HEADING.match(above) and not _UNDERLINE.match(above):
                headings.append((line - 1, above.strip()))
    starts = [*headings, (high, None)]
    for (first, name), (end, _) in pairwise(starts):
        if first <= number < end and name is not None:
            return trimmed(document, first, end - 1, number, "statement", name)
    return _text_paragraph(document, number)


def _text_paragraph(document: Document, number: int) -> Block | None:
    first = last = number
    while first > 0 and bare(document, first - 1).strip():
        first -= 1
    while last + 1 < document.line_count and bare(document, last + 1).strip():
        last += 1
    return (
        trimmed(document, first, last, number, "statement", None) if bare(document, number).strip() else None
    )


_AREA = r"(?:[\d ]{6}[ D])?[ \t]{0,3}"
_PARAGRAPH = re.compile(
    rf"{_AREA}(?!(?:EXIT|GOBACK|CONTINUE|END-\w+|ELSE)\b)(?P<name>[\w-]+)"
    r"(?:\s+(?P<what>SECTION|DIVISION)\b[^.]*)?\s*\.\s*$",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"[\d ]{0,6}[ \t]*(?:01|77|78|FD|SD|SELECT)\s+(?P<name>[\w-]+)", re.IGNORECASE)
_COBOL_COMMENT = re.compile(r"(?:.{6}[*/]|\s*\*)")


def paragraph_at(document: Document, number: int) -> Block | None:
    """A paragraph of COBOL; on a section's own lines the section; in the data division one entry."""
    found = None
    for line in range(number, max(-1, number - REACH), -1):
        text = bare(document, line)
        if not _COBOL_COMMENT.match(text) and (found := _PARAGRAPH.match(text) or _ENTRY.match(text)):
            break
    if found is None:
        return None
    groups = found.groupdict()
    what = (groups.get("what") or "").upper()
    if what == "DIVISION":
        return Block(line, line, "statement", found["name"]) if line == number else _lone(document, number)

    def ends(text: str) -> bool:
        below = _PARAGRAPH.match(text)
        if found.re is _ENTRY:
            return bool(below or _ENTRY.match(text))
        return bool(below and (what != "SECTION" or below["what"])) or text.strip().upper().startswith(
            "END PROG"
        )

    last = _before(document, line, ends, _COBOL_COMMENT)
    kind: ScopeKind = "statement" if found.re is _ENTRY else "function"
    return trimmed(document, line, last, number, kind, found["name"])


_UNIT = re.compile(
    r"\s*(?!end\b)(?:[\w()*=, ]*\s)??(?P<what>subroutine|function)\s+(?P<name>\w+)", re.IGNORECASE
)
_HOLDER = re.compile(r"\s*(?:program|module|submodule|interface)\b(?!\s*(?:procedure|=|\())", re.IGNORECASE)
_UNIT_END = re.compile(
    r"\s*end\s*(?:(?:subroutine|function|program|module|submodule|interface)\b.*)?$", re.IGNORECASE
)


def unit_at(document: Document, number: int) -> Block | None:
    """A subroutine or function of Fortran, by its first and last statement, however it is indented."""
    open_below = 0
    for line in range(number, max(-1, number - REACH), -1):
        text = bare(document, line)
        if _UNIT_END.match(text) and line < number:
            open_below += 1
        elif (found := _UNIT.match(text)) or _HOLDER.match(text):
            open_below -= 1
            if open_below < 0:
                return Block(line, _unit_end(document, line), "function", found["name"]) if found else None
    return None


def _unit_end(document: Document, first: int) -> int:
    depth, last = 0, first
    for line in range(first, min(document.line_count, first + REACH)):
        text = bare(document, line)
        if _UNIT_END.match(text):
            depth -= 1
            if depth == 0:
                return line
        elif _UNIT.match(text) or _HOLDER.match(text):
            depth += 1
        last = line if text.strip() else last
    return last


_EQUATION = re.compile(
    r"\s*\(?(?P<keyword>(?:let(?:\s+rec)?|and|data|newtype|type|class|instance|module|import|deriving|infix\w*"
    r"|foreign|open|val|def\w*-?)(?=\s))?\s*(?:\([^)]*\)\s*=>\s*)?(?P<name>[\w'*!?<>+:.-]*)"
)
_HOLDS = ("class", "instance")


def equation_at(document: Document, number: int, comment: re.Pattern[str]) -> Block | None:
    """The lines that define one name: its signature, its equations and the comment above them."""
    return _equation(document, number, comment, 0)


def _equation(document: Document, number: int, comment: re.Pattern[str], width: int) -> Block | None:
    first = _head(document, number, comment, width)
    if first is None:
        return None
    found = _EQUATION.match(bare(document, first))
    keyword, name = (found["keyword"], found["name"]) if found else (None, None)
    last = _tail(document, first, width)
    header = first
    while keyword is None and header > 0 and _defines(document, header - 1, name, width):
        above = _head(document, header - 1, comment, width)
        if above is None or above >= header:
            break
        header = above
    while keyword is None and _defines(document, last + 1, name, width):
        last = _tail(document, last + 1, width)
    if keyword in _HOLDS and number > first:
        inner = next((line for line in range(first + 1, last + 1) if bare(document, line).strip()), first)
        depth = width_of(bare(document, inner))
        block = _equation(document, number, comment, depth) if depth > width else None
        if block and block.first > first:
            return Block(block.first, block.last, "method", block.name, block.header)
    top = header
    while top > 0 and comment.match(bare(document, top - 1)) and width_of(bare(document, top - 1)) == width:
        top -= 1
    kind: ScopeKind = "statement" if keyword in ("module", "import", "open") else "function"
    kind = "class" if keyword in ("data", "newtype", "type", *_HOLDS) else kind
    return trimmed(document, top, last, number, kind, name or None, header)


def _head(document: Document, number: int, comment: re.Pattern[str], width: int) -> int | None:
    """The line at a depth that a line belongs to: itself, one above, or the one below its comment."""
    line = number
    while line < document.line_count and comment.match(bare(document, line)):
        line += 1
    if line < document.line_count and line > number and width_of(bare(document, line)) == width:
        return line if bare(document, line).strip() else None
    for line in range(number, max(-1, number - REACH), -1):
        text = bare(document, line)
        if text.strip() and width_of(text) <= width and not comment.match(text):
            return line if width_of(text) == width else None
    return None


def _tail(document: Document, first: int, width: int) -> int:
    last = first
    for line in range(first + 1, min(document.line_count, first + REACH)):
        text = bare(document, line)
        if text.strip() and width_of(text) <= width:
            break
        last = line if text.strip() else last
    return last


def _defines(document: Document, number: int, name: str | None, width: int) -> bool:
    """Whether a line is part of an equation of the same name, directly next to it."""
    if not name or number >= document.line_count or not (text := bare(document, number)).strip():
        return False
    if width_of(text) > width:
        above = number
        while above > 0 and width_of(bare(document, above)) > width and bare(document, above).strip():
            above -= 1
        text = bare(document, above)
    found = _EQUATION.match(text)
    return bool(found and found["keyword"] is None and found["name"] == name and width_of(text) == width)


def _before(document: Document, first: int, ends: Callable[[str], bool], comment: re.Pattern[str]) -> int:
    """The line before the next one that ends a block, without the comment that belongs to that one."""
    for line in range(first + 1, min(document.line_count, first + REACH)):
        text = bare(document, line)
        if not comment.match(text) and ends(text):
            while line - 1 > first and comment.match(bare(document, line - 1)):
                line -= 1
            return line - 1
    return min(document.line_count, first + REACH) - 1


def _lone(document: Document, number: int) -> Block | None:
    return Block(number, number, "statement") if bare(document, number).strip() else None
