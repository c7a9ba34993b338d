"""The scope: the code that a request is about."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from lsp_server.core.document import Document
from lsp_server.core.syntax import definitions, lines
from lsp_server.core.syntax.block import Block, ScopeKind, bare, indent_of, width_of
from lsp_server.core.syntax.languages import Language, language_of
from lsp_server.core.syntax.tree import Parsed, SyntaxTree
from lsp_server.core.text import Span

_DEFINITIONS = ("function", "method", "class", "callback")


@dataclass(frozen=True, slots=True)
class Scope:
    """A piece of a document with what prompts and titles say about it.

    The span covers whole lines: from the start of its first line, indentation included, to the end of
    its last line's text, line end excluded. Two kinds differ: a `selection` inside a line is exactly
    what is selected, and an `insertion` is empty, at the cursor. `indent` is the indentation of the
    first line. The first `lead` code points are what only stands above the definition: comments,
    decorators, attributes.
    """

    span: Span
    kind: ScopeKind
    name: str | None
    indent: str
    lead: int = 0


def scope_at(document: Document, tree: SyntaxTree | None, selection: Span) -> Scope:
    """The scope of a selection, or of the cursor where nothing but blanks is selected.

    A cursor takes the smallest function, method, class or long callback, with decorators and the
    comment directly above it; else the top-level statement; else it inserts. Any text and any
    offsets have a scope: without a sound tree the indentation decides.
    """
    start, end = sorted(max(0, min(place, document.length)) for place in (selection.start, selection.end))
    if not document.slice(start, end).strip():
        return _at_cursor(document, tree, end if start == end else start)
    return _selected(document, tree, start, end)


def _at_cursor(document: Document, tree: SyntaxTree | None, cursor: int) -> Scope:
    block = _block_at(document, tree, cursor)
    if block is None:
        line = document.line_at(cursor)
        before = document.slice(document.line_start(line), cursor)
        return Scope(Span(cursor, cursor), "insertion", None, indent_of(before))
    return _scope(document, block)


def _scope(document: Document, block: Block) -> Scope:
    start = document.line_start(block.first)
    end = document.line_start(block.last) + len(bare(document, block.last))
    lead = document.line_start(block.header) - start if block.header > block.first else 0
    return Scope(Span(start, end), block.kind, block.name, indent_of(bare(document, block.first)), lead)


def _block_at(document: Document, tree: SyntaxTree | None, cursor: int) -> Block | None:
    block = _smallest_block(document, tree, cursor)
    if block is None or block.kind not in ("statement", "callback"):
        return block
    if block.last - block.first < lines.LONG_STATEMENT:
        return block
    number = document.line_at(cursor)
    if not lines.is_everything(document, block) or not bare(document, number).strip():
        return block
    return lines.block_at(document, tree.language if tree else None, number, 0)


def _smallest_block(document: Document, tree: SyntaxTree | None, cursor: int) -> Block | None:
    number = document.line_at(cursor)
    text = bare(document, number)
    column = cursor - document.line_start(number)
    language = tree.language if tree else language_of(document.language)
    broken: list[Block] = []
    for parsed in _trees(document, tree, cursor):
        block, sound = _in_tree(document, parsed, language, number, column)
        # A piece of the document may have lost the definition that the whole still shows.
        if sound and (_is_definition(block) or not any(map(_is_definition, broken))):
            return block
        broken += [block] if block else []
    by_lines = lines.block_at(document, language, number, width_of(text[:column] + "x"))
    # A tree knows names and kinds better, if only it sees the same lines, and no less in them.
    for block in broken:
        same = by_lines and (block.first, block.last) == (by_lines.first, by_lines.last)
        if same and (_is_definition(block) or not _is_definition(by_lines)):
            return block
    return by_lines


def _is_definition(block: Block | None) -> bool:
    return block is not None and block.kind in _DEFINITIONS


def _trees(document: Document, tree: SyntaxTree | None, cursor: int) -> Iterator[Parsed]:
    """The tree around the cursor; where that one is broken, the tree of the cursor's block alone."""
    if tree is None:
        return
    for parse in (tree.parse, tree.reparse):
        parsed = parse(document, Span(cursor, cursor))
        if parsed is not None and parsed.span.touches(cursor):
            yield parsed


def _in_tree(
    document: Document, parsed: Parsed, language: Language | None, number: int, column: int
) -> tuple[Block | None, bool]:
    """The block of a line in a tree, and whether the tree can be trusted about it."""
    text = bare(document, number)
    start = document.line_start(number)
    if not text.strip():
        if language and language.layout == "indents" and text[:column]:
            return _continued(document, parsed, number, width_of(text[:column] + "x"))
        return _innermost(document, parsed, [start])
    below = definitions.below_attached(document, parsed, number)
    if below is not None:
        found, sound = _in_tree(document, parsed, language, below, 0)
        if found and _is_definition(found) and found.first <= below <= found.header:
            first = definitions.attached_above(document, parsed, found.first, parsed.grammar.comments)
            return replace(found, first=first), sound
    first, last = len(indent_of(text)), len(text.rstrip()) - 1
    places = {max(first, min(column + shift, last)) for shift in (0, -1)}
    return _innermost(document, parsed, [start + place for place in sorted(places, reverse=True)])


def _innermost(document: Document, parsed: Parsed, offsets: list[int]) -> tuple[Block | None, bool]:
    """The smallest definition that touches one of the places, else the statement at the first."""
    number = document.line_at(offsets[0])
    found = [
        (block, sound)
        for offset in offsets
        for block, sound in definitions.enclosing(document, parsed, offset)
        # Some grammars count the blank lines below a definition to it.
        if block.first <= number <= block.last
    ]
    if not found:
        return definitions.statement_at(document, parsed, offsets[0])
    return min(found, key=lambda definition: definition[0].last - definition[0].first)


def _continued(document: Document, parsed: Parsed, number: int, width: int) -> tuple[Block | None, bool]:
    """A blank line indented below a block goes on with it, if it is indented deeper than its header."""
    above = number
    while above >= 0 and not bare(document, above).strip():
        above -= 1
    if above < 0 or document.line_start(above) < parsed.span.start:
        return None, True
    offset = document.line_start(above) + len(bare(document, above).rstrip()) - 1
    for block, sound in definitions.enclosing(document, parsed, offset):
        if width_of(bare(document, block.first)) < width and block.kind != "callback":
            return replace(block, last=max(block.last, number)), sound
    return definitions.statement_at(document, parsed, document.line_start(number))


def _selected(document: Document, tree: SyntaxTree | None, start: int, end: int) -> Scope:
    """What is selected; whole definitions where the ends lie in different ones."""
    selected = document.slice(start, end)
    blank = selected[: len(selected) - len(selected.lstrip())]
    start += max(blank.rfind("\n"), blank.rfind("\r")) + 1
    blank = selected[len(selected.rstrip()) :]
    end -= len(blank) if "\n" in blank or "\r" in blank else 0
    first, last = document.line_at(start), document.line_at(end)
    top, bottom, crossed = first, last, False
    for place in (start, end) if first < last else ():
        block = _block_at(document, tree, place)
        if block and _is_definition(block) and not block.first <= first <= last <= block.last:
            top, bottom, crossed = min(top, block.first), max(bottom, block.last), True
    whole = _scope(document, Block(top, bottom, "selection"))
    before = document.slice(min(whole.span.start, start), start)
    after = document.slice(end, max(end, whole.span.end))
    if not crossed and (before.strip() or after.strip()):
        return replace(whole, span=Span(start, end))
    return whole
