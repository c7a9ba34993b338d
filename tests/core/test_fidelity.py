"""The model's dialect becomes the document's: each case gives the old scope, the reply and the new scope."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core.diff import StreamingDiff
from lsp_server.core.document import Document
from lsp_server.core.edits import apply
from lsp_server.core.fidelity import BLANKS, Fidelity, IndentStyle, indent_style

TABS = IndentStyle("\t")


def rewritten(
    old: str, chunks: Sequence[str], *, newline: str = "\n", indent: str = "", style: IndentStyle = BLANKS
) -> str:
    fidelity = Fidelity(newline, old, indent, style)
    return "".join([fidelity.push(chunk) for chunk in chunks]) + fidelity.finish()


def check(old: str, reply: str, new: str, **given: str | IndentStyle) -> None:
    """`reply` over `old` gives `new`, whole and character by character."""
    assert rewritten(old, [reply], **given) == new
    assert rewritten(old, list(reply), **given) == new


METHOD = "    def f(self):\n        a = 1\n        return a"


@pytest.mark.parametrize(
    ("old", "reply", "new"),
    [
        pytest.param("x=1", "x = 10", "x = 10", id="no line end"),
        pytest.param("x=1", "x = 10\n", "x = 10", id="a line end too many"),
        pytest.param("x=1", "x = 10\n\n", "x = 10", id="a blank line too many"),
        pytest.param("x=1\n", "x = 10", "x = 10\n", id="a line end too few"),
        pytest.param("x=1\n\n\ny=2\n", "x=1\n\n\ny=3", "x=1\n\n\ny=3\n", id="blank lines inside"),
        pytest.param("\n  \nx=1\n  \n", "x = 10", "\n  \nx = 10\n  \n", id="blank lines around"),
        pytest.param("x=1", "\n\nx = 10", "x = 10", id="blank lines above"),
        pytest.param("", "C = 1\n", "C = 1", id="an insertion"),
        pytest.param("\n", "C = 1", "C = 1\n", id="over a blank line"),
        pytest.param("x=1", " \n", "", id="nothing"),
    ],
)
def test_B67_the_ends_of_a_scope_are_the_documents(old: str, reply: str, new: str) -> None:
    check(old, reply, new)


def test_B14_a_blank_line_carries_no_blanks() -> None:
    check(
        METHOD,
        "    def f(self):\n        a = 1\n    \n        return a\n",
        METHOD.replace("a = 1\n", "a = 1\n\n"),
    )


def test_a_blank_line_keeps_the_blanks_it_had() -> None:
    old = "def f():\n    a = 1\n    \n    return a"
    check(old, "def f():\n    a = 2\n\n    return a\n", old.replace("1", "2"))


def test_trailing_blanks_stay_and_new_ones_are_the_models() -> None:
    check("one  \ntwo\nthree", "one\ntwo  \nthree\n", "one  \ntwo  \nthree")


@pytest.mark.parametrize("chunks", [["one\nTWO\n2b\nthree\n"], ["one\r\nTWO\r", "\n2b\r\nthree\r\n"]])
def test_B75_line_ends_are_the_documents(chunks: list[str]) -> None:
    assert rewritten("one\r\ntwo\r\nthree", chunks, newline="\r\n") == "one\r\nTWO\r\n2b\r\nthree"


def test_B75_mixed_line_ends() -> None:
    check(
        "one\ntwo\r\nthree\rfour",
        "one\ntwo\nnew\nthree\nfour\nfive\n",
        "one\ntwo\r\nnew\r\nthree\rfour\r\nfive",
        newline="\r\n",
    )


def test_equal_lines_with_different_ends_keep_theirs() -> None:
    check("}\n}\r\n}\nx\r\n}\r\n}", "}\n}\n}\ny\n}\n}\n", "}\n}\r\n}\ny\n}\r\n}")


@pytest.mark.parametrize(
    ("old", "reply", "new"),
    [
        pytest.param(
            "func f() int {\n\ta := 1\n\treturn a\n}",
            "func f() int {\n    a := 2\n    if a {\n        a++\n    }\n    return a\n}\n",
            "func f() int {\n\ta := 2\n\tif a {\n\t\ta++\n\t}\n\treturn a\n}",
            id="four blanks",
        ),
        pytest.param(
            "func f() int {\n\ta := 1\n\treturn a\n}",
            "func f() int {\n  b := 2\n  if b {\n    b++\n  }\n  return b\n}\n",
            "func f() int {\n\tb := 2\n\tif b {\n\t\tb++\n\t}\n\treturn b\n}",
            id="two blanks",
        ),
        pytest.param(
            "\tdef f(self):\n\t\treturn 1",
            "    def f(self):\n        return 2\n",
            "\tdef f(self):\n\t\treturn 2",
            id="a method",
        ),
        pytest.param(
            "\tdef f(self):\n\t\treturn 1",
            "def f(self):\n    if self:\n        return 2\n",
            "\tdef f(self):\n\t\tif self:\n\t\t\treturn 2",
            id="a method from the left edge",
        ),
        pytest.param(
            "\t/*\n\t * one\n\t */\n\tgo();",
            "    /*\n     * one\n     * two\n     */\n    go();\n",
            "\t/*\n\t * one\n\t * two\n\t */\n\tgo();",
            id="a comment with an edge",
        ),
        pytest.param(
            "f(a,\n  b)\n{\n\tgo();\n}",
            "f(a,\n  b)\n{\n\tgone();\n}\n",
            "f(a,\n  b)\n{\n\tgone();\n}",
            id="alignment",
        ),
    ],
)
def test_B77_tabs_stay_tabs(old: str, reply: str, new: str) -> None:
    check(old, reply, new, style=TABS)


def test_tabs_become_the_blanks_of_the_document() -> None:
    check(
        "def f():\n  return 1",
        "def f():\n\tif a:\n\t\treturn 2\n",
        "def f():\n  if a:\n    return 2",
        style=IndentStyle("  "),
    )


def test_a_function_in_the_other_style_keeps_it() -> None:
    check(
        "def f():\n    a = 1",
        "def f():\n    a = 1\n    b = 2\n",
        "def f():\n    a = 1\n    b = 2",
        style=TABS,
    )
    check("def f():\n\ta = 1", "def f():\n    a = 1\n    b = 2\n", "def f():\n\ta = 1\n\tb = 2")
    check("f(a,\n  b)", "f(a,\n  b):\n\tgo()\n", "f(a,\n  b):\n\tgo()", style=TABS)
    check(
        "/**\n * a\n */\nf() {}",
        "/**\n * a\n */\nf() {\n    go()\n}\n",
        "/**\n * a\n */\nf() {\n\tgo()\n}",
        style=TABS,
    )


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("    def f(self):\n        b = 2\n        return b\n", id="as it is"),
        pytest.param("def f(self):\n    b = 2\n    return b\n", id="from the left edge"),
        pytest.param("def f(self):\n        b = 2\n        return b\n", id="first blanks lost"),
        pytest.param(
            "            def f(self):\n                b = 2\n                return b\n", id="too far right"
        ),
        pytest.param("  def f(self):\n      b = 2\n      return b\n", id="somewhere else"),
    ],
)
def test_lines_move_with_the_first(reply: str) -> None:
    check(METHOD, reply, "    def f(self):\n        b = 2\n        return b")


def test_text_at_the_left_edge_stays_there() -> None:
    old = '    def f(self):\n        return """\nleft\n"""'
    check(
        old,
        'def f(self):\n    x = 1\n    return """\nleft\n"""\n',
        old.replace("        return", "        x = 1\n        return"),
    )


def test_a_line_left_of_the_first_moves_with_it() -> None:
    check("        a()\n    b()", "    a()\nc()\n", "        a()\n    c()")


def test_an_insertion_goes_to_the_cursor() -> None:
    check("", "if a:\n    b()\n", "if a:\n        b()", indent="    ")
    check("", "    if a:\n        b()\n", "if a:\n        b()", indent="    ")


def test_part_of_a_line() -> None:
    check("b", "b + 1\n", "b + 1", indent="    ")
    check("f(a,\n      b)", "f(a,\n      c)", "f(a,\n      c)", indent="    ")


def test_a_byte_order_mark_stays_and_never_comes() -> None:
    check("\ufeffx = 1\ny = 2", "x = 1\ny = 3\n", "\ufeffx = 1\ny = 3")
    check("\ufeffx = 1\ny = 2", "\ufeffx = 1\ny = 3\n", "\ufeffx = 1\ny = 3")
    check("x = 1", "\ufeffx = 2\n", "x = 2")


def test_accents_keep_their_composition() -> None:
    check("name = 'cafe\u0301'\nx = 1", "name = 'caf\u00e9'\nx = 2\n", "name = 'cafe\u0301'\nx = 2")


def test_escapes_and_entities_are_only_text() -> None:
    line = 'p = "$& \\1 \\g<0> %s {0} \\n &amp; \\u00e9"'
    check("p = cost", f"{line}\n", line)


def test_the_next_line_shows_as_soon_as_it_begins() -> None:
    fidelity = Fidelity("\n", "a\nb", "", BLANKS)
    assert fidelity.push("a\n") == "a"
    assert fidelity.push("\n") == ""
    assert fidelity.push("  ") == ""
    assert fidelity.push("c") == "\n\n"
    assert fidelity.push("d\n") == "  cd"
    assert fidelity.finish() == ""


lines = st.sampled_from(
    [
        "\n",
        "   \n",
        "def f():\n",
        "    a = 1\n",
        "\ta = 1\r\n",
        "        return\r",
        "  * b\n",
        "}",
        "\ufeffx\n",
        "e\u0301 \n",
    ]
)
texts = st.lists(lines, max_size=8).map("".join)
styles = st.sampled_from([TABS, BLANKS, IndentStyle("  ")])


@given(texts, texts, styles, st.sampled_from(["\n", "\r\n"]))
def test_the_cut_makes_no_difference(old: str, reply: str, style: IndentStyle, newline: str) -> None:
    whole = rewritten(old, [reply], style=style, newline=newline)
    assert rewritten(old, list(reply), style=style, newline=newline) == whole


@given(texts, styles)
def test_a_copy_with_other_line_ends_changes_nothing(old: str, style: IndentStyle) -> None:
    if old.strip(" \t\r\n\ufeff"):
        reply = old.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
        assert rewritten(old, [reply], style=style) == old


def test_only_the_changed_line_is_edited() -> None:
    old = "func f() int {\r\n\ta := 1\r\n\treturn a\r\n}"
    fidelity, diff = Fidelity("\r\n", old, "", TABS), StreamingDiff(old)
    reply = ["func f() int {\n", "    a := 2\n", "    return a\n}\n"]
    edits = [edit for chunk in reply for edit in diff.push(fidelity.push(chunk))]
    edits += [*diff.push(fidelity.finish()), *diff.finish()]
    assert [(old[edit.start : edit.end], edit.text) for edit in edits] == [("1", "2")]
    assert apply(old, edits) == old.replace("1", "2")


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("", "    "),
        ("a\nb\n", "    "),
        ("func f() int {\n\ta := 1\n}\n", "\t"),
        ("a:\n  b:\n    c: 1\n", "  "),
        ("def f(a,\n      b):\n    if a:\n        b()\n    return a\n", "    "),
        ("/**\n * a\n * b\n */\nfunction f() {\n  go();\n}\n", "  "),
    ],
)
def test_the_style_of_a_document(text: str, unit: str) -> None:
    assert indent_style(Document.open("untitled:a", "plaintext", 1, text)) == IndentStyle(unit)


def test_B08_an_empty_document_takes_the_style_of_the_client() -> None:
    assert indent_style(Document.open("untitled:a", "go", 1, ""), TABS) == TABS
    check("", "func g() {\n    return\n}", "func g() {\n\treturn\n}", style=TABS)
