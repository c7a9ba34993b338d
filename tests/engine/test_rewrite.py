"""What the buffer holds after a model rewrote a scope, in both reply formats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core.text import Span
from lsp_server.settings import Edit
from tests.engine.rewriting import CACHED, CHANGED, FILE, METHOD, check, refused
from tests.engine.stage import Stage
from tests.support.virtual_time import run_virtual


def hunk(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


def test_D10_a_surplus_blank_line_at_the_end_is_dropped() -> None:
    check(FILE, "def f():\n    return 2\n\n\n", CHANGED)


def test_D11_new_lines_take_the_line_end_that_prevails() -> None:
    source = "a = 1\r\nb = 2\r\ndef f():\n    return 1<|>\r\n"
    for format, reply in (
        ("scope", "def f():\n    x = 2\n    return 1\n"),
        ("hunks", hunk("def f():", "def f():\n    x = 2")),
    ):
        check(source, reply, "a = 1\r\nb = 2\r\ndef f():\n    x = 2\r\n    return 1\r\n", format=format)


def test_D13_an_empty_block_deletes_and_nothing_does_not() -> None:
    check(
        "a = 1\n<[b = 2\n]>c = 3\n",
        hunk("b = 2", "").replace("\n\n", "\n"),
        "a = 1\n\nc = 3\n",
        format="hunks",
    )
    for nothing in ([], ["\n"], ["I would not change anything."]):
        refused("a = 1\n<[b = 2]>\nc = 3\n", nothing, format="hunks")


def test_B14_blank_lines_of_a_hunk_carry_no_blanks() -> None:
    check(
        "class A:\n    def f(self):\n        pass<|>\n",
        hunk("        pass", "        a = 1\n        \n        return a"),
        "class A:\n    def f(self):\n        a = 1\n\n        return a\n",
        format="hunks",
    )


def test_B67_a_hunk_of_one_line_leaves_the_next_line_alone() -> None:
    check("x=1<|>\ny=2\n", hunk("x=1", "x = 10"), "x = 10\ny=2\n", format="hunks")


def test_B67_a_reply_that_goes_on_with_the_next_line_does_not_write_it_twice() -> None:
    check("x=1<|>\nyes=2\n", "x = 10\nyes=2\n", "x = 10\nyes=2\n")


def test_B68_a_hunk_for_a_part_of_a_line() -> None:
    check("foo(a, <[b]>, c)\n", hunk("b", "b + 1"), "foo(a, b + 1, c)\n", format="hunks")


STYLED = "title = “A” — B  \nname = 'cafe\u0301'\n\ndef f():\n    x  =  1\n    return x<|>\n"


@pytest.mark.parametrize(
    ("format", "reply"),
    [
        ("hunks", hunk("x = 1", "x = 100")),
        ("hunks", hunk("def f():\n    x = 1", "def f():\n    x = 100")),
        ("scope", "def f():\n    x = 100\n    return x\n"),
    ],
)
def test_B70_only_the_statement_changes(format: str, reply: str) -> None:
    check(STYLED, reply, STYLED.replace("x  =  1", "x = 100").replace("<|>", ""), format=format)


TWINS = "def a():\n    n = 0\n    go(n)\n\ndef b():\n    n = 0\n    go(n)<|>\n"


def test_B71_the_block_in_the_scope_of_the_cursor_changes() -> None:
    for search, new in (("n = 0\n    go(n)", "n = 1\n    go(n)"), ("    n = 0", "    n = 1")):
        check(
            TWINS,
            hunk(search, new),
            TWINS.replace("<|>", "")[::-1].replace("0", "1", 1)[::-1],
            format="hunks",
        )


def test_B71_of_two_equal_lines_the_one_at_the_cursor_is_meant() -> None:
    source = "def f():\n    go(0)\n    x()\n    go(0)<|>\n"
    check(source, hunk("    go(0)", "    go(1)"), "def f():\n    go(0)\n    x()\n    go(1)\n", format="hunks")


def test_B71_equal_blocks_without_a_cursor_are_refused() -> None:
    refused("<[k\nk\nk]>\n", hunk("k\nk", "m"), format="hunks", language="plaintext")
    refused(f"<[{TWINS.replace('<|>', '')}]>", hunk("    n = 0", "    n = 1"), format="hunks")


def test_B73_a_block_with_another_inside_is_refused() -> None:
    refused(
        "<[begin\nlimit = 5\nend]>\n", hunk("begin\nlimit = 7\nend", "begin\nlimit = 8\nend"), format="hunks"
    )


LITERAL = r'p = "$& $1 $$ \\1 \\g<0> %s {0} \n"'


@pytest.mark.parametrize(("format", "reply"), [("scope", LITERAL), ("hunks", hunk("p = cost", LITERAL))])
def test_B74_new_text_is_literal(format: str, reply: str) -> None:
    check("p = cost<|>\n", reply, LITERAL + "\n", format=format)


@pytest.mark.parametrize("chunks", [["TWO\n", "2b\n"], ["TWO\r", "\n2b\r\n"]])
def test_B75_line_ends_of_a_hunk_are_the_documents(chunks: list[str]) -> None:
    reply = ["<<<<<<< SEARCH\ntwo\n=======\n", *chunks, ">>>>>>> REPLACE\n"]
    check("one\r\n<[two]>\r\nthree\r\n", reply, "one\r\nTWO\r\n2b\r\nthree\r\n", format="hunks")


def test_B77_tabs_of_a_hunk_are_the_documents() -> None:
    check(
        "func f() int {\n\ta := 1<|>\n\treturn a\n}\n",
        hunk("    a := 1", "    a := 2\n    a++"),
        "func f() int {\n\ta := 2\n\ta++\n\treturn a\n}\n",
        format="hunks",
        language="go",
    )


def test_B79_a_placeholder_in_a_hunk_is_refused_unless_the_code_has_it() -> None:
    body = "".join(f"    a{number} = {number}\n" for number in range(30))
    rest = "    # ... rest of the code unchanged ..."
    refused(f"def f():\n{body}<|>", hunk("    a0 = 0", f"    a0 = 1\n{rest}"), format="hunks")
    source = f"def f():\n    a0 = 0\n{rest}<|>\n"
    new = source.replace("a0 = 0", "a0 = 1").replace("<|>", "")
    check(source, hunk(f"    a0 = 0\n{rest}", f"    a0 = 1\n{rest}"), new, format="hunks")
    check(source, new, new)


@pytest.mark.parametrize("mode", ["vscode", "neovim", "helix", "full"])
def test_B80_edits_of_one_reply_never_meet(mode: str) -> None:
    source = "<[x = 1\ny = 2\nz = 3]>\n"
    reply = hunk("x = 1", "import a\nimport b\nx = 1") + hunk("y = 2", "y = 20") + hunk("z = 3", "z = 30")
    check(source, reply, "import a\nimport b\nx = 1\ny = 20\nz = 30\n", format="hunks", mode=mode)


@pytest.mark.parametrize("reply", ["", "\n", "There is no such code here.", "```python\n"])
def test_B81_no_hunk_deletes_nothing(reply: str) -> None:
    refused("<[a = 1\nb = 2\nc = 3\nd = 4\ne = 5]>\n", reply, format="hunks")


def test_a_hunk_that_breaks_off_takes_the_edit_back() -> None:
    source = "<[a = 1\nb = 2]>\n"
    refused(source, hunk("a = 1", "a = 10") + "<<<<<<< SEARCH\nb = 2\n=======\n", format="hunks")


PIECES = st.sampled_from(
    [
        *(
            "def f():\n",
            "    return 2\n",
            "    x = 1",
            "\n",
            "```",
            "```python\n",
            "Here it is:\n",
            "@cache\n",
        ),
        *("import os\n", "def g():\n", "<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n", "\r\n", "\t"),
        *("<think>", "</think>", "# ... rest unchanged ...\n", "class A:\n", "    return 1\n", "}", "é🦊"),
        *("<|im_end|>", "return two\n", "    " * 3, "TOP = 0\n"),
    ]
)
REPLIES = st.lists(PIECES | st.text(max_size=8), max_size=16)
SOURCES = (FILE, METHOD, CACHED, TWINS, "a(<[b]>, c)\r\nd()\r\n", "x\n<|>\ny\n", "<[a\nb]>", STYLED)


@given(st.sampled_from(SOURCES), REPLIES, st.sampled_from(["scope", "hunks"]), st.booleans())
def test_whatever_the_model_says_the_rest_of_the_file_stays(
    source: str, reply: list[str], format: str, breaks_off: bool
) -> None:
    async def scenario() -> None:
        on = Stage(source, edit=Edit(format=format))  # type: ignore[arg-type]
        generation = on.edit("return two")
        span = generation.job.scope.span
        before, after = outside(on.source.text, span)
        call = await on.call()
        await on.said(call, *reply)
        if not breaks_off:
            call.finish()
        else:
            on.assistant.stop(None).close()
        result = await on.result(generation)
        text = on.text()
        assert text.startswith(before) and text.endswith(after) and len(text) >= len(before) + len(after)
        assert [each.id for each in on.editor.results] == [result.id]
        assert result.outcome in ("done", "unchanged", "failed", "rejected", "stopped")
        if result.outcome == "unchanged":
            assert text == on.source.text
        await on.close()

    run_virtual(scenario())


def outside(text: str, span: Span) -> tuple[str, str]:
    return text[: span.start], text[span.end :]
