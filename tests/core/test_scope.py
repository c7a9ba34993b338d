"""Scopes: marked sources, with the lines of the scope marked in the margin.

A case of `tests/data/scope/<language id>.txt`:

    ==== what the case shows
    ---- kind and name of the scope
    > a line of the scope
      another line, with the cursor <|> or a selection <[ ]>

Without a line of the scope, it is exactly the selection or the place of the cursor.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lsp_server.core.document import Document
from lsp_server.core.edits import Edit
from lsp_server.core.syntax.block import indent_of
from lsp_server.core.syntax.languages import commented, language_of
from lsp_server.core.syntax.scope import scope_at
from lsp_server.core.syntax.tree import WHOLE_LINES, SyntaxTree
from lsp_server.core.text import Span
from tests.support.marked import parse

DATA = Path(__file__).parents[1] / "data" / "scope"


@dataclass(frozen=True)
class Case:
    """One case: the marked source, and the lines of the scope as text."""

    language: str
    title: str
    scope: str
    source: str
    lines: str | None


def read_cases(path: Path) -> list[Case]:
    cases = []
    for block in re.split(r"(?m)^==== ", path.read_text(encoding="utf-8"))[1:]:
        title, scope, *body = block.rstrip("\n").split("\n")
        assert scope.startswith("---- "), f"{path.name}: {title}: no line with the scope"
        scope_lines = [re.sub(r"<\|>|<\[|\]>", "", line[2:]) for line in body if line.startswith(">")]
        lines = "\n".join(scope_lines) if scope_lines else None
        cases.append(Case(path.stem, title, scope[5:], "\n".join(line[2:] for line in body) + "\n", lines))
    return cases


CASES = [case for path in sorted(DATA.glob("*.txt")) for case in read_cases(path)]
each_case = pytest.mark.parametrize("case", CASES, ids=[f"{case.language}: {case.title}" for case in CASES])


def open_document(text: str, language_id: str) -> tuple[Document, SyntaxTree | None]:
    language = language_of(language_id)
    return Document.open("file:///code", language_id, 1, text), SyntaxTree(language) if language else None


def check(case: Case, *, above: str = "", below: str = "", newline: str = "\n") -> None:
    """The scope of a case is the one marked, inside a document that may hold more."""
    marked = parse((above + case.source + below).replace("\n", newline))
    document, tree = open_document(marked.text, case.language)
    found = scope_at(document, tree, marked.span)
    shown = document.slice(found.span.start, found.span.end).replace(newline, "\n")
    wanted = case.lines
    if wanted is None:
        wanted = document.slice(marked.span.start, marked.span.end).replace(newline, "\n")
    assert (f"{found.kind} {found.name or ''}".strip(), shown) == (case.scope, wanted)


@each_case
def test_scope(case: Case) -> None:
    check(case)


@each_case
def test_scope_with_windows_line_ends(case: Case) -> None:
    check(case, newline="\r\n")


@each_case
def test_scope_in_a_window_of_a_large_file(case: Case) -> None:
    filler = "".join(f"{commented(str(number), case.language)}\n\n" for number in range(WHOLE_LINES // 2))
    check(case, above=filler, below="\n" + filler)


@each_case
def test_every_place_of_a_case_has_a_scope(case: Case) -> None:
    marked = parse(case.source)
    document, tree = open_document(marked.text, case.language)
    for offset in range(document.length + 1):
        for by in (tree, None):
            found = scope_at(document, by, Span(offset, offset))
            assert Span(0, document.length).contains(found.span)
            if found.kind != "insertion":
                assert found.indent == indent_of(document.line(document.line_at(found.span.start)))


SOURCES = st.sampled_from(CASES)
SNIPPETS = st.sampled_from(
    [
        "(",
        ")",
        "{",
        "}",
        '"',
        "'",
        "`",
        "\n",
        "\r\n",
        "\r",
        "    ",
        "\t",
        "#",
        "/*",
        "é🦊",
        "\ud800",
        "\0",
        "def ",
        "\x0c",
    ]
)


@settings(max_examples=150, deadline=None)
@given(case=SOURCES, data=st.data())
def test_any_text_and_any_offsets_have_a_scope_inside_the_document(case: Case, data: st.DataObject) -> None:
    document, tree = open_document(parse(case.source).text, case.language)
    for version in range(2, data.draw(st.integers(2, 6))):
        start = data.draw(st.integers(0, document.length))
        end = data.draw(st.integers(start, min(document.length, start + 40)))
        edit = Edit(start, end, "".join(data.draw(st.lists(SNIPPETS, max_size=3))))
        if tree:
            tree.note(edit, document)
        document = document.edited(edit, version)
        places = Span(
            data.draw(st.integers(-5, document.length + 5)), data.draw(st.integers(-5, document.length + 5))
        )
        found = scope_at(document, tree, places)
        assert Span(0, document.length).contains(found.span)


@pytest.mark.parametrize(
    ("language_id", "source", "lead"),
    [
        ("python", "@cache\n@trace('f')\ndef f():\n    return 1<|>\n", "@cache\n@trace('f')\n"),
        ("python", "def f():\n    return 1<|>\n", ""),
        ("typescript", "/** doc */\n@A()\nexport class X<|> {}\n", "/** doc */\n@A()\n"),
        ("typescript", "class X {\n  // doc\n  @A()\n  m() {<|>}\n}\n", "  // doc\n  @A()\n"),
        ("javascript", "// doc\nexport const f = () => 1<|>;\n", "// doc\n"),
    ],
)
def test_the_lead_is_what_stands_above_the_definition(language_id: str, source: str, lead: str) -> None:
    marked = parse(source)
    document, tree = open_document(marked.text, language_id)
    found = scope_at(document, tree, marked.span)
    assert document.slice(found.span.start, found.span.start + found.lead) == lead


@pytest.mark.parametrize(
    ("language_id", "first", "last"),
    [("javascript", "module.exports = {", "};"), ("javascript", "(() => {", "})();"), ("json", "{", "}")],
)
def test_B110_a_long_statement_is_never_the_whole_file(language_id: str, first: str, last: str) -> None:
    lines = "".join(f'  "k{number}": {number},\n' for number in range(400))
    document, tree = open_document(f"{first}\n{lines}{last}\n", language_id)
    place = document.text.index('"k200"')
    found = scope_at(document, tree, Span(place, place))
    assert document.slice(found.span.start, found.span.end) == '  "k200": 200,'


TWINS = {
    "python": "def f(a):\n    b = 1\n    HERE\n    return b\n\n\ndef g(a):\n    c = 2\n    return c\n",
    "javascript": "function f(a) {\n  HERE\n  return b;\n}\n\nfunction g(a) {\n  return 2;\n}\n",
    "typescript": "function f(a: A) {\n  HERE\n  return b;\n}\n\nexport function g(a: A) {\n  return 2;\n}\n",
    "tsx": "function f(a: A) {\n  HERE\n  return <b/>;\n}\n\nfunction g(a: A) {\n  return <i>2</i>;\n}\n",
    "go": "func f(a int) int {\n\tHERE\n\treturn 1\n}\n\nfunc g(a int) int {\n\treturn 2\n}\n",
    "rust": "fn f(a: i32) -> i32 {\n    HERE\n    1\n}\n\nfn g(a: i32) -> i32 {\n    2\n}\n",
    "c": "int f(int a) {\n    HERE\n    return 1;\n}\n\nint g(int a)\n{\n    return 2;\n}\n",
    "cpp": "int f(A& a) {\n    HERE\n    return 1;\n}\n\nint g(A& a)\n{\n    return 2;\n}\n",
    "php": "<?php\nfunction f($a) {\n    HERE\n    return 1;\n}\n\nfunction g($a) {\n    return 2;\n}\n",
    "ruby": "def f(a)\n  HERE\n  1\nend\n\ndef g(a)\n  2\nend\n",
    "lua": "local function f(a)\n  HERE\n  return 1\nend\n\nlocal function g(a)\n  return 2\nend\n",
    "bash": "f() {\n  HERE\n  echo 1\n}\n\ng() {\n  echo 2\n}\n",
    "fortran": "subroutine f()\n  HERE\nend subroutine f\n\nsubroutine g(a)\n  call x(2)\nend subroutine g\n",
    "kotlin": "fun f(a: A): Int {\n    HERE\n    return 1\n}\n\nfun g(a: A): Int {\n    return 2\n}\n",
}
GARBAGE = st.sampled_from(
    [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        '"',
        "'",
        "`",
        '"""',
        "/*",
        "*/",
        "<",
        "if ",
        "x.",
        "foo(1,",
        "=",
        "=>",
        "end",
    ]
)


@settings(max_examples=300, deadline=None)
@given(language_id=st.sampled_from(sorted(TWINS)), garbage=st.lists(GARBAGE, min_size=1, max_size=4))
@example(language_id="c", garbage=["}", '"""', '"""', '"""'])
def test_B106_garbage_in_one_function_never_reaches_the_next(language_id: str, garbage: list[str]) -> None:
    text = TWINS[language_id].replace("HERE", "".join(garbage))
    document, tree = open_document(text, language_id)
    second = text.index("\n\n") + 1
    inside = text.index("".join(garbage)) + len("".join(garbage))
    found = scope_at(document, tree, Span(inside, inside))
    assert found.span.end <= second
    below = text.rindex("2")
    found = scope_at(document, tree, Span(below, below))
    assert document.slice(found.span.start, found.span.end) == text[second:].strip("\n")
    # Where only the lines can tell, they tell the extent and not the name.
    assert found.name in ("g", None)
