"""From requests to calls of llama.cpp, without llama.cpp."""

from dataclasses import replace
from typing import Any

import pytest

from lsp_server.local.answers import Refused
from lsp_server.local.gguf import Traits
from lsp_server.local.rendering import MAX_TOKENS, Call, is_empty, render
from lsp_server.wire.server import Create, Message

FILLS = Traits("made", "<P>{prefix}<S>{suffix}<M>", ("<P>", "<S>", "<M>"), 2048, True)
CONTINUES = replace(FILLS, fill=None, markers=())


def call(traits: Traits = FILLS, **fields: Any) -> Call:
    return render(Create(model="made", **fields), traits)


def fill(kind: str, prefix: str, suffix: str = "", **fields: Any) -> dict[str, Any]:
    return {"prompt_id": kind, "prompt_variables": {"prefix": prefix, "suffix": suffix}} | fields


def test_plain_continues_and_fim_fills_the_gap() -> None:
    assert call(**fill("plain", "a = ", "ignored")).body["prompt"] == "a = "
    assert call(**fill("fim", "a = {", "}")).body["prompt"] == "<P>a = {<S>}<M>"


def test_weights_without_fill_tokens_continue_the_prefix() -> None:
    asked = call(CONTINUES, **fill("fim", "a = ", "b"))
    assert (asked.body["prompt"], asked.key) == ("a = ", ("plain", ""))


def test_the_tokens_of_the_model_in_a_file_do_not_steer_it() -> None:
    assert call(**fill("fim", "say('<M>')", "<S>")).body["prompt"] == "<P>say('< M>')<S>< S><M>"


def test_an_answer_goes_on_with_the_token_under_the_cursor() -> None:
    heals = replace(FILLS, vocabulary=sorted((b".items", b" =", b" ==", b" x", b"x")))
    asked = call(heals, **fill("plain", "a.it", logprobs=True))
    assert (asked.body["prompt"], asked.typed) == ("a", ".it")
    assert asked.body["grammar"] == 'root ::= ".it" .*' and asked.body["n_probs"] > 1
    assert call(heals, **fill("fim", "a.it", ")")).body["prompt"] == "<P>a<S>)<M>"
    whole = call(heals, **fill("plain", "a.items"))
    assert (whole.body["prompt"], whole.typed, whole.body.get("grammar")) == ("a.items", "", None)
    warm = call(heals, **fill("plain", "a.it", generate=False))
    assert (warm.body["prompt"], warm.body.get("grammar")) == ("a", None)
    first = call(heals, **fill("plain", ".it"))
    assert (first.body["prompt"], first.typed) == (".", "it")


def test_an_answer_begins_with_the_blanks_that_the_prompt_lacks() -> None:
    heals = replace(FILLS, vocabulary=sorted((b" =", b" ==", b" x")))
    asked: dict[str, Any] = {"prompt_id": "plain", "prompt_variables": {"prefix": "a =", "blanks": " "}}
    spaced = call(heals, **asked)
    assert (spaced.body["prompt"], spaced.body["grammar"], spaced.typed) == ("a =", 'root ::= " " .*', "")
    assert call(**asked).body["prompt"] == "a ="


def test_a_conversation_keeps_its_turns() -> None:
    turns = (Message("user", "hi"), Message("assistant", "ho"), Message("user", "go"))
    asked = call(instructions="be brief", messages=turns, logprobs=True)
    assert asked.handler == "handle_chat_completions"
    assert [turn["role"] for turn in asked.body["messages"]] == ["system", "user", "assistant", "user"]
    assert asked.body["logprobs"] is True


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        (fill("plain", "x", prompt_cache_key="doc"), ("plain", "doc")),
        (fill("fim", "x", prompt_cache_key="doc"), ("fim", "doc")),
        ({"instructions": "x", "prompt_cache_key": "doc"}, ("chat", "doc")),
        (fill("plain", "x"), ("plain", "")),
    ],
)
def test_a_cache_belongs_to_one_document_asked_in_one_way(
    fields: dict[str, Any], key: tuple[str, ...]
) -> None:
    assert call(**fields).key == key


def test_bounds_stops_and_temperature_are_passed_on() -> None:
    asked = call(**fill("plain", "x", max_output_tokens=7, stop=("\n",), temperature=0.5, logprobs=True)).body
    assert (asked["n_predict"], asked["stop"], asked["temperature"], asked["n_probs"]) == (7, ["\n"], 0.5, 1)
    unbound = call(**fill("plain", "x")).body
    assert (unbound["n_predict"], unbound["stop"], unbound["temperature"], unbound["n_probs"]) == (
        MAX_TOKENS,
        [],
        0,
        0,
    )


def test_a_warm_up_reads_and_writes_nothing() -> None:
    asked = call(**fill("plain", "x", generate=False, max_output_tokens=7))
    assert asked.background and asked.body["n_predict"] == 0


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"prompt_id": "pmpt_123"}, "prompt_not_found"),
        (fill("plain", ""), "invalid_prompt"),
        ({}, "invalid_prompt"),
    ],
)
def test_what_cannot_be_read_is_refused(fields: dict[str, Any], code: str) -> None:
    with pytest.raises(Refused) as refused:
        call(**fields)
    assert refused.value.frame.code == code


@pytest.mark.parametrize(
    ("fields", "empty"),
    [
        ({}, True),
        ({"messages": (Message("user", ""),)}, True),
        (fill("plain", ""), True),
        (fill("plain", "x"), False),
        ({"instructions": "x"}, False),
    ],
)
def test_a_warm_up_may_be_empty(fields: dict[str, Any], empty: bool) -> None:
    assert is_empty(Create(model="made", **fields)) is empty
