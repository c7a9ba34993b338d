"""What single hosts do differently, as data. A host is matched by its name or by the end of its name.

Sources: the vendors' API references and reports of their users; whatever a host refuses beyond this
is learned from its answer, see `failures.FieldRefused`.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit

from lsp_server.settings import FimStyle


@dataclass(frozen=True, slots=True)
class Quirks:
    """`omit`: fields that the host rejects. `limit`: its name for the bound on an answer. `stops`: how many
    stop texts it takes."""

    omit: frozenset[str] = frozenset()
    limit: str = "max_tokens"
    stops: int = 4


_CHAT = {
    "api.openai.com": Quirks(limit="max_completion_tokens"),
    "openai.azure.com": Quirks(limit="max_completion_tokens"),
    "api.cerebras.ai": Quirks(
        omit=frozenset({"prompt_cache_key", "service_tier"}), limit="max_completion_tokens"
    ),
    "api.groq.com": Quirks(
        omit=frozenset({"prompt_cache_key", "logprobs", "top_logprobs"}), limit="max_completion_tokens"
    ),
    "api.sambanova.ai": Quirks(
        omit=frozenset({"prompt_cache_key", "service_tier", "logprobs", "top_logprobs"})
    ),
    "generativelanguage.googleapis.com": Quirks(
        omit=frozenset({"prompt_cache_key", "service_tier", "logprobs", "top_logprobs"})
    ),
    "api.mistral.ai": Quirks(
        omit=frozenset({"prompt_cache_key", "service_tier", "logprobs", "stream_options"})
    ),
    "api.deepseek.com": Quirks(omit=frozenset({"prompt_cache_key", "service_tier"})),
    "api.inceptionlabs.ai": Quirks(omit=frozenset({"prompt_cache_key", "service_tier", "logprobs"})),
}

_FIM: dict[str, FimStyle] = {
    "api.mistral.ai": "mistral",
    "codestral.mistral.ai": "mistral",
    "api.deepseek.com": "deepseek",
    "api.inceptionlabs.ai": "mercury",
}

_FAST_WITH_HEADER = ("claude-opus-5", "claude-opus-4-8")
_FAST = (*_FAST_WITH_HEADER, "claude-fable-5-2", "claude-mythos-5-2", "claude-opus-5-5")
_NEVER_FAST = ("claude-haiku",)

FAST_BETA = "fast-mode-2026-02-01"
"""The value of `anthropic-beta` that opens fast mode on models where it is a preview."""


def quirks_of(url: str) -> Quirks:
    host = urlsplit(url).hostname or ""
    return next((quirks for name, quirks in _CHAT.items() if _is(host, name)), Quirks())


def fim_style_of(url: str) -> FimStyle:
    """The dialect that a host's name or port gives away; else the plain `/completions` with `suffix`."""
    parts = urlsplit(url)
    if parts.port == 11434:
        return "ollama"
    host = parts.hostname or ""
    return next((style for name, style in _FIM.items() if _is(host, name)), "completions")


def takes_speed(model: str) -> bool:
    """Whether a model may have a fast mode: those known to have none are left out, unknown ones may try."""
    return not model.startswith(_NEVER_FAST)


def fast_needs_header(model: str) -> bool:
    """Whether fast mode is a preview on this model. A dated id (`claude-opus-5-20260701`) is its model."""
    return _family(model) in _FAST_WITH_HEADER


def _family(model: str) -> str:
    """The longest known name that a model id is, or begins with before a date."""
    names = [name for name in _FAST if model == name or _is_dated(model.removeprefix(name))]
    return max(names, key=len, default="")


def _is_dated(rest: str) -> bool:
    return rest.startswith("-20") and rest[1:].isdigit() and len(rest) == 9


def _is(host: str, name: str) -> bool:
    return host == name or host.endswith("." + name)
