"""The definition that is meant in a reply which says more of the file than the scope it was asked for."""

import re
from itertools import islice

from lsp_server.core.document import Document
from lsp_server.core.syntax.languages import language_of
from lsp_server.core.syntax.scope import Scope, scope_at
from lsp_server.core.syntax.tree import SyntaxTree
from lsp_server.core.text import Span
from lsp_server.engine.errors import EditRefused
from lsp_server.engine.repeats import READ_LINES
from lsp_server.texts import edits as texts

MOST = 200
"""So many places of a name are looked at: each takes a look at the tree."""


def definition_in(reply: str, name: str, document: Document, scope: Scope) -> str:
    """The definition in a reply that is the scope of this name. Raises EditRefused when that is not certain.

    Of several with the name it is the only one inside of the same definitions. Where these differ too, or
    there are two, as a getter and a setter, it is the one in the same place, if all others are as they were.
    """
    read = Document.open("reply:", document.language, 0, reply)
    spans = definitions(read, name)
    if len(spans) != 1:
        around = enclosing(document, scope.span)
        inside = [span for span in spans if enclosing(read, span) == around]
        spans = inside if len(inside) == 1 else in_the_same_place(read, spans, document, scope, name)
    if len(spans) != 1:
        raise EditRefused(texts.MORE_THAN_SCOPE.format(name=name))
    return read.slice(spans[0].start, spans[0].end)


def definitions(document: Document, name: str) -> list[Span]:
    """The definitions of this name, in their order."""
    language = language_of(document.language)
    tree = SyntaxTree(language) if language else None
    # Behind a dot stands a use, nearly always.
    for behind in (r"[\w.]", r"\w"):
        places = islice(re.finditer(rf"(?<!{behind}){re.escape(name)}(?!\w)", document.text), MOST)
        scopes = [scope_at(document, tree, Span(place.start(), place.start())) for place in places]
        found = {scope.span for scope in scopes if scope.name == name}
        if found:
            return sorted(found, key=lambda span: span.start)
    return []


def enclosing(document: Document, span: Span) -> list[str]:
    """The lines above that a definition is indented below, the innermost first."""
    number = document.line_at(span.start)
    depth = indent(document.line(number))
    lines: list[str] = []
    while depth and number:
        number -= 1
        line = document.line(number)
        if line.strip() and indent(line) < depth:
            lines.append(line.strip())
            depth = indent(line)
    return lines


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def in_the_same_place(
    read: Document, spans: list[Span], document: Document, scope: Scope, name: str
) -> list[Span]:
    own = definitions(document, name) if document.line_count <= READ_LINES else []
    if len(own) != len(spans) or scope.span not in own:
        return []
    index = own.index(scope.span)
    pairs = zip(texts_of(document, own), texts_of(read, spans), strict=True)
    same = all(one == other for row, (one, other) in enumerate(pairs) if row != index)
    return [spans[index]] if same else []


def texts_of(document: Document, spans: list[Span]) -> list[list[str]]:
    """What a reader sees of each definition."""
    return [
        [line.strip() for line in document.slice(span.start, span.end).splitlines() if line.strip()]
        for span in spans
    ]
