"""The part of a document that a completion prompt shows."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core.document import Document
from lsp_server.core.prompt import Fill, Style, completion_prompt
from lsp_server.core.prompt.budget import head, tokens
from tests.support.marked import parse
from tests.support.operations import steps

PLAIN, FIM, CHAT = Style("plain"), Style("fim"), Style("chat")


def fill(document: Document, cursor: int, style: Style) -> Fill:
    prompt = completion_prompt(document, cursor, style)
    assert isinstance(prompt, Fill)
    return prompt


@pytest.mark.parametrize("budget", range(64, 70))
def test_B22_a_window_never_cuts_a_character(budget: int) -> None:
    style = Style("fim", prefix_tokens=budget, suffix_tokens=budget)
    for source in (
        "測" * 4000 + "\nx = <|>",
        "測" * 4000 + "<|>",
        "<|>" + "測" * 4000,
        "x = <|>\n" + "🦊" * 4000,
    ):
        marked = parse(source)
        prompt = fill(Document.open("file:///a", "python", 1, marked.text), marked.at, style)
        before, after = marked.text[: marked.at], marked.text[marked.at :]
        assert before.endswith(prompt.prefix) and after.startswith(prompt.suffix)
        assert tokens(prompt.prefix) <= budget and tokens(prompt.suffix) <= budget
        assert "\ufffd" not in (prompt.prefix + prompt.suffix).encode().decode()
        assert prompt.prefix or not before
        assert prompt.suffix or not after.strip()


@given(st.text(st.sampled_from("a測🦊\n\r \ud83e(}"), max_size=200), st.integers(0, 200), st.integers(1, 40))
def test_windows_fit_and_are_parts_of_the_document(text: str, cursor: int, budget: int) -> None:
    document = Document.open("file:///a", "python", 1, text)
    cursor = min(cursor, len(text))
    prompt = fill(document, cursor, Style("fim", budget, budget))
    assert text[:cursor].endswith(prompt.prefix) and text[cursor:].startswith(prompt.suffix)
    assert tokens(prompt.prefix) <= budget and tokens(prompt.suffix) <= budget
    assert tokens(head(text, budget)) <= budget and text.startswith(head(text, budget))


def typed(text: str, style: Style) -> list[str]:
    """The prefix of the prompt after each key."""
    versions = (Document.open("file:///a", "python", count, text[:count]) for count in range(len(text)))
    return [fill(document, document.length, style).prefix for document in versions]


FUNCTIONS = "".join(
    f"def f{n}(a, b):\n    c = a + b * {n}\n    if c > {n}:\n        return c\n    return None\n\n\n"
    for n in range(20)
)
ROWS = "ROWS = [\n" + "    (0, 0, 0),\n" * 120


@pytest.mark.parametrize("text", [FUNCTIONS, ROWS], ids=["functions", "rows"])
def test_the_window_moves_in_large_steps_while_typing(text: str) -> None:
    prompts = typed(text, PLAIN)
    cold = sum(not now.startswith(before.rstrip()) for before, now in pairwise(prompts))
    assert cold <= text.count("\n") / 6
    assert all(tokens(prompt) >= 0.35 * PLAIN.prefix_tokens for prompt in prompts[-1000:])


def test_the_window_starts_where_code_starts() -> None:
    document = Document.open("file:///a", "python", 1, FUNCTIONS)
    assert re.match(r"def f\d+", fill(document, document.length, PLAIN).prefix)


class Guarded(Document):
    """A document whose text as a whole must not be asked for."""

    __slots__ = ()

    @property
    def text(self) -> str:
        raise AssertionError("the whole text was joined")


@pytest.mark.parametrize("style", [PLAIN, FIM, CHAT], ids=lambda style: style.kind)
def test_a_prompt_costs_the_same_in_a_long_file(style: Style) -> None:
    def cost(functions: int) -> int:
        document = Guarded.open("file:///a", "python", 1, FUNCTIONS * functions)
        cursor = document.line_start(document.line_count // 2) + 4
        return steps(lambda: completion_prompt(document, cursor, style))

    assert cost(400) <= 1.5 * cost(10)
