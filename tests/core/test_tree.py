"""Parsing on demand: how much, and how code points and bytes meet."""

import pytest

from lsp_server.core.document import Document
from lsp_server.core.edits import Edit
from lsp_server.core.syntax.languages import Language, language_of
from lsp_server.core.syntax.scope import scope_at
from lsp_server.core.syntax.tree import WHOLE_LINES, SyntaxTree, parses
from lsp_server.core.text import Span
from tests.support.marked import parse


def python() -> Language:
    language = language_of("python")
    assert language
    return language


def opened(text: str) -> Document:
    return Document.open("file:///code.py", "python", 1, text)


def functions(count: int) -> str:
    return "".join(f"def f{number}():\n    return {number}\n\n\n" for number in range(count))


def scope_text(document: Document, tree: SyntaxTree, place: Span) -> str:
    span = scope_at(document, tree, place).span
    return document.slice(span.start, span.end)


@pytest.mark.parametrize("shift", range(5))
def test_B23_characters_across_a_chunk_border(shift: int) -> None:
    marked = parse("#" + "a" * (4089 + shift) + "ó🦊\ndef f():\n    return 1<|>\n")
    document = opened(marked.text)
    assert scope_text(document, SyntaxTree(python()), marked.span) == "def f():\n    return 1"


def test_a_keystroke_parses_nothing() -> None:
    tree = SyntaxTree(python())
    before = opened(functions(10))
    tree.parse(before, Span(0, 0))
    parsed = tree.bytes_parsed
    tree.note(Edit(0, 0, "x"), before)
    assert tree.bytes_parsed == parsed


def test_an_unchanged_document_is_parsed_once() -> None:
    tree = SyntaxTree(python())
    document = opened(functions(10))
    first, second = (tree.parse(document, Span(0, 0)) for _ in range(2))
    assert first and second and first.root == second.root
    assert tree.bytes_parsed == len(document.text)


def test_the_tree_follows_edits_that_nobody_noted() -> None:
    tree = SyntaxTree(python())
    document = opened("é = 1\ndef f():\n    return '🦊'\n")
    tree.parse(document, Span(0, 0))
    for edit in (Edit(0, 1, "größe"), Edit(10, 10, "x = '🦊'\n"), Edit(0, 0, "\n\n"), Edit(2, 7, "")):
        document = document.edited(edit, document.version + 1)
        followed, fresh = tree.parse(document, Span(0, 0)), SyntaxTree(python()).parse(document, Span(0, 0))
        assert followed and fresh
        assert str(followed.root) == str(fresh.root)
        assert followed.root.byte_range == fresh.root.byte_range


def test_work_does_not_grow_with_the_file() -> None:
    costs = []
    for count in (WHOLE_LINES, 10 * WHOLE_LINES):
        marked = parse(functions(count) + "def here():\n    return 1<|>\n\n\n" + functions(count))
        document, tree = opened(marked.text), SyntaxTree(python())
        assert scope_text(document, tree, marked.span) == "def here():\n    return 1"
        costs.append(tree.bytes_parsed)
    assert costs[1] <= costs[0] * 1.1
    assert costs[0] <= len(functions(WHOLE_LINES)) / 8


def test_typing_in_a_large_file_keeps_the_window() -> None:
    marked = parse(functions(WHOLE_LINES) + "def here():\n    return 1<|>\n\n\n" + functions(WHOLE_LINES))
    document, tree = opened(marked.text), SyntaxTree(python())
    first = tree.parse(document, marked.span)
    edit = Edit(marked.at, marked.at, " + 1")
    tree.note(edit, document)
    document = document.edited(edit, 2)
    second = tree.parse(document, Span(marked.at + 4, marked.at + 4))
    assert first and second
    assert second.span == Span(first.span.start, first.span.end + 4)
    assert scope_text(document, tree, Span(marked.at, marked.at)) == "def here():\n    return 1 + 1"


def test_a_window_grows_until_the_definition_fits() -> None:
    body = "".join(f"    x = {number}\n" for number in range(800))
    marked = parse(
        functions(WHOLE_LINES) + f"def here():\n{body}    return 1<|>\n\n\n" + functions(WHOLE_LINES)
    )
    document, tree = opened(marked.text), SyntaxTree(python())
    assert scope_text(document, tree, marked.span) == f"def here():\n{body}    return 1"
    assert tree.bytes_parsed < 3 * len(body)


def test_a_definition_too_large_for_a_window_is_found_by_its_lines() -> None:
    methods = "".join(f"    def m{number}(self):\n        return 1\n\n" for number in range(2 * WHOLE_LINES))
    marked = parse(f"class A:\n{methods}    def here(self):\n        return 1<|>\n\n{methods}")
    document, tree = opened(marked.text), SyntaxTree(python())
    assert scope_text(document, tree, marked.span) == "    def here(self):\n        return 1"
    assert tree.bytes_parsed == 0


def test_one_endless_line_is_not_parsed() -> None:
    document, tree = opened("x = [" + "1, " * 100_000 + "]\n"), SyntaxTree(python())
    assert scope_at(document, tree, Span(10, 10)).kind == "statement"
    assert tree.bytes_parsed == 0


def test_a_script_is_parsed_and_counted_with_its_page() -> None:
    html = language_of("html")
    assert html
    marked = parse("<p>a</p>\n<script>\nlet <[a = 1;\nlet b]> = 2;\n</script>\n")
    document, tree = Document.open("file:///a.html", "html", 1, marked.text), SyntaxTree(html)
    parsed = tree.parse(document, marked.span)
    assert parsed and parsed.text == "\nlet a = 1;\nlet b = 2;\n"
    assert tree.bytes_parsed == len(document.text) + len(parsed.text)
    outside = tree.parse(document, Span(0, document.length))
    assert outside and outside.text == document.text


def test_parses() -> None:
    assert parses("def f():\n    return 1\n", "python")
    assert not parses("def f(:\n    return 1\n", "python")
    assert not parses("const a = {", "typescript")
    assert parses("whatever (", "a language without a grammar")
