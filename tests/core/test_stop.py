"""When a block is asked for, and when a stream has given all that will be shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core.completion import Context, Stopper, context_at, finish, wants_block
from lsp_server.core.document import Document
from tests.support.marked import parse


def context_of(source: str, language: str = "python") -> Context:
    marked = parse(source)
    return context_at(Document.open("file:///w/code", language, 1, marked.text), marked.at)


@pytest.mark.parametrize(
    ("source", "block"),
    [
        ("def f():<|>\n", True),
        ("def f():\n    <|>\n", True),
        ("def f():\n<|>\n", True),
        ("use({<|>})\n", True),
        ("if (x) {<|>\n", True),
        ("x = [<|>];\n", True),
        ("x = <|>\n", False),
        ("foo(<|>a)\n", False),
        ("x = 1\n<|>\n", False),
        ("<|>", True),
        ("    <|>return 1\n", False),
        ("if a then<|>\n", True),
    ],
)
def test_one_line_or_a_block(source: str, block: bool) -> None:
    assert wants_block(context_of(source)) is block


def stopped_after(source: str, stream: str, language: str = "python") -> str | None:
    """What of `stream`, sent character by character, had come when the stream was stopped."""
    context = context_of(source, language)
    stopper = Stopper(context, block=wants_block(context))
    for index, character in enumerate(stream, 1):
        if stopper.push(character):
            return stream[:index]
    return None


@pytest.mark.parametrize(
    ("source", "stream", "came", "language"),
    [
        ("x = <|>\n", "1\ny = 2", "1\n", "python"),
        ("foo(<|>)", "a, b) + c", "a, b)", "python"),
        ("foo(<|>, c)", "a, b", "a,", "python"),
        ("f(g(<|>)", "x))", "x))", "python"),
        ("x = f(<|>", "a)", None, "python"),
        (
            "def f():\n    <|>\n",
            "\n    a = 1\n    return a\n\ndef g():\n    pass",
            "\n    a = 1\n    return a\n\ndef g():\n",
            "python",
        ),
        (
            "func f() {\n\t<|>\n}\n",
            "if x {\n    return\n  }\n  y()\n}\n",
            "if x {\n    return\n  }\n  y()\n}",
            "go",
        ),
        ("items = [<|>\n", "\n  0,\n" + "  0,\n" * 9, "\n" + "  0,\n" * 5, "javascript"),
        ("    <|>\n", "\n\n", None, "python"),
    ],
)
def test_a_stream_stops_when_all_that_can_be_shown_has_come(
    source: str, stream: str, came: str | None, language: str
) -> None:
    assert stopped_after(source, stream, language) == came


@given(st.text(st.sampled_from("ab(){}\"', \n:"), max_size=40), st.data())
def test_stopping_loses_nothing_that_would_be_shown(stream: str, data: st.DataObject) -> None:
    source = data.draw(
        st.sampled_from(["f(<|>)", "def f():\n    <|>\n", "x = {<|>\n}\n", "g(<|>, b)\n", "<|>"])
    )
    context = context_of(source)
    came = stopped_after(source, stream)
    if came is not None:
        assert finish(came, context) == finish(stream, context)
