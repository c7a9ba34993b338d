"""What a piece of code defines, each as the few lines that somebody who uses it needs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter
from tree_sitter import Node

from lsp_server.core.syntax.definitions import defines, name_of
from lsp_server.core.syntax.grammar import Grammar, kinds, load
from lsp_server.core.syntax.languages import language_of

WHOLE_LINES = 6
"""A definition of so many lines is shown as it is."""

MOST_LINES = 24
"""Lines of one definition, at most."""

MOST_CHARACTERS = 1_500
"""A definition whose lines take more is left out: generated code, or data."""

_DEPTH = 12
_VALUES = kinds(
    "declaration assignment variable_declarator const_spec var_spec const_item static_item type_item"
    " type_alias_declaration type_definition type_alias alias_declaration"
)
_CLOSER = re.compile(r"\s*(?:[)}\]]+[;,]?|end\b.*)\s*$")


@dataclass(frozen=True, slots=True)
class Defined:
    """One definition. `text` is whole lines: a signature, or what is short enough as a whole.

    A `member` belongs to a class and is reached through something of that class.
    """

    name: str
    text: str
    member: bool = False


def outline(text: str, language_id: str, *, fragment: bool = False) -> list[Defined]:
    """The definitions in `text`, the outer ones first; none where the language has no grammar.

    `fragment` says that the text does not start its file. What stands inside functions is left out.
    """
    language = language_of(language_id)
    grammar = language.grammar if language else None
    tables = load(grammar) if grammar else None
    if grammar is None or tables is None:
        return []
    lead = grammar.fragment if fragment else ""
    source = (lead + text).encode(errors="replace")
    root = tree_sitter.Parser(tables).parse(source).root_node
    # Rows of the parser end at a newline and nowhere else.
    found = _defined(root, grammar, (lead + text).split("\n"))
    return [each for each in found if len(each.text) <= MOST_CHARACTERS]


def _defined(root: Node, grammar: Grammar, lines: list[str]) -> Iterator[Defined]:
    """Walks down through whatever only holds or dresses definitions. `outer` is what dresses the node."""
    waiting: list[tuple[Node, Node | None, bool, int]] = [(root, None, False, 0)]
    holders = grammar.containers | grammar.wrappers | grammar.bindings | grammar.classes
    while waiting:
        node, outer, member, depth = waiting.pop()
        deeper: list[tuple[Node, Node | None, bool, int]] = []
        for child in node.named_children:
            kind, dress = child.type, outer or child
            found = kind in grammar.functions or kind in grammar.classes or kind in _VALUES
            value = child.child_by_field_name("value") or child.child_by_field_name("right")
            bound = kind in grammar.bindings and value is not None and value.type in grammar.callbacks
            body = value if bound and value is not None else child
            if bound or (found and defines(child)):
                name = _last_word(name_of(child))
                if name:
                    yield Defined(name, _text(dress, body, grammar, lines), member)
            if kind in grammar.classes:
                deeper += [(inner, None, True, depth + 1) for inner in _bodies(child)]
            elif kind in grammar.containers:
                deeper += [(inner, None, member, depth + 1) for inner in (*_bodies(child), child)]
            elif (kind in holders or kind.endswith(("_declaration", "_statement"))) and not found:
                deeper.append((child, dress, member, depth + 1))
        if depth < _DEPTH:
            waiting += reversed(deeper)


def _bodies(node: Node) -> list[Node]:
    body = node.child_by_field_name("body")
    if body is not None:
        return [body]
    return [child for child in node.named_children if child.type.endswith(("body", "list", "block"))]


def _text(outer: Node, node: Node, grammar: Grammar, lines: list[str]) -> str:
    first, last = outer.start_point[0], _last_line(outer, lines)
    if last - first < WHOLE_LINES:
        return _joined(lines[first : last + 1])
    taken = lines[first : _signature_end(node, first, lines) + 1]
    if node.type in grammar.classes:
        for body in _bodies(node):
            taken += _members(body, grammar, lines)
        if len(taken) < MOST_LINES and _CLOSER.match(lines[last]):
            taken.append(lines[last])
    return _joined(taken[:MOST_LINES])


def _members(body: Node, grammar: Grammar, lines: list[str]) -> list[str]:
    """What the body of a class declares: signatures, and fields of a few lines."""
    taken: list[str] = []
    for child in body.named_children:
        first, last = child.start_point[0], _last_line(child, lines)
        inner = next((each for each in child.named_children if each.type in grammar.functions), child)
        if child.type in grammar.comments or _is_text(child):
            continue
        if inner.type in grammar.functions or last - first > 2:
            last = min(last, _signature_end(inner, first, lines))
        taken += lines[first : last + 1]
        if len(taken) >= MOST_LINES:
            break
    return taken


def _is_text(node: Node) -> bool:
    """Whether a statement is nothing but a text, such as what documents a class in Python."""
    statement = node.type == "expression_statement" and node.named_child_count == 1
    return statement and "string" in node.named_children[0].type


def _signature_end(node: Node, first: int, lines: list[str]) -> int:
    """The line on which the body begins, or the one before where the body stands on lines of its own."""
    body = node.child_by_field_name("body")
    if body is None:
        return max(first, node.start_point[0])
    row, column = body.start_point
    before = lines[row].encode(errors="replace")[:column] if row < len(lines) else b""
    return max(first, row if before.strip() or lines[row].strip() == "{" else row - 1)


def _last_line(node: Node, lines: list[str]) -> int:
    """Some grammars count the line end, or blank lines, to a node."""
    row, column = node.end_point
    last = row - 1 if column == 0 and row > node.start_point[0] else row
    last = min(last, len(lines) - 1)
    while last > node.start_point[0] and not lines[last].strip():
        last -= 1
    return last


def _joined(lines: list[str]) -> str:
    return "".join(line.rstrip() + "\n" for line in lines)


def _last_word(name: str | None) -> str:
    words = re.findall(r"\w+", name or "")
    return words[-1] if words else ""
