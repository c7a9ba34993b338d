"""What is known of one language."""

from dataclasses import dataclass
from typing import Literal

from lsp_server.core.syntax.grammar import Grammar

Layout = Literal["blocks", "indents", "elements", "units", "equations", "headings", "paragraphs"]


@dataclass(frozen=True, slots=True)
class Language:
    """One language. `id` and `aliases` are LSP language ids, in lower case.

    `layout` says how the lines alone show a definition: `blocks` closed by a bracket or a word,
    `indents` closed by nothing, `elements` of markup, `units` of Fortran, `equations` that start in the
    first column, `headings` of a text, `paragraphs` of COBOL.
    """

    id: str
    aliases: tuple[str, ...] = ()
    line_comment: str = ""
    block_comment: tuple[str, str] | None = None
    grammar: Grammar | None = None
    layout: Layout = "blocks"


C_BLOCK = ("/*", "*/")
"""The block comment of C and of all that took its syntax."""
