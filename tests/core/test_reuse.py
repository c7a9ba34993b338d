"""Typing along a suggestion."""

import pytest

from lsp_server.core.completion.reuse import remainder
from lsp_server.core.document import Document
from lsp_server.core.edits import Edit
from tests.support.marked import parse


def rest(made: str, suggestion: str, now: str, language: str = "python") -> str | None:
    """What is left of `suggestion`, made at the cursor of `made`, at the cursor of `now`."""
    later = parse(now)
    return remainder(
        suggestion, parse(made).at, Document.open("file:///a", language, 2, later.text), later.at
    )


def check(made: str, suggestion: str, now: str, buffer: str, language: str = "python") -> None:
    """Accepting what is left at the cursor of `now` gives `buffer`."""
    later = parse(now)
    left = rest(made, suggestion, now, language)
    assert left is not None
    assert later.text[: later.at] + left + later.text[later.at :] == buffer


def test_B05_letters_typed_since_are_not_lost() -> None:
    check("r<|>", "everse_all(xs)", "rev<|>", "reverse_all(xs)")
    assert rest("r<|>", "everse_all(xs)", "rx<|>") is None


def test_B13_no_remainder_of_blanks() -> None:
    assert rest("public <|>void m();", "static ", "public static<|>void m();", "java") == ""
    assert rest("x<|>", " = 1\n    ", "x = 1<|>") == ""


def test_B17_the_popup_finished_the_word() -> None:
    check("con<|>", "sole.log(1)", "console<|>", "console.log(1)", "javascript")


def test_B46_one_more_matching_key() -> None:
    check("foob<|>", "ar", "fooba<|>", "foobar")


def test_B47_deleting_leaves_the_suggestion() -> None:
    assert rest("value = compute<|>", "_all()", "value = <|>") is None


def test_B49_letter_by_letter() -> None:
    text = " in range(10):"
    for typed in range(1, len(text)):
        check("for i<|>", text, f"for i{text[:typed]}<|>", "for i in range(10):")
    assert rest("for i<|>", text, "for i in range(10):<|>") == ""


@pytest.mark.parametrize(
    ("made", "suggestion", "now", "buffer"),
    [
        ("foo<|>", "(a, b)", "foo(<|>)", "foo(a, b)"),
        ("foo<|>", "(a, b) + c", "foo(<|>)", "foo(a, b)"),
        ("foo<|>", "(a, b)", "foo(a<|>)", "foo(a, b)"),
        ("foo<|>", "(a, b)", "foo(a, b)<|>", "foo(a, b)"),
        ("x = <|>", '{"a": [1]}', "x = {<|>}", 'x = {"a": [1]}'),
        ("x = <|>", '{"a": [1]}', 'x = {"<|>"}', 'x = {"a"}'),
        ("f(<|>)", "g(x), y", "f(g(<|>))", "f(g(x))"),
    ],
)
def test_a_typed_opener_and_the_closer_that_the_editor_adds(
    made: str, suggestion: str, now: str, buffer: str
) -> None:
    check(made, suggestion, now, buffer)


def test_a_stream_that_is_still_running() -> None:
    assert rest("for i<|>", " in", "for i i<|>") == "n"
    assert rest("for i<|>", " in", "for i in r<|>") == ""
    assert rest("for i<|>", " in", "for i of<|>") is None


def test_a_new_line_typed_along() -> None:
    check("def f():<|>\n", "\n    return 1", "def f():\n    <|>\n", "def f():\n    return 1\n")
    check("def f():<|>\r\n", "\n    return 1", "def f():\r\n    r<|>\r\n", "def f():\r\n    return 1\r\n")
    check("def f():<|>\r\n", "\r\n    return 1", "def f():\r\n    r<|>\r\n", "def f():\r\n    return 1\r\n")


def test_what_is_left_fits_a_document_that_changed_by_edits() -> None:
    document = Document.open("file:///a", "python", 1, "foo\nbar")
    document = document.edited(Edit(3, 3, "("), 2).edited(Edit(4, 4, ")"), 3)
    assert remainder("(a)", 3, document, 4) == "a"
