"""A streamed edit: what the buffer holds after it, in every kind of client."""

from typing import Any

import pytest

from lsp_server.engine.errors import EditRefused, Interrupted
from tests.engine.stage import URI, Stage
from tests.support.virtual_time import run_virtual, turns

MODES = ["vscode", "neovim", "neovim0", "eglot", "helix", "plain", "full", "applypatch"]
FUNCTION = "top = 0\n\ndef f():\n    return 1<|>\n\nbottom = 0\n"


def check(
    source: str,
    chunks: list[str],
    expected: str,
    *,
    mode: str = "vscode",
    outcome: str = "done",
    **stage: Any,
) -> None:
    """The model streams `chunks` as the new scope; afterwards the buffer reads `expected`."""

    async def scenario() -> None:
        on = Stage(source, mode, **stage)
        generation = on.edit()
        call = await on.call()
        await on.said(call, *chunks)
        call.finish()
        result = await on.result(generation)
        assert (result.outcome, on.text()) == (outcome, expected)
        assert [each.id for each in on.editor.results] == [generation.job.id]
        await on.close()

    run_virtual(scenario())


@pytest.mark.parametrize("mode", MODES)
def test_a_function_is_rewritten(mode: str) -> None:
    check(
        FUNCTION,
        ["def f():\n", "    x = 2\n", "    return x\n"],
        "top = 0\n\ndef f():\n    x = 2\n    return x\n\nbottom = 0\n",
        mode=mode,
    )


def test_the_same_text_is_unchanged() -> None:
    check(FUNCTION, ["def f():\n    return 1\n"], FUNCTION.replace("<|>", ""), outcome="unchanged")


def test_B14_blank_lines_carry_no_indentation() -> None:
    check(
        "class A:\n    def f(self):\n        pass<|>\n",
        ["def f(self):\n    a = 1\n", "    \n", "    return a\n"],
        "class A:\n    def f(self):\n        a = 1\n\n        return a\n",
    )


@pytest.mark.parametrize("chunks", [["x = 10"], ["x = 10\n"], ["x = 10\n\n"]])
def test_B67_a_line_edit_leaves_the_next_line_alone(chunks: list[str]) -> None:
    check("x=1<|>\ny=2\n", chunks, "x = 10\ny=2\n")


@pytest.mark.parametrize("chunks", [["TWO\n", "2b\n"], ["TWO\r", "\n2b\r\n"]])
def test_B75_line_ends_are_the_documents(chunks: list[str]) -> None:
    check("one\r\n<[two]>\r\nthree\r\n", chunks, "one\r\nTWO\r\n2b\r\nthree\r\n")


def test_B77_tabs_stay_tabs() -> None:
    check(
        "func f() int {\n\ta := 1<|>\n\treturn a\n}\n",
        ["func f() int {\n", "    a := 2\n", "    return a\n}\n"],
        "func f() int {\n\ta := 2\n\treturn a\n}\n",
        language="go",
    )


@pytest.mark.parametrize("reply", [["b + 1"], ["foo(a, b + 1, c)"]])
def test_B68_part_of_a_line(reply: list[str]) -> None:
    check("foo(a, <[b]>, c)\n", reply, "foo(a, b + 1, c)\n")


def test_B20_the_end_of_the_text_counts_in_the_clients_units() -> None:
    check('<[let moon = "🌒";]>', ["let suns = ", '"🌞";'], 'let suns = "🌞";', language="plaintext")


def test_B29_a_selection_of_everything_without_a_final_newline() -> None:
    check("<[a\nb]>", ["A\nB\nC"], "A\nB\nC", language="plaintext")
    check("<[a\nb]>", ["Z"], "Z", language="plaintext")


def test_B91_a_character_that_comes_in_two_halves() -> None:
    check("# <[x]>\n", ["\ud83e", "\udd8a"], "# 🦊\n")


def test_B107_a_broken_neighbour_stays_as_it_is() -> None:
    check(
        "def a():\n    x = (1,\n\ndef b():\n    return 2<|>\n",
        ["def b():\n    return 3\n"],
        "def a():\n    x = (1,\n\ndef b():\n    return 3\n",
    )


@pytest.mark.parametrize(
    "reply", ['@cache\n@trace("f")\ndef f():\n    return 2\n', "def f():\n    return 2\n"]
)
def test_B102_decorators_belong_to_their_function(reply: str) -> None:
    check(
        '@cache\n@trace("f")\ndef f():\n    return 1<|>\n',
        [reply],
        '@cache\n@trace("f")\ndef f():\n    return 2\n',
    )


def test_B11_reasoning_is_never_written() -> None:
    async def run() -> None:
        on = Stage("def add(a, b):\n    pass<|>\n")
        generation = on.edit()
        call = await on.call()
        await on.said(call, "<thi", "nk>use plus</th", "ink>\n", "def add(a, b):\n    return a + b\n")
        call.finish()
        await on.result(generation)
        assert on.text() == "def add(a, b):\n    return a + b\n"
        assert not any("think" in patch.edit.text or "plus" in patch.edit.text for patch in on.editor.patches)
        await on.close()

    run_virtual(run())


REFUSED = {
    "nothing": [],
    "a blank line": ["\n"],
    "an opening fence": ["```python\n"],
    "prose": ["I am sorry, but I cannot do that with this code."],
}


@pytest.mark.parametrize("name", REFUSED)
def test_B81_no_code_deletes_nothing(name: str) -> None:
    async def run() -> None:
        on = Stage("<[a = 1\nb = 2\nc = 3\nd = 4\ne = 5]>\n")
        generation = on.edit()
        call = await on.call()
        await on.said(call, *REFUSED[name])
        call.finish()
        result = await on.result(generation)
        assert (result.outcome, on.text()) == ("rejected", on.source.text)
        assert [sentence for _, sentence in on.editor.shown] == [result.message]
        await on.close()

    run_virtual(run())


def test_B81_an_explicit_empty_block_deletes() -> None:
    check("a = 1\n<[b = 2]>\nc = 3\n", ["```\n", "```\n"], "a = 1\n\nc = 3\n", language="plaintext")


def test_B79_a_placeholder_takes_the_edit_back() -> None:
    body = "".join(f"    a{number} = {number}\n" for number in range(30))

    async def run() -> None:
        on = Stage(f"def f():\n{body}<|>")
        generation = on.edit(selection=None)
        call = await on.call()
        await on.said(call, "def f():\n    a = 2\n", "    # ... rest of the code unchanged ...\n")
        call.finish()
        result = await on.result(generation)
        assert (result.outcome, on.text()) == ("rejected", on.source.text)
        assert len(on.editor.shown) == 1
        await on.close()

    run_virtual(run())


def test_B15_a_loop_is_stopped_and_told() -> None:
    async def run() -> None:
        on = Stage(FUNCTION)
        generation = on.edit()
        call = await on.call()
        await on.said(call, "def f():\n", *(['    print("a")\n'] * 50))
        result = await on.result(generation)
        assert result.outcome == "rejected" and "repeat" in (result.message or "")
        assert on.text().count('print("a")') <= 5
        assert call.closed
        await on.close()

    run_virtual(run())


def test_B89_a_stream_that_breaks_off_is_not_done_and_its_text_stays() -> None:
    async def run() -> None:
        on = Stage(FUNCTION)
        generation = on.edit()
        call = await on.call()
        await on.said(call, "def f():\n", "    x =")
        call.fail(Interrupted("The connection broke off."))
        result = await on.result(generation)
        assert result.outcome == "failed"
        assert on.text().endswith("return 1\n\nbottom = 0\n"), "code that the stream had not reached stays"
        await on.close()

    run_virtual(run())


def test_B51_stop_is_the_end_although_the_model_goes_on() -> None:
    async def run() -> None:
        on = Stage(FUNCTION)
        on.edit()
        call = await on.call()
        await on.said(call, "def f():\n", "    a = 1\n", "    b = 2\n")
        text, patches = on.text(), len(on.editor.patches)
        stopped = on.assistant.stop(None)
        await turns(3)
        assert call.closed
        call.say("    c = 3\n", "    d = 4\n")
        result = await stopped
        await on.rest()
        assert (result.outcome, on.text(), len(on.editor.patches)) == ("stopped", text, patches)
        await on.close()

    run_virtual(run())


def test_B35_nothing_follows_a_document_that_was_closed() -> None:
    async def run() -> None:
        on = Stage("def f():\n    return 1<|>\n")
        generation = on.edit()
        call = await on.call()
        await on.said(call, "def f():\n", "    a = 1\n")
        text = on.text()
        on.editor.close(URI)
        on.editor.open("file:///w/n.py", text)
        on.deliver()
        assert (await on.result(generation)).outcome == "closed"
        assert call.closed
        assert on.text("file:///w/n.py") == text
        await on.close()

    run_virtual(run())


def test_a_read_only_file_is_said_to_be_one() -> None:
    async def run() -> None:
        on = Stage(FUNCTION)
        on.editor.refuse_next(100)
        generation = on.edit()
        call = await on.call()
        await on.said(call, "def f():\n", "    return 2\n")
        call.finish()
        result = await on.result(generation)
        assert result.outcome == "rejected" and "read-only" in (result.message or "")
        assert on.text() == on.source.text
        await on.close()

    run_virtual(run())


def test_a_document_that_is_not_open_cannot_be_edited() -> None:
    async def run() -> None:
        on = Stage(FUNCTION)
        with pytest.raises(EditRefused, match="not open"):
            on.assistant.edit("file:///elsewhere.py", on.source.span, "change it")
        with pytest.raises(EditRefused, match="instruction is empty"):
            on.edit("  ")
        await on.close()

    run_virtual(run())
