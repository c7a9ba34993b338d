"""Definitions and statements in a syntax tree, as blocks of whole lines."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from tree_sitter import Node

from lsp_server.core.document import Document
from lsp_server.core.syntax.block import Block, ScopeKind, bare, indent_of
from lsp_server.core.syntax.tree import Parsed
from lsp_server.core.text import Span

CALLBACK_LINES = 3
"""A callback of fewer lines belongs to the function around it."""


def enclosing(document: Document, parsed: Parsed, offset: int) -> Iterator[tuple[Block, bool]]:
    """The definitions at a place, the innermost first, each with whether its part of the tree is sound."""
    kinds = parsed.grammar
    whole_path = parsed.path(offset)
    for depth in range(len(whole_path) - 1, 0, -1):
        path = _down_to_definition(whole_path[: depth + 1], parsed)
        if path is None:
            continue
        node = path[-1]
        outer, binding = _dressed(path, parsed)
        first, last = _lines(document, parsed, outer)
        sound = not outer.has_error
        if node.type in kinds.callbacks and binding is None:
            if last - first + 1 < CALLBACK_LINES or not _balanced(document, parsed, outer):
                continue
            # What an error holds loose may as well be half of something with a name.
            sound = sound and not any(parent.is_error for parent in path)
            yield Block(first, last, "callback", _callee(path, first, document, parsed), first), sound
        else:
            name = name_of(node) or (name_of(binding) if binding else None)
            above = attached_above(document, parsed, first, kinds.attached)
            header = _header(document, parsed, outer, first)
            yield Block(above, last, _kind(path, binding, parsed), name, header), sound


def statement_at(document: Document, parsed: Parsed, offset: int) -> tuple[Block | None, bool]:
    """The top-level statement at a place, and whether the tree is sound there."""
    path = parsed.path(offset)
    for node in reversed(path):
        if node.type in parsed.grammar.blocks and node.is_named and not _is_hollow(node, parsed):
            first, last = _lines(document, parsed, node)
            return Block(first, last, "statement", name_of(node)), not node.has_error
    found = None
    for index, (parent, node) in enumerate(pairwise(path)):
        body = index > 0 and path[index - 1].child_by_field_name("body") == parent
        inside = parent.type in parsed.grammar.containers or (
            body and path[index - 1].type in parsed.grammar.containers
        )
        inside = inside or _is_hollow(parent, parsed)
        if index == 0 or inside:
            found = node
        elif parent.type not in parsed.grammar.wrappers and node.type not in parsed.grammar.containers:
            break
    if found is None:
        return None, not parsed.root.is_error
    first, last = _lines(document, parsed, found)
    if found.type in parsed.grammar.comments:
        first, last = _comment_lines(document, parsed, first, last)
    sound = not found.has_error and not any(node.is_error for node in path)
    # In a broken tree, what is indented may well have lost the definition around it.
    indented = found.parent == parsed.root and indent_of(bare(document, first))
    sound = sound and not (parsed.root.has_error and (indented or _continues_broken(found)))
    # The body of a container is found only where no statement of it is: between two of them.
    if found == path[-1] and (_is_hollow(found, parsed) or (found.child_count and _is_body(path))):
        return None, sound
    # Some grammars count the blank lines below a statement to it.
    if not first <= document.line_at(offset) <= last:
        return None, sound
    return Block(first, last, "statement", name_of(found)), sound


def _continues_broken(node: Node) -> bool:
    """True where what stands directly above is broken: it may be the head of this."""
    above = node.prev_sibling
    return above is not None and above.has_error and above.end_point[0] >= node.start_point[0] - 1


def attached_above(document: Document, parsed: Parsed, first: int, attached: frozenset[str]) -> int:
    """The first line of the nodes of some kinds, such as comments, that stand directly above a line."""
    indent = indent_of(bare(document, first))
    while first > 0 and document.line_start(first) > parsed.span.start:
        above = bare(document, first - 1)
        end = document.line_start(first - 1) + len(above.rstrip())
        span = _alone(document, parsed, end - 1, attached) if above.strip() else None
        if span is None:
            return first
        start = document.line_at(span.start)
        if indent_of(bare(document, start)) != indent:
            return first
        first = start
    return first


def below_attached(document: Document, parsed: Parsed, number: int) -> int | None:
    """The line that the comments or decorators at a line stand directly above, None where they do not."""
    attached = parsed.grammar.attached | parsed.grammar.comments
    line = number
    while line < document.line_count and document.line_start(line) < parsed.span.end:
        text = bare(document, line)
        if not text.strip():
            return None
        start = document.line_start(line) + len(indent_of(text))
        span = _alone(document, parsed, start, attached)
        if span is None:
            return line if line > number else None
        line = document.line_at(span.start + len(document.slice(span.start, span.end).rstrip())) + 1
    return None


def _alone(document: Document, parsed: Parsed, offset: int, wanted: frozenset[str]) -> Span | None:
    """The node of a wanted kind at a place, if nothing stands before it on its first line."""
    for node in parsed.path(offset):
        if node.type in wanted and node.is_named:
            span = parsed.node_span(node)
            before = document.slice(document.line_start(document.line_at(span.start)), span.start)
            shebang = document.slice(span.start, span.start + 2) == "#!"
            return None if before.strip() or shebang else span
    return None


def _header(document: Document, parsed: Parsed, outer: Node, first: int) -> int:
    """The line below the decorators and annotations that a definition begins with."""
    header = first
    children = [inner for child in outer.children[:4] for inner in (child, *child.children)]
    for child in children:
        if child.type in parsed.grammar.attached and child.is_named:
            end = parsed.node_span(child).end
            line = document.line_at(end)
            rest = bare(document, line)[end - document.line_start(line) :]
            header = max(header, line if rest.strip() else line + 1)
    return header


def _comment_lines(document: Document, parsed: Parsed, first: int, last: int) -> tuple[int, int]:
    while last + 1 < document.line_count and document.line_start(last + 1) < parsed.span.end:
        text = bare(document, last + 1)
        start = document.line_start(last + 1) + len(indent_of(text))
        span = _alone(document, parsed, start, parsed.grammar.comments) if text.strip() else None
        if span is None:
            break
        last = document.line_at(span.start + len(document.slice(span.start, span.end).rstrip()))
    return attached_above(document, parsed, first, parsed.grammar.comments), last


def _down_to_definition(path: list[Node], parsed: Parsed) -> list[Node] | None:
    """The path to a definition: the path itself, or on from what only dresses one at its end."""
    kinds = parsed.grammar
    definitions = kinds.functions | kinds.callbacks | kinds.classes
    while path[-1].is_named:
        if path[-1].type in definitions:
            return path if defines(path[-1]) else None
        if path[-1].type not in kinds.wrappers and path[-1].type not in kinds.bindings:
            return None
        inner = definitions | kinds.wrappers | kinds.bindings
        child = next((child for child in reversed(path[-1].named_children) if child.type in inner), None)
        if child is None:
            return None
        path = [*path, child]
    return None


def defines(node: Node) -> bool:
    """False for the mere use of a type, which some grammars write like its definition."""
    return not node.type.endswith("_specifier") or node.child_by_field_name("body") is not None


def _dressed(path: Sequence[Node], parsed: Parsed) -> tuple[Node, Node | None]:
    """The outermost node that only dresses the definition, and the binding that names it."""
    node, binding = path[-1], None
    for parent in reversed(path[1:-1]):
        if parent.type in parsed.grammar.bindings:
            binding = binding or parent
        elif parent.type not in parsed.grammar.wrappers or _holds_several(parent, node):
            break
        node = parent
    return node, binding


def _holds_several(wrapper: Node, node: Node) -> bool:
    """Whether a wrapper dresses more than one definition, as in a group of types."""
    return sum(child.type == node.type for child in wrapper.named_children) > 1


def _kind(path: Sequence[Node], binding: Node | None, parsed: Parsed) -> ScopeKind:
    kinds = parsed.grammar
    node = path[-1]
    if node.type in kinds.classes:
        return "class"
    if "method" in node.type or (binding and ("pair" in binding.type or "field" in binding.type)):
        return "method"
    for outer in reversed(path[:-1]):
        if outer.type in kinds.functions or outer.type in kinds.callbacks:
            return "function"
        if outer.type in kinds.classes and outer.is_named:
            return "method"
    return "function"


_NAME_FIELDS = ("name", "declarator", "left", "key", "property", "type", "pattern", "function")
_HEADS = frozenset({"start_tag", "self_closing_tag"}) | {
    f"{unit}_statement"
    for unit in ("function", "subroutine", "module_procedure", "derived_type", "interface")
}
_NAME_KINDS = frozenset({"name", "type_name", "tag_name", "selectors", "keyframes_name"})


def name_of(node: Node) -> str | None:
    """The name that a node declares, as it is written."""
    for field in _NAME_FIELDS:
        child = node.child_by_field_name(field)
        if child is not None:
            return _short(_declared(child) if field == "declarator" else child)
    # Other grammars keep the name in a first line of its own, such as a start tag.
    for child in node.named_children[:1]:
        if child.type in _NAME_KINDS:
            return _short(child)
        if child.type in _HEADS:
            return name_of(child)
    return None


def _declared(declarator: Node) -> Node:
    """The name inside a declarator of C, below its pointers, references, arrays and parameters."""
    inner: Node | None = declarator
    while inner is not None:
        declarator = inner
        inner = declarator.child_by_field_name("declarator") or next(
            (child for child in declarator.named_children if child.type.endswith("_declarator")), None
        )
    return declarator.child_by_field_name("name") or declarator


def _callee(path: Sequence[Node], first: int, document: Document, parsed: Parsed) -> str | None:
    """What a callback is bound to on its first line, else what it is handed to."""
    name = None
    for node in reversed(path[1:-1]):
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        if value is not None and document.line_at(parsed.node_span(node).start) == first:
            return name_of(node)
        name = name or _called(node)
    return name


def _called(call: Node) -> str | None:
    """The function or method that a node calls, None for any other node."""
    callee = call.child_by_field_name("function") or call.child_by_field_name("method")
    if callee is None and call.child_by_field_name("arguments") is not None:
        callee = call.child_by_field_name("name")
    if callee is None:
        return None
    members = (callee.child_by_field_name(field) for field in ("property", "attribute", "field", "name"))
    return _short(callee) or next((_short(member) for member in members if member), None)


def _short(node: Node) -> str | None:
    text = (node.text or b"").decode(errors="replace")
    return text if 0 < len(text) <= 40 and "\n" not in text else None


def _lines(document: Document, parsed: Parsed, node: Node) -> tuple[int, int]:
    """The first and last line of a node; some grammars count the line end to the node."""
    span = parsed.node_span(node)
    end = span.start + len(document.slice(span.start, span.end).rstrip())
    return document.line_at(span.start), document.line_at(end)


def _balanced(document: Document, parsed: Parsed, node: Node) -> bool:
    """Whether the rest of a node's first line and the rest of its last close each other."""
    span = parsed.node_span(node)
    first, last = document.line_at(span.start), document.line_at(span.end)
    rest = document.slice(document.line_start(first), span.start)
    rest += bare(document, last)[span.end - document.line_start(last) :]
    depth = 0
    for character in rest:
        depth += (character in "([{") - (character in ")]}")
        if depth < 0:
            return False
    return depth == 0


def _is_hollow(node: Node, parsed: Parsed) -> bool:
    return node.type in parsed.grammar.blocks and name_of(node) in parsed.grammar.hollow


def _is_body(path: Sequence[Node]) -> bool:
    return len(path) > 2 and path[-2].child_by_field_name("body") == path[-1]
