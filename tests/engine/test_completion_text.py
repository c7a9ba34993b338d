"""What is offered of an answer, end to end through the engine: the text after accepting it."""

import asyncio
from typing import Any

import pytest

from tests.engine.stage import Stage, accepted
from tests.support.virtual_time import run_virtual


def check(source: str, chunks: list[str], expected: str | None, **stage: Any) -> None:
    """The model streams `chunks` at the cursor; accepting the item gives `expected` (None: no item)."""

    async def run() -> None:
        on = Stage(source, **stage)
        request = asyncio.ensure_future(on.assistant.complete(on.ask(on.source.at)))
        call = await on.call()
        await on.said(call, *chunks)
        call.finish()
        items = await request
        if expected is None:
            assert items == []
        else:
            assert accepted(on.text(), items) == expected
        await on.close()

    run_virtual(run())


CASES = {
    "B01": ('print("<|>");\n', ["hel", 'lo");'], 'print("hello");\n'),
    "B02a": ("foo(<|>)", ["a, b)"], "foo(a, b)"),
    "B02b": ("f(g(<|>))", ["x))"], "f(g(x))"),
    "B02c": ("f(g(<|>)", ["x))"], "f(g(x))"),
    "B02d": ('m["<|>"]', ['k"] = 1'], 'm["k"] = 1'),
    "B04a": ("const total = <|>", ["const total = ", "items.length;"], "const total = items.length;"),
    "B04b": ("ha<|>", ["haha"], "hahaha"),
    "B07": ("def f():\n    <|>\n", ["    a = 1\n", "    return a"], "def f():\n    a = 1\n    return a\n"),
    "B10": ("def f(a):\n    <|>\n", ["return a<|fim", "_pad|>", "junk"], "def f(a):\n    return a\n"),
    "B11": ("def f():\n    <|>\n", ["<thi", "nk>plus</th", "ink>\n", "return 1"], "def f():\n    return 1\n"),
    "B13": ("x = 1<|>\n", ["   "], None),
    "B25": ("a\r\nb\r\nXc<|>\r\n", ["d"], "a\r\nb\r\nXcd\r\n"),
    "B26": ("s = 'a\u2028b\x0bc\x0cd\x85e'\nq = <|>\n", ["1"], "s = 'a\u2028b\x0bc\x0cd\x85e'\nq = 1\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_completion_text(name: str) -> None:
    source, chunks, expected = CASES[name]
    check(source, chunks, expected)


def test_B08_tabs_stay_tabs() -> None:
    check(
        "func f() {\n\t<|>\n}\n",
        ["if x {\n", "        return\n", "    }"],
        "func f() {\n\tif x {\n\t\treturn\n\t}\n}\n",
        language="go",
    )
