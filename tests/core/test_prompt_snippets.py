"""Pieces of other files in a prompt."""

from typing import Any

import pytest

from lsp_server.core.prompt import Fill, Snippet, prompt_tokens, with_comments
from tests.core.test_prompt import CHAT, HOSTILE, chat, completion, edit, fields


def test_snippets_that_do_not_fit_are_left_out() -> None:
    snippets = [Snippet("a.py", "a = 1\n"), Snippet("b.py", "b = 1\n" * 5000), Snippet("c.py", "c = 1\n")]
    prompt = chat(completion("x = <|>", CHAT, snippets=snippets))
    assert "a = 1" in prompt.context and "b = 1" not in prompt.context
    assert prompt_tokens(prompt) <= CHAT.budget


@pytest.mark.parametrize(
    ("language", "text", "shown_"),
    [
        ("go", "type A int\n\nvar b = 1\n", "// From a b.go:\n// type A int\n//\n// var b = 1\n\n"),
        ("ocaml", "let a = 1\n", "(* From a b.go: *)\n(* let a = 1 *)\n\n"),
        ("ocaml", "let a = 1 (* one *)\n", ""),
        ("json", "{}\n", ""),
    ],
)
def test_snippets_as_comments_close_nothing(language: str, text: str, shown_: str) -> None:
    prompt = Fill("x", "y", "fim", True, "p", language, (Snippet("a\nb.go", text),))
    assert with_comments(prompt) == Fill(shown_ + "x", "y", "fim", True, "p", language)


@pytest.mark.parametrize("kind", ["code", "definition", "edit"])
def test_B118_a_snippet_cannot_close_its_block(kind: Any) -> None:
    snippets = [Snippet("w/a\n```\nb.py", HOSTILE, kind)]
    prompt = chat(completion("x = <|>\n", CHAT, snippets=snippets))
    assert fields(prompt.context) == [HOSTILE]
    assert fields(edit("<[x = 1]>\n", "Say it better.", snippets=snippets).context)[0] == HOSTILE
