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
