"""Syntax trees: note what changed, parse when somebody asks.

Parsing holds the interpreter lock, so a keystroke must not do it, and a large file is never parsed
whole. Tree-sitter counts bytes; the conversion to code points lives in `Parsed` and nowhere else.
"""

from dataclasses import dataclass, replace

import tree_sitter

from lsp_server.core.document import Document
from lsp_server.core.edits import Edit, grown_span, replacement
from lsp_server.core.syntax.embedded import embedded
from lsp_server.core.syntax.grammar import Grammar, load
from lsp_server.core.syntax.languages import Language, language_of
from lsp_server.core.syntax.windows import starts_block, window
from lsp_server.core.text import Span

WHOLE_LINES = 2_000
"""Files up to this many lines are parsed whole: about 14 ms at first, then in increments."""

WINDOW_REACH = 150
"""How far a window reaches to each side of the cursor, in lines."""

MAX_CHARACTERS = 150_000
"""No text longer than this is parsed, however few its lines are."""

_MARGIN = 50


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree of one piece of a document; `span` is that piece in code points of the document."""

    text: str
    span: Span
    root: tree_sitter.Node
    grammar: Grammar
    source: bytes
    fragment: int

    def path(self, offset: int) -> list[tree_sitter.Node]:
        """The nodes that hold the character after `offset`, from the root inwards."""
        byte = self.fragment + len(_encode(self.text[: offset - self.span.start]))
        nodes, cursor = [self.root], self.root.walk()
        while cursor.goto_first_child_for_byte(byte) is not None:
            node = cursor.node
            if node is None or node.start_byte > byte:
                break
            nodes.append(node)
        return nodes

    def node_span(self, node: tree_sitter.Node) -> Span:
        """Where a node is in the document."""
        return Span(self._offset(node.start_byte), self._offset(node.end_byte))

    def _offset(self, byte: int) -> int:
        return self.span.start + len(self.source[self.fragment : byte].decode(errors="ignore"))


class SyntaxTree:
    """The tree of one open document; lives as long as the document does.

    A document whose grammar is missing gives None for every question, which callers answer by lines.
    `bytes_parsed` counts what was handed to the parser.
    """

    def __init__(self, language: Language) -> None:
        self.language = language
        self.bytes_parsed = 0
        self._last: tuple[Parsed, tree_sitter.Tree] | None = None
        self._window: Span | None = None
        self._inner: dict[str, SyntaxTree] = {}

    def note(self, edit: Edit, before: Document) -> None:
        """A keystroke: remember where the parsed window went. `before` is the document it changed."""
        if self._window is not None:
            self._window = grown_span(self._window, edit)

    def parse(self, document: Document, around: Span) -> Parsed | None:
        """The tree around a place, or None: no grammar, or nowhere to cut a window."""
        span = self._span(document, around)
        return None if span is None else self._embedded(self._parse(document, span), around)

    def reparse(self, document: Document, around: Span) -> Parsed | None:
        """The tree of the block at a place alone, away from errors in its neighbours."""
        span = window(document, around, reach=0, limit=WHOLE_LINES)
        return None if span is None else self._embedded(self._parse(document, span, kept=False), around)

    def _span(self, document: Document, around: Span) -> Span | None:
        if document.line_count <= WHOLE_LINES:
            return Span(0, document.length)
        if self._window is None or not _still_fits(self._window, document, around):
            self._window = window(document, around, WINDOW_REACH, WHOLE_LINES)
        return self._window

    def _parse(self, document: Document, span: Span, *, kept: bool = True) -> Parsed | None:
        if len(span) > MAX_CHARACTERS:
            return None
        return self._parse_text(document.slice(span.start, span.end), span, kept=kept)

    def _parse_text(self, text: str, span: Span, *, kept: bool = True) -> Parsed | None:
        grammar = self.language.grammar
        language = load(grammar) if grammar else None
        if grammar is None or language is None:
            return None
        fragment = _encode(grammar.fragment) if span.start else b""
        source = fragment + _encode(text)
        if kept and self._last and self._last[0].text == text and self._last[0].fragment == len(fragment):
            return replace(self._last[0], span=span)
        old = self._edited(text, len(fragment)) if kept else None
        parser = tree_sitter.Parser(language)
        tree = parser.parse(source, old) if old else parser.parse(source)
        self.bytes_parsed += len(source)
        parsed = Parsed(text, span, tree.root_node, grammar, source, len(fragment))
        if kept:
            self._last = parsed, tree
        return parsed

    def _edited(self, text: str, fragment: int) -> tree_sitter.Tree | None:
        """The last tree, told how `text` differs from what it was parsed from."""
        if self._last is None or self._last[0].fragment != fragment:
            return None
        last, tree = self._last
        edit = replacement(last.text, text)
        if edit is None or edit.end - edit.start > len(last.text) // 2:
            return None
        start = fragment + len(_encode(last.text[: edit.start]))
        removed = _encode(last.text[edit.start : edit.end])
        inserted = _encode(edit.text)
        head = last.source[:start]
        # Nodes of the old tree may still be in use; the copy shares all memory with it.
        tree = tree.copy()
        tree.edit(
            start,
            start + len(removed),
            start + len(inserted),
            _point(head),
            _point(head + removed),
            _point(head + inserted),
        )
        return tree

    def _embedded(self, parsed: Parsed | None, around: Span) -> Parsed | None:
        """The tree of the script or style sheet that holds `around`, where a page has one there."""
        if parsed is None or not parsed.grammar.embeds:
            return parsed
        found = embedded(parsed.path(around.start), parsed.grammar)
        if found is None or not parsed.node_span(found[0]).contains(around):
            return parsed
        node, language = found
        inner = self._inner.setdefault(language.id, SyntaxTree(language))
        span = parsed.node_span(node)
        text = parsed.text[span.start - parsed.span.start : span.end - parsed.span.start]
        before = inner.bytes_parsed
        tree = inner._parse_text(text, span)
        self.bytes_parsed += inner.bytes_parsed - before
        return tree or parsed


def parses(text: str, language_id: str) -> bool:
    """True when the whole of `text` parses without an error; also when there is no grammar to tell."""
    language = language_of(language_id)
    grammar = language.grammar if language else None
    tables = load(grammar) if grammar else None
    return tables is None or not tree_sitter.Parser(tables).parse(_encode(text)).root_node.has_error


def _encode(text: str) -> bytes:
    # A lone surrogate becomes one "?", so that code points still count alike on both sides.
    return text.encode(errors="replace")


def _point(head: bytes) -> tuple[int, int]:
    return head.count(b"\n"), len(head) - (head.rfind(b"\n") + 1)


def _still_fits(span: Span, document: Document, around: Span) -> bool:
    """Whether a window of an earlier version still is one, with the place well inside."""
    if not 0 <= span.start <= around.start <= around.end <= span.end <= document.length:
        return False
    first, end = document.line_at(span.start), document.line_at(span.end)
    top, bottom = document.line_at(around.start), document.line_at(around.end)
    if end - first > WHOLE_LINES or document.line_start(first) != span.start:
        return False
    return (first == 0 or (top - first >= _MARGIN and _starts(document, first))) and (
        span.end == document.length
        or (end - bottom >= _MARGIN and document.line_start(end) == span.end and _starts(document, end))
    )


def _starts(document: Document, number: int) -> bool:
    return starts_block(document.line(number - 1), document.line(number))
