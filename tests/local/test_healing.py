"""Where a prompt is cut so that its last token is whole, without a model."""

from math import log

import pytest

from lsp_server.local.healing import among_possible, grammar, healed, vocabulary

TOKENS = sorted(
    token.encode()
    for token in (
        ".", ".items", "items", "it", "self", " self", " ", "  ", "    ", " =", " ==", "(", "(s", "Id", "Ids",
        "\n\n", "é", "éa", ")", ":", "):\n", "x",
    )
)  # fmt: skip


@pytest.mark.parametrize(
    ("prefix", "cut"),
    [
        ("in self.|", "in self|."),
        ("in self.it|", "in self|.it"),
        ("in self.items|", "in self.item|s"),
        ("f(|", "f|("),
        ("x =|", "x| ="),
        ("x = |", "x =| "),
        ("def f():|", "def f(|):"),
        ("a\n|", "a\n|"),
        ("a\n   |", "a\n|   "),
        ("getById|", "getBy|Id"),
        ("cafxé|", "cafx|é"),
        ("none of them?|", "none of them?|"),
        ("|", "|"),
    ],
)
def test_a_prompt_is_backed_up_to_where_a_token_could_reach_beyond_its_end(prefix: str, cut: str) -> None:
    assert "|".join(healed(prefix.replace("|", ""), TOKENS)) == cut


def test_without_a_vocabulary_nothing_is_backed_up() -> None:
    assert healed("in self.it", ()) == ("in self.it", "")


def test_tokens_are_read_as_they_are_written() -> None:
    pairs = {
        "tokenizer.ggml.tokens": ["Ġself", "é", "Ã©", "<|end|>", "Ċ"],
        "tokenizer.ggml.token_type": [1, 1, 1, 3, 1],
    }
    bytes_of = {"tokenizer.ggml.model": "gpt2", **pairs}
    assert vocabulary(bytes_of) == sorted((b" self", b"\xe9", "é".encode(), b"\n"))
    pieces = {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": ["▁self", "é"]}
    assert vocabulary(pieces) == sorted((b" self", "é".encode()))
    assert vocabulary({"tokenizer.ggml.model": "bert", "tokenizer.ggml.tokens": ["a"]}) == ()


def test_the_typed_text_is_quoted() -> None:
    assert grammar('\t"a\\n') == 'root ::= "\\t\\"a\\\\n" .*'


def test_a_forced_token_is_judged_among_those_that_were_possible() -> None:
    def entry(number: int, token: str, share: float) -> dict[str, object]:
        return {"id": number, "token": token, "bytes": list(token.encode()), "logprob": log(share)}

    likeliest = [entry(1, ".owner", 0.6), entry(2, ".items", 0.15), entry(3, ".", 0.05)]
    forced = likeliest[1] | {"top_logprobs": likeliest}
    assert among_possible(forced, ".it") == pytest.approx(log(0.15 / 0.2))
    surprise = entry(9, ".zq", 0.001) | {"top_logprobs": likeliest}
    assert among_possible(surprise, ".zq") == pytest.approx(log(0.001))
