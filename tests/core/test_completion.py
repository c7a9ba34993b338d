"""From a model's words at a cursor to the buffer after they were accepted."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core.completion import Context, begin, confident, context_at, finish, finish_over
from lsp_server.core.document import Document
from lsp_server.core.reply import ReplyFilter
from tests.support.marked import parse


def context_of(source: str, language: str, **given: object) -> tuple[Context, str, int]:
    marked = parse(source)
    document = Document.open("file:///w/code", language, 1, marked.text)
    return context_at(document, marked.at, **given), marked.text, marked.at  # type: ignore[arg-type]


def reply_of(stream: str | list[str], original: str) -> str:
    reply = ReplyFilter("completion", original)
    return "".join(map(reply.push, [stream] if isinstance(stream, str) else stream)) + reply.finish()


def check(
    source: str, stream: str | list[str], buffer: str, language: str = "python", **given: object
) -> None:
    """Accepting what is offered of `stream` at the cursor of `source` gives `buffer`."""
    context, text, at = context_of(source, language, **given)
    offered = finish(reply_of(stream, text), context)
    assert text[:at] + offered + text[at:] == buffer


def check_over(source: str, stream: str, buffer: str, language: str = "python") -> None:
    """The same for an item with a range."""
    context, text, at = context_of(source, language)
    offered, replaced = finish_over(reply_of(stream, text), context)
    assert text[:at] + offered + text[at + replaced :] == buffer


def check_nothing(source: str, stream: str | list[str], language: str = "python", **given: object) -> None:
    check(source, stream, parse(source).text, language, **given)


def test_B01_closers_after_the_cursor_are_not_suggested_again() -> None:
    check('print("<|>");\n', ["hel", 'lo");'], 'print("hello");\n', "javascript")


@pytest.mark.parametrize(
    ("source", "stream", "buffer"),
    [
        ("foo(<|>)", "a, b)", "foo(a, b)"),
        ("f(g(<|>))", "x))", "f(g(x))"),
        ("f(g(<|>)", "x))", "f(g(x))"),
        ('m["<|>"]', 'k"] = 1', 'm["k"] = 1'),
    ],
)
def test_B02_autoclosed_bracket_and_the_models_own(source: str, stream: str, buffer: str) -> None:
    check_over(source, stream, buffer)


def test_an_answer_that_goes_on_behind_the_closers_needs_a_range() -> None:
    check('m["<|>"]', 'k"] = 1', 'm["k"]')
    check_over("fn f<'a>(<|>)", "x: &'a str) -> &'a str {", "fn f<'a>(x: &'a str) -> &'a str {", "rust")
    check_over("if (f(<|>)) {", "a)) { return; }", "if (f(a)) {", "javascript")
    check_over("foo(<|>)", "a);", "foo(a)", "javascript")


@pytest.mark.parametrize(
    ("source", "stream", "buffer", "language"),
    [
        ("x = <|>;", "5;", "x = 5;", "javascript"),
        ("foo(<|>, b)", "a, b)", "foo(a, b)", "python"),
        ("foo(<|>, b)", "g(a, c), b)", "foo(g(a, c), b)", "python"),
        ("const <|> = load();", "data = load();", "const data = load();", "javascript"),
        ("const a = {<|>};", " x: 1 };", "const a = { x: 1 };", "javascript"),
        ("foo(<|>)", 'a, ")", b)', 'foo(a, ")", b)', "python"),
        ("foo(<|>)", "a)  # (", "foo(a)", "python"),
        ("x = <|>.length", "total", "x = total.length", "javascript"),
        ("if (<|>) {", "a && b) {", "if (a && b) {", "javascript"),
        ("xs[<|>] + ys[0]", "i] + ys[0]", "xs[i] + ys[0]", "python"),
        ("    foo(\n        a, <|>)", "b)", "    foo(\n        a, b)", "python"),
        ("print('<|>')", "it\\'s')", "print('it\\'s')", "python"),
        ("fn f<'a>(<|>)", "x: &'a str) -> &'a str {", "fn f<'a>(x: &'a str)", "rust"),
        ("x = f(<|>", "a)", "x = f(a)", "python"),
        ("x = f(<|>\n", "g(a))", "x = f(g(a))\n", "python"),
        ("`${<|>}`", "name}`", "`${name}`", "javascript"),
        ('say("<|>")', 'a", "b")', 'say("a")', "python"),
    ],
)
def test_trimming_by_what_follows_on_the_line(source: str, stream: str, buffer: str, language: str) -> None:
    check(source, stream, buffer, language)


@pytest.mark.parametrize(
    ("source", "stream", "buffer", "language"),
    [
        ("use({<|>\n})\n", "\n    run: go,\n})", "use({\n    run: go,\n})\n", "javascript"),
        ("function f() {<|>}", "\n  return 1;\n}", "function f() {\n  return 1;\n}", "javascript"),
        ("foo(<|>)", "\n    a,\n    b,\n)", "foo(\n    a,\n    b,\n)", "python"),
        (
            "function g() {\n  if (x) {<|>\n}\n",
            "\n    y();\n  }\n}\n\nfunction h() {",
            "function g() {\n  if (x) {\n    y();\n  }\n}\n",
            "javascript",
        ),
        (
            "function g() {\n  <|>\n}\n",
            "return 1;\n}\n\nfunction h() {\n  return 2;\n}",
            "function g() {\n  return 1;\n}\n",
            "javascript",
        ),
        ("function g() {\n  <|>\n", "return 1;\n}", "function g() {\n  return 1;\n}\n", "javascript"),
        ("x = foo({ a: [<|>", "\n  1,\n]\n})", "x = foo({ a: [\n  1,\n]\n})", "javascript"),
        (
            "if a:\n    b()\n    <|>\n    return x\n",
            "c()\n    return x",
            "if a:\n    b()\n    c()\n    return x\n",
            "python",
        ),
        ("def f():\n    <|>\n\nx = 1\n", "return 1\n\nx = 2", "def f():\n    return 1\n\nx = 1\n", "python"),
        (
            "def f():<|>\n",
            "\n    if a:\n        return 1\n    return 2\n\ndef g():\n    pass",
            "def f():\n    if a:\n        return 1\n    return 2\n",
            "python",
        ),
        (
            "def f():\n    <|>\n",
            "if a:\n        return 1\n    else:\n        return 2\n    return 3\nf()",
            "def f():\n    if a:\n        return 1\n    else:\n        return 2\n    return 3\n",
            "python",
        ),
        ("if a:<|>\n", "\n    b()\nelse:\n    c()\nd()", "if a:\n    b()\nelse:\n    c()\n", "python"),
        ("if a then<|>\n", "\n  b()\nend\nc()", "if a then\n  b()\nend\n", "lua"),
        (
            "if (a) {<|>\n",
            "\n  b();\n} else {\n  c();\n}\nd();",
            "if (a) {\n  b();\n} else {\n  c();\n}\n",
            "c",
        ),
        ("x = 1<|>\n", "0\ny = 2", "x = 10\n", "python"),
        ("  }\n  <|>\n}\n", "}", "  }\n  \n}\n", "c"),
    ],
)
def test_where_a_block_ends(source: str, stream: str, buffer: str, language: str) -> None:
    check(source, stream, buffer, language)


def test_B04_echo_of_the_text_before_the_cursor() -> None:
    check(
        "const total = <|>", ["const total = ", "items.length;"], "const total = items.length;", "javascript"
    )
    check("ha<|>", "haha", "hahaha")
    check("    const total = <|>", "const total = 1;", "    const total = 1;", "javascript")
    check("const total<|>", "const total = 1;", "const total = 1;", "javascript")
    check("print(pri<|>", "print(price)", "print(price)")
    check("aaa <|>", "aaab", "aaa aaab")


def test_B07_the_lines_own_indentation() -> None:
    check("def f():\n    <|>\n", ["    a = 1\n", "    return a"], "def f():\n    a = 1\n    return a\n")
    check("def f():\n    <|>\n", "\n    a = 1", "def f():\n    a = 1\n")
    check(
        "class A:\n    def f(self):\n        <|>\n",
        "    a = 1\n    return a",
        "class A:\n    def f(self):\n        a = 1\n        return a\n",
    )
    check("if a:\n    if b:\n    <|>\n", "        c()", "if a:\n    if b:\n        c()\n")
    check("def f():\n<|>\n", "    return 1", "def f():\n    return 1\n")


def test_a_model_that_did_not_see_the_blanks_before_the_cursor() -> None:
    check("x = <|>", " 1", "x = 1", stripped=True)
    check("x = <|>", "1", "x = 1", stripped=True)
    check("x = <|>", " 1", "x = 1")
    check("foo( <|>)", "a", "foo( a)", stripped=True)
    check("def f():\n    <|>\n", "    return 1", "def f():\n    return 1\n", stripped=True)
    check_nothing("return <|>", "ed = 1", stripped=True)
    check_nothing("x = <|>", "= 1:", stripped=True)
    check_nothing("def f():\n    return 1\n    <|>\n", "def g():\n    pass", stripped=True)


def test_typing_along_is_measured_against_the_start_of_the_text() -> None:
    context, _, _ = context_of("x = f(<|>)", "python", stripped=True)
    assert begin(" a, b)\r\ny = 2", context) == " a, b)\ny = 2"
    context, _, _ = context_of("x = <|>", "python", stripped=True)
    assert begin(" a, b)\r\n", context) == "a, b)\n"


def test_B08_tabs_stay_tabs() -> None:
    check(
        "func f() {\n\t<|>\n}\n",
        ["if x {\n", "        return\n", "    }"],
        "func f() {\n\tif x {\n\t\treturn\n\t}\n}\n",
        "go",
    )
    check("<|>", "func g() {\n    return\n}", "func g() {\n\treturn\n}", "go", indent="\t")
    check("func f() {\n\t<|>\n}\n", "    return", "func f() {\n\treturn\n}\n", "go")
    check(
        "func f() {<|>\n\tx()\n}\n",
        "\n  if y {\n    z()\n  }",
        "func f() {\n\tif y {\n\t\tz()\n\t}\n\tx()\n}\n",
        "go",
    )
    check("def f():\n  <|>\n", "if x:\n\t\treturn", "def f():\n  if x:\n    return\n")
    check("func f() {\n\tx := <|>\n}\n", "  1", "func f() {\n\tx := 1\n}\n", "go")


def test_B10_control_tokens() -> None:
    check("def f(a):\n    <|>\n", ["return a<|fim", "_pad|>", "junk"], "def f(a):\n    return a\n")
    context, text, _ = context_of("def f(a):\n    <|>\n", "python")
    assert finish("return a<|endoftext|>def", context) == "return a"
    reply = ReplyFilter("completion", text, sentinel="<<NO_EDIT>>")
    assert "".join(map(reply.push, ["<<NO", "_ED", "IT>>"])) + reply.finish() == ""
    assert reply.no_edit
    check('PAD = "<|fim_pad|>"\nx = <|>', '"<|fim_pad|>"', 'PAD = "<|fim_pad|>"\nx = "<|fim_pad|>"')


def test_B11_reasoning() -> None:
    check(
        "def add(a, b):\n    <|>\n",
        ["<thi", "nk>use plus</th", "ink>\n", "return a + b"],
        "def add(a, b):\n    return a + b\n",
    )
    check_nothing("def add(a, b):\n    <|>\n", ["<think>use", " plus, return a + b"])


def test_B13_only_blanks() -> None:
    check_nothing("x = 1<|>\n", "   ")
    check_nothing("x = 1<|>\n", "\n\n    ")
    check("public <|>void m();", "static ", "public static void m();", "java")


def test_B14_blank_lines_carry_no_blanks() -> None:
    check(
        "class A:\n    def f(self):\n        <|>\n",
        ["a = 1\n", "    \n", "        return a\n"],
        "class A:\n    def f(self):\n        a = 1\n\n        return a\n",
    )


def test_B15_runaway() -> None:
    check("items = [\n<|>", ['    "a",\n'] * 2000, 'items = [\n    "a",')
    numbers = "".join(f"{number},\n" for number in range(100))
    check("items = [\n<|>", numbers, f"items = [\n{numbers}".rstrip())
    check("items = [\n<|>", "a,\nb,\n" * 5, "items = [\na,\nb,")
    check("items = [\n<|>", "0,\n" * 4 + "0,", "items = [\n0,")
    check("items = [\n<|>", "0,\n" * 3 + "0,", "items = [\n" + "0,\n" * 3 + "0,")


def test_B25_the_documents_line_ends() -> None:
    check("def f():\r\n    <|>\r\n", "a = 1\n    return a", "def f():\r\n    a = 1\r\n    return a\r\n")
    check("def f():\r\n    <|>\r\n", "a = 1\r\n    return a", "def f():\r\n    a = 1\r\n    return a\r\n")
    check("a\r\nb\r\nXc<|>\r\n", "d", "a\r\nb\r\nXcd\r\n")


def test_B83_what_follows_already() -> None:
    check("use({<|>\n})\n", "\n    run: go,", "use({\n    run: go,\n})\n", "javascript")
    check_nothing("use({<|>\n    run: go,\n})\n", "\n    run: go,", "javascript")
    check_nothing("def f():\n    <|>\n    return 1\n", "return 1")
    check("def f():\n        <|>\n    return 1\n", "return 1", "def f():\n        return 1\n    return 1\n")


def test_fences_and_prose_around_a_completion() -> None:
    check("x = <|>", "```python\n1\n```\nThis sets x.", "x = 1")
    check("x = <|>", "Here is the completion:\n\n```\n1\n```", "x = 1")
    check("# Add <|>", "the numbers of all rows.", "# Add the numbers of all rows.")
    check('"""<|>"""', "Return the sum of a and b.", '"""Return the sum of a and b."""')


@given(st.text(st.sampled_from("ab(){}[]\"',\n \t:#;\\"), max_size=30), st.data())
def test_any_text_at_any_place_is_answered(text: str, data: st.DataObject) -> None:
    cursor = data.draw(st.integers(0, len(text)))
    candidate = data.draw(st.text(st.sampled_from("ab(){}[]\"',\n \t:#;\\"), max_size=30))
    language = data.draw(st.sampled_from(["python", "javascript", "rust", "markdown"]))
    context = context_at(
        Document.open("file:///a", language, 1, text), cursor, stripped=data.draw(st.booleans())
    )
    offered, replaced = finish_over(candidate, context)
    assert offered == "" or offered.strip()
    assert 0 <= replaced <= len(context.after_line)
    assert finish(candidate, context) == "" or finish(candidate, context).strip()


def test_confidence_is_the_geometric_mean_of_the_first_six() -> None:
    sure, unsure = math.log(0.9), math.log(0.3)
    assert confident([])
    assert confident([sure] * 6 + [unsure] * 50)
    assert not confident([sure] * 3 + [unsure] * 3)
    assert confident([math.log(0.601)]) and not confident([math.log(0.599)])
