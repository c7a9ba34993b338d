"""The table of languages, and what it says about comments."""

from pathlib import Path
from typing import Literal

import pytest

from lsp_server.core.document import Document
from lsp_server.core.syntax.comments import directive_comments, in_string_or_comment
from lsp_server.core.syntax.grammar import Grammar, load, missing_reason
from lsp_server.core.syntax.languages import (
    LANGUAGES,
    Language,
    comment_prefix,
    commented,
    language_of,
    missing_grammars,
)
from lsp_server.core.syntax.scope import scope_at
from lsp_server.core.syntax.tree import SyntaxTree
from lsp_server.core.text import Span
from tests.support.marked import parse

DATA = Path(__file__).parents[1] / "data" / "scope"
GRAMMARS = [language for language in LANGUAGES if language.grammar]


@pytest.mark.parametrize("language", GRAMMARS, ids=lambda language: language.id)
def test_a_grammar_loads_and_knows_every_kind_in_the_table(language: Language) -> None:
    grammar = language.grammar
    assert grammar
    tables = load(grammar)
    assert tables, missing_reason(grammar)
    known = {tables.node_kind_for_id(number) for number in range(tables.node_kind_count)}
    for part in set(Grammar.__slots__) - {"hollow"}:
        value = getattr(grammar, part)
        assert not isinstance(value, frozenset) or value <= known, (part, value - known)


@pytest.mark.parametrize("language", GRAMMARS, ids=lambda language: language.id)
def test_a_language_with_a_grammar_has_a_fixture(language: Language) -> None:
    assert (DATA / f"{language.id}.txt").exists()


def test_ids_and_aliases_are_unique_and_in_lower_case() -> None:
    names = [name for language in LANGUAGES for name in (language.id, *language.aliases)]
    assert len(names) == len(set(names))
    assert all(name == name.lower() for name in names)


@pytest.mark.parametrize(
    ("alias", "expected"),
    [
        ("javascriptreact", "javascript"),
        ("typescriptreact", "tsx"),
        ("Python", "python"),
        ("shellscript", "bash"),
        ("FortranFreeForm", "fortran"),
        ("fortran-modern", "fortran"),
        ("vue", "html"),
        ("scss", "css"),
        ("objective-c", "objective-c"),
    ],
)
def test_editors_names_are_known(alias: str, expected: str) -> None:
    language = language_of(alias)
    assert language and language.id == expected


def test_a_missing_wheel_is_a_reason_and_not_an_error() -> None:
    missing = Grammar("tree_sitter_of_nowhere")
    assert load(missing) is None
    assert "tree-sitter-of-nowhere" in (missing_reason(missing) or "")
    document = Document.open("file:///x.py", "python", 1, "def f():\n    return 1\n")
    found = scope_at(document, SyntaxTree(Language("other", grammar=missing)), Span(14, 14))
    assert (found.kind, found.name) == ("function", "f")


def test_every_grammar_is_installed() -> None:
    assert missing_grammars() == {}


def test_comments() -> None:
    assert comment_prefix("python") == "#"
    assert comment_prefix("unheard of") == ""
    assert commented("x", "typescript") == "// x"
    assert commented("x", "unheard of") == "x"


def check_directives(source: str, language_id: str, *expected: str) -> None:
    """The instructions found, and that cutting out their spans leaves the lines in square brackets."""
    marked = parse(source)
    found = directive_comments(marked.text, language_id)
    assert [directive.instruction for directive in found] == list(expected)
    if marked.selection:
        assert [directive.span for directive in found] == [marked.selection]


def test_directive_above_a_function() -> None:
    check_directives(
        "x = 1\n<[# midstream: make this iterative\n]>def f():\n    pass\n", "python", "make this iterative"
    )


def test_directive_over_several_lines() -> None:
    check_directives(
        "<[    // midstream: use a map\n    //   and keep the order\n]>    // what f does\n    f();\n",
        "typescript",
        "use a map and keep the order",
    )


def test_directive_in_a_block_comment() -> None:
    check_directives(
        "<[/* midstream: use a map\n * and keep the order */\n]>f();\n",
        "javascript",
        "use a map and keep the order",
    )


def test_directive_behind_code() -> None:
    check_directives("x = 1<[  # midstream: make it two]>\n", "python", "make it two")


def test_no_directive() -> None:
    check_directives("x = 'midstream: no'\n# about midstream: no\n# midstream:\n", "python")


@pytest.mark.parametrize(
    ("language_id", "source", "expected"),
    [
        ("python", "x = <|>1", "code"),
        ("python", "x = <|>'a'", "code"),
        ("python", "x = '<|>a'", "string"),
        ("python", "x = 'a'<|>", "code"),
        ("python", "x = f'a{b<|>}'", "code"),
        ("python", "x = f'a{b}c<|>'", "string"),
        ("python", "x = 'a<|>\ny = 1\n", "string"),
        ("python", "x = foo('a', <|>\ny = 1\n", "code"),
        ("python", "# note<|>", "comment"),
        ("python", "x = 1  # no<|>te\n", "comment"),
        ("python", "x = 1 <|> # note\n", "code"),
        ("python", "def f():\n    '''Doc<|>'''\n", "string"),
        ("python", "<|>", "code"),
        ("typescript", "a = `x${y<|>}`;", "code"),
        ("typescript", "a = `x<|>${y}`;", "string"),
        ("typescript", "/* no<|>te */ a();", "comment"),
        ("typescript", "/* note */<|> a();", "code"),
        ("typescript", "a(); // note<|>\nb();", "comment"),
        ("unheard of", "a 'b<|>", "string"),
        ("html", "<p>Te<|>xt</p>", "string"),
        ("html", "<script>\nlet a = 'b<|>';\n</script>", "string"),
        ("html", "<script>\n/* note */<|> a();\n</script>", "code"),
        ("c", "char c = 'a<|>';", "string"),
        ("c", "int x; // note<|>", "comment"),
        ("rust", "/// note<|>\nfn f() {}", "comment"),
        ("ruby", 'x = "a#{b<|>}"', "code"),
        ("shellscript", 'x="a $(b<|>)"', "code"),
        ("kotlin", 'val x = "a<|>', "string"),
        ("kotlin", "val x = 1 // a<|>", "comment"),
    ],
)
def test_code_string_or_comment(
    language_id: str, source: str, expected: Literal["code", "string", "comment"]
) -> None:
    marked = parse(source)
    language = language_of(language_id)
    document = Document.open("file:///x", language_id, 1, marked.text)
    tree = SyntaxTree(language) if language else None
    assert in_string_or_comment(document, tree, marked.at) == expected
