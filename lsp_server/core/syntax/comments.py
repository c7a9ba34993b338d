"""Comments and strings: what a place is in, and instructions that the user left in comments."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from lsp_server.core.document import Document
from lsp_server.core.syntax.languages import Language, language_of
from lsp_server.core.syntax.tree import SyntaxTree
from lsp_server.core.text import Span

DIRECTIVE = "midstream:"

_BLOCK_ENDS = ("*/", "-->", "]]", "=end")


@dataclass(frozen=True, slots=True)
class Directive:
    """An instruction in a comment. `span` is the comment's whole lines with their ends.

    Behind code on the same line it is the comment alone, with the blanks before it.
    """

    span: Span
    instruction: str


def directive_comments(text: str, language_id: str) -> list[Directive]:
    """The comments that begin with `midstream:`, in the order of the text.

    A line comment goes on over the comment lines directly below that are indented deeper behind the
    comment sign; a block comment up to its end.
    """
    language = language_of(language_id)
    if language is None or DIRECTIVE not in text:
        return []
    return [
        Directive(Span(*found.span()), instruction)
        for pattern in _directives(language)
        for found in pattern.finditer(text)
        if (instruction := _instruction(found["instruction"], language))
    ]


def in_string_or_comment(
    document: Document, tree: SyntaxTree | None, offset: int
) -> Literal["code", "string", "comment"]:
    """What a cursor at `offset` is in. Code inside an interpolated string is code.

    Without a tree, and on lines that do not parse, quotes and comment signs of the line decide.
    """
    offset = max(0, min(offset, document.length))
    language = tree.language if tree else language_of(document.language)
    parsed = tree.parse(document, Span(offset, offset)) if tree else None
    before = document.slice(document.line_start(document.line_at(offset)), offset)
    if parsed is None or not parsed.span.touches(offset) or offset == 0:
        return _by_line(before, language)
    kinds = parsed.grammar
    path = parsed.path(offset - 1)
    for node in reversed(path):
        span = parsed.node_span(node)
        if node.type in kinds.comments and node.is_named:
            closed = document.slice(span.start, span.end).endswith(_BLOCK_ENDS)
            return "comment" if offset < span.end or not closed else "code"
        if node.type in kinds.interpolations and node.is_named:
            return "code" if offset < span.end else "string"
        if node.type in kinds.strings and node.is_named:
            return "string" if offset < span.end else "code"
    broken = path[1] if len(path) > 1 else path[0]
    return _by_line(before, language) if broken.has_error else "code"


def _by_line(before: str, language: Language | None) -> Literal["code", "string", "comment"]:
    """What the end of an incomplete line is in, by its quotes."""
    prefix = language.line_comment if language else ""
    quote = ""
    index = 0
    while index < len(before):
        character = before[index]
        if quote:
            if character == "\\":
                index += 1
            elif character == quote:
                quote = ""
        elif prefix and before.startswith(prefix, index):
            return "comment"
        elif character in "\"'`":
            quote = character
        index += 1
    return "string" if quote else "code"


@cache
def _directives(language: Language) -> tuple[re.Pattern[str], ...]:
    end_of_line = r"(?:\r\n|\n|\r|\Z)"
    patterns = []
    if language.line_comment:
        comment = rf"[ \t]*{re.escape(language.line_comment)}+"
        goes_on = rf"(?:(?:\r\n|\n|\r){comment}[ \t]{{2,}}\S[^\r\n]*)*"
        words = rf"[ \t]?{DIRECTIVE}(?P<instruction>[^\r\n]*"
        patterns.append(rf"(?m)^{comment}{words}{goes_on}){end_of_line}")
        patterns.append(rf"(?<=\S)[ \t]{comment}{words})")
    if language.block_comment:
        start, end = (re.escape(sign) for sign in language.block_comment)
        words = rf"\s*{DIRECTIVE}(?P<instruction>(?:(?!{end})[\s\S])*)"
        patterns.append(rf"(?m)^[ \t]*{start}\**{words}{end}[ \t]*{end_of_line}")
    return tuple(map(re.compile, patterns))


def _instruction(raw: str, language: Language) -> str:
    """The words of an instruction without the comment signs of its later lines."""
    sign = re.escape(language.line_comment) if language.line_comment else r"\*"
    return " ".join(re.sub(rf"(?m)^[ \t]*(?:{sign}+|\*)[ \t]?", "", raw).split())
