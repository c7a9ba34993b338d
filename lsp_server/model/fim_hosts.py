"""The dialects of hosts that fill in the middle: where requests go, field names, how text comes back.

Sources: Mistral's and DeepSeek's API references, Inception's documentation, `docs/api.md` of Ollama,
`tools/server/README.md` of llama.cpp, and the openai SDK's `types/completion_create_params.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from lsp_server.core.prompt import Fill, Style
from lsp_server.engine.ports import Delta, Finish, Request, Usage
from lsp_server.model.hosting import HOST_OF_ONE, REMOTE_FIM
from lsp_server.settings import FimStyle, Model

KEPT_LOADED = "30m"
"""How long Ollama keeps a model in memory after a request."""


@dataclass(frozen=True, slots=True)
class Read:
    """What one message of a stream says: text, the reason of its end, and what it counted."""

    text: str = ""
    logprobs: tuple[float, ...] = ()
    reason: Literal["stop", "length", "filter"] | None = None
    usage: Usage | None = None
    timings: dict[str, float] = field(default_factory=dict)

    @property
    def delta(self) -> Delta:
        return Delta(self.text, self.logprobs)

    def finish(self, usage: Usage) -> Finish:
        return Finish(self.reason or "stop", self.usage or usage, self.timings)


@dataclass(frozen=True, slots=True)
class FimHost:
    """`path` below the base URL, `body` the fields of a request, `read` one decoded message of the answer."""

    vendor: str
    vendor_key: str
    path: str
    body: Callable[[Model, Fill, Request], dict[str, Any]]
    read: Callable[[dict[str, Any]], Read]
    lines: bool = False
    """JSON lines instead of server-sent events."""
    extras: bool = False
    """Whether the body takes snippets of other files; to others they go as comments before the code."""
    style: Style = REMOTE_FIM


def _completions(model: Model, fill: Fill, request: Request) -> dict[str, Any]:
    return {
        "model": model.model,
        "prompt": fill.prefix,
        "suffix": fill.suffix or None,
        "max_tokens": request.max_tokens,
        "stop": list(request.stop) or None,
        "temperature": model.temperature,
        "logprobs": 1 if request.logprobs else None,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def _mistral(model: Model, fill: Fill, request: Request) -> dict[str, Any]:
    return {
        "model": model.model,
        "prompt": fill.prefix,
        "suffix": fill.suffix,
        "max_tokens": request.max_tokens,
        "stop": list(request.stop) or None,
        "temperature": model.temperature,
        "stream": True,
    }


def _mercury(model: Model, fill: Fill, request: Request) -> dict[str, Any]:
    return _mistral(model, fill, request)


def _ollama(model: Model, fill: Fill, request: Request) -> dict[str, Any]:
    options = {
        "num_predict": request.max_tokens,
        "stop": list(request.stop) or None,
        "temperature": model.temperature,
    }
    return {
        "model": model.model,
        "prompt": fill.prefix,
        "suffix": fill.suffix or None,
        # Without a suffix a template of a chat model would be laid around the code.
        "raw": None if fill.suffix else True,
        "options": {name: value for name, value in options.items() if value is not None},
        "keep_alive": KEPT_LOADED,
        "stream": True,
    }


def _llama_cpp(model: Model, fill: Fill, request: Request) -> dict[str, Any]:
    return {
        "input_prefix": fill.prefix,
        "input_suffix": fill.suffix,
        "input_extra": [{"filename": each.path, "text": each.text} for each in fill.snippets],
        "prompt": "",
        "n_predict": request.max_tokens,
        "stop": list(request.stop) or None,
        "temperature": model.temperature,
        "n_probs": 1 if request.logprobs else None,
        "cache_prompt": True,
        "stream": True,
    }


def _read_choices(message: dict[str, Any]) -> Read:
    """`choices[].text`, or `choices[].delta.content`, with `usage` in one of the last messages."""
    usage = message.get("usage")
    counted = _usage(usage) if isinstance(usage, dict) else None
    choices = message.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    inner = choice.get("delta") or choice.get("message") or {}
    text = choice.get("text") or inner.get("content") or ""
    probable = (choice.get("logprobs") or {}).get("token_logprobs") or ()
    return Read(
        text=text if isinstance(text, str) else "",
        logprobs=tuple(value for value in probable if isinstance(value, (int, float))),
        reason=_REASONS.get(choice.get("finish_reason") or ""),
        usage=counted,
    )


def _read_ollama(message: dict[str, Any]) -> Read:
    if not message.get("done"):
        return Read(text=str(message.get("response", "")))
    timings = {
        name.removesuffix("_duration") + "_ms": value / 1e6
        for name, value in message.items()
        if name.endswith("_duration") and isinstance(value, (int, float))
    }
    return Read(
        text=str(message.get("response", "")),
        reason="length" if message.get("done_reason") == "length" else "stop",
        usage=Usage(message.get("prompt_eval_count") or 0, 0, message.get("eval_count") or 0),
        timings=timings,
    )


def _read_llama_cpp(message: dict[str, Any]) -> Read:
    probable = message.get("completion_probabilities") or ()
    text = str(message.get("content", ""))
    logprobs = tuple(entry["logprob"] for entry in probable if isinstance(entry.get("logprob"), (int, float)))
    if not message.get("stop"):
        return Read(text, logprobs)
    timings = message.get("timings") or {}
    evaluated, cached = timings.get("prompt_n") or 0, timings.get("cache_n") or 0
    return Read(
        text,
        logprobs,
        reason="length" if message.get("stop_type") == "limit" or message.get("stopped_limit") else "stop",
        usage=Usage(evaluated + cached, cached, message.get("tokens_predicted") or 0),
        timings={name: float(value) for name, value in timings.items() if isinstance(value, (int, float))},
    )


def _usage(usage: dict[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0
    return Usage(usage.get("prompt_tokens") or 0, cached, usage.get("completion_tokens") or 0)


_REASONS: dict[str, Literal["stop", "length", "filter"]] = {
    "stop": "stop",
    "eos": "stop",
    "length": "length",
    "model_length": "length",
    "content_filter": "filter",
}

_LOOPBACK = "http://127.0.0.1"

HOSTS: dict[FimStyle, FimHost] = {
    "completions": FimHost(
        f"{_LOOPBACK}:8000/v1", "", "completions", _completions, _read_choices, style=HOST_OF_ONE
    ),
    "mistral": FimHost(
        "https://api.mistral.ai/v1", "env:MISTRAL_API_KEY", "fim/completions", _mistral, _read_choices
    ),
    "deepseek": FimHost(
        "https://api.deepseek.com/beta", "env:DEEPSEEK_API_KEY", "completions", _completions, _read_choices
    ),
    "mercury": FimHost(
        "https://api.inceptionlabs.ai/v1", "env:INCEPTION_API_KEY", "fim/completions", _mercury, _read_choices
    ),
    "ollama": FimHost(
        f"{_LOOPBACK}:11434", "", "api/generate", _ollama, _read_ollama, lines=True, style=HOST_OF_ONE
    ),
    "llama-cpp": FimHost(f"{_LOOPBACK}:8080", "", "infill", _llama_cpp, _read_llama_cpp, extras=True),
}
