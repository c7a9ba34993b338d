"""Blocks of whole lines, the common answer of the two ways to find a scope."""

from dataclasses import dataclass
from typing import Literal

from lsp_server.core.document import Document

ScopeKind = Literal["function", "method", "class", "callback", "statement", "selection", "insertion"]


@dataclass(frozen=True, slots=True)
class Block:
    """Lines `first` to `last`, both included, and what they hold.

    `header` is the line where the definition itself starts, below its comments and decorators.
    """

    first: int
    last: int
    kind: ScopeKind
    name: str | None = None
    header: int = -1


def bare(document: Document, number: int) -> str:
    """Line `number` without its end."""
    return document.line(number).rstrip("\r\n")


def indent_of(line: str) -> str:
    """The blanks at the start of a line."""
    return line[: len(line) - len(line.lstrip())]


def width_of(line: str) -> int:
    """The depth of a line's indentation in columns; tabs stop at every eighth."""
    return len(indent_of(line).expandtabs(8))


def trimmed(
    document: Document,
    first: int,
    last: int,
    number: int,
    kind: ScopeKind,
    name: str | None,
    header: int = -1,
) -> Block | None:
    """A block without the blank lines around it; None when line `number` is one of them."""
    while last > first and not bare(document, last).strip():
        last -= 1
    while first < last and not bare(document, first).strip():
        first += 1
    if not first <= number <= last or not bare(document, first).strip():
        return None
    return Block(first, last, kind, name or None, header)
