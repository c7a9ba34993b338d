"""From a request of the contract to a call of llama.cpp."""

from dataclasses import dataclass
from typing import Any, Literal

from lsp_server.local.answers import Refused
from lsp_server.local.gguf import Traits
from lsp_server.local.healing import LIKELY, grammar, healed
from lsp_server.wire.errors import ErrorFrame
from lsp_server.wire.server import Create

MAX_TOKENS = 1024
"""Tokens of an answer whose request sets no bound."""


@dataclass(frozen=True, slots=True)
class Call:
    """`key` names the prompts that share a cache: one document asked in one way.

    The answer begins with `typed`, which the client has already.
    """

    handler: Literal["handle_completions", "handle_chat_completions"]
    body: dict[str, Any]
    key: tuple[str, ...]
    background: bool
    typed: str = ""


def render(create: Create, traits: Traits) -> Call:
    """Lay a request out for these weights. Raises Refused when it has nothing to read.

    `prompt.id` is `plain` (the variable `prefix` is continued) or `fim` (the gap between `prefix` and
    `suffix` is filled). Weights that cannot fill in continue the prefix. An answer begins with `blanks`,
    where there are any. A request without `prompt` is a conversation.
    """
    match create.prompt_id:
        case "plain":
            return _continue(create, traits, traits_fill=None)
        case "fim":
            return _continue(create, traits, traits_fill=traits.fill)
        case None:
            return _converse(create)
        case other:
            message = f"There is no prompt {other!r}; this host has 'plain' and 'fim'."
            raise Refused(ErrorFrame("prompt_not_found", message, "prompt.id", status=404))


def is_empty(create: Create) -> bool:
    """Whether there is nothing to read, as in a warm-up that only wants the weights in memory."""
    if create.prompt_id is None:
        return not create.instructions and not any(message.text for message in create.messages)
    return not any(create.prompt_variables.values())


def _continue(create: Create, traits: Traits, traits_fill: str | None) -> Call:
    prefix = _harmless(create.prompt_variables.get("prefix", ""), traits)
    suffix = _harmless(create.prompt_variables.get("suffix", ""), traits)
    blanks = create.prompt_variables.get("blanks", "") if traits.vocabulary else ""
    read, typed = healed(prefix + blanks, traits.vocabulary)
    if traits_fill is None and not read:
        # Weights cannot go on from nothing.
        read, typed = prefix[:1], (prefix + blanks)[1:]
    text = read if traits_fill is None else traits_fill.format(prefix=read, suffix=suffix)
    if not text:
        raise Refused(ErrorFrame("invalid_prompt", "The prompt is empty.", "prompt.variables"))
    kind = "plain" if traits_fill is None else "fim"
    body = _common(create) | {"prompt": text, "n_probs": int(create.logprobs)}
    if typed and create.generate:
        body |= {"grammar": grammar(typed), "n_probs": LIKELY if create.logprobs else 0}
    key = (kind, create.prompt_cache_key or "")
    return Call("handle_completions", body, key, not create.generate, typed.removesuffix(blanks))


def _converse(create: Create) -> Call:
    turns = [{"role": message.role, "content": message.text} for message in create.messages]
    if create.instructions:
        turns.insert(0, {"role": "system", "content": create.instructions})
    if not turns:
        raise Refused(ErrorFrame("invalid_prompt", "The input is empty.", "input"))
    body = _common(create) | {"messages": turns}
    if create.logprobs:
        body |= {"logprobs": True, "top_logprobs": 1}
    return Call("handle_chat_completions", body, ("chat", create.prompt_cache_key or ""), not create.generate)


def _common(create: Create) -> dict[str, Any]:
    wanted = MAX_TOKENS if create.max_output_tokens is None else create.max_output_tokens
    return {
        "n_predict": wanted if create.generate else 0,
        "stream": True,
        "return_progress": True,
        "temperature": create.temperature or 0,
        "cache_prompt": True,
        "stop": list(create.stop),
    }


def _harmless(text: str, traits: Traits) -> str:
    """A file that writes about the model's own tokens must not steer it."""
    for marker in traits.markers:
        text = text.replace(marker, f"{marker[0]} {marker[1:]}")
    return text
