"""Token healing: a prompt that ends inside what would be one token.

Text that is cut inside a token is written in tokens that the model never saw in this order: after `self.`
it has learned no `items`, because `.items` is one token. So the prompt is backed up to the first place on
its last line from where a token of the vocabulary could reach beyond the end, and a grammar makes the answer
begin with the text that was taken away. Typing on in a word leaves such a prompt as it is.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Vocabulary = Sequence[bytes]
"""The tokens of the weights as they are written, sorted; empty where they cannot be read."""

LIKELY = 12
"""How many of the likeliest tokens are looked at to tell how sure the model is of a token that was forced."""

_REACH = 64
_NORMAL = 1
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\t": "\\t", "\r": "\\r"}


def vocabulary(header: Mapping[str, Any]) -> Vocabulary:
    """The vocabulary in the header of a GGUF file: byte-level BPE and SentencePiece."""
    tokens: Sequence[str] = header.get("tokenizer.ggml.tokens", ())
    kinds: Sequence[int] = header.get("tokenizer.ggml.token_type", ()) or (_NORMAL,) * len(tokens)
    normal = (token for token, kind in zip(tokens, kinds, strict=False) if kind == _NORMAL)
    match header.get("tokenizer.ggml.model"):
        case "gpt2":
            return sorted(_from_byte_letters(normal))
        case "llama":
            return sorted(token.replace("\u2581", " ").encode() for token in normal)
    return ()


def healed(prefix: str, tokens: Vocabulary) -> tuple[str, str]:
    """The prefix that the model reads, and the rest of it, with which the answer has to begin."""
    start = max(prefix.rfind("\n") + 1, len(prefix) - _REACH)
    for cut in range(start, len(prefix)):
        rest = prefix[cut:]
        if _is_begun(rest.encode(), tokens):
            return prefix[:cut], rest
    return prefix, ""


def grammar(typed: str) -> str:
    """Anything that begins with `typed`, in the grammar notation of llama.cpp."""
    return 'root ::= "' + "".join(_ESCAPES.get(character, character) for character in typed) + '" .*'


def among_possible(entry: Mapping[str, Any], typed: str) -> float:
    """The log probability of a token among those that could stand there, as the rest of `typed` demands.

    `entry` is what llama.cpp says of one token, with the likeliest of all; a token that is not one of them
    surprised the model, which then knows little of what it says.
    """
    wanted, own, likeliest = typed.encode(), float(entry["logprob"]), entry.get("top_logprobs", ())
    if all(other["id"] != entry["id"] for other in likeliest):
        return own
    possible = (other for other in likeliest if _agree(bytes(other["bytes"]), wanted))
    return min(0.0, own - math.log(sum(math.exp(other["logprob"]) for other in possible)))


def _agree(token: bytes, wanted: bytes) -> bool:
    return bool(token) and (token.startswith(wanted) or wanted.startswith(token))


def _is_begun(text: bytes, tokens: Vocabulary) -> bool:
    """Whether a token begins with the text and goes on."""
    at = bisect_right(tokens, text)
    return at < len(tokens) and tokens[at].startswith(text)


def _from_byte_letters(tokens: Iterable[str]) -> Iterable[bytes]:
    """Byte-level BPE writes each byte as a letter: itself where that can be seen, else one above 255."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in seen]
    table = {chr(byte): byte for byte in seen} | {chr(256 + at): byte for at, byte in enumerate(hidden)}
    for token in tokens:
        if all(letter in table for letter in token):
            yield bytes(table[letter] for letter in token)
