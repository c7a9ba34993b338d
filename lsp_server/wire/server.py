"""What a server reads on the Responses WebSocket: requests that are well formed, or the error to send back.

Field names are those of the openai SDK's `types/responses/responses_client_event_param.py`.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from lsp_server.wire.errors import ErrorFrame, invalid_stream_id
from lsp_server.wire.lanes import is_lane

LOGPROBS = "message.output_text.logprobs"
"""The `include` value with which a client asks for log probabilities in the deltas."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of the input, its text parts joined."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Create:
    """A `response.create` that is well formed. `raw` holds every field as it came.

    `messages` is `input` as a list of turns (a plain string is one user turn). `prompt_id` and
    `prompt_variables` are the standard `prompt` field. `stop` is our extension.
    """

    model: str
    lane: str | None = None
    instructions: str = ""
    messages: tuple[Message, ...] = ()
    prompt_id: str | None = None
    prompt_variables: dict[str, str] = field(default_factory=dict)
    previous_response_id: str | None = None
    generate: bool = True
    store: bool = True
    max_output_tokens: int | None = None
    temperature: float | None = None
    logprobs: bool = False
    top_logprobs: int = 0
    prompt_cache_key: str | None = None
    stop: tuple[str, ...] = ()
    raw: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cancel:
    """Our extension: end what runs or waits on the lane, or just `response_id` where it is given."""

    lane: str | None = None
    response_id: str | None = None


def parse_request(frame: str | bytes) -> Create | Cancel | ErrorFrame:
    """Read a client event; what cannot be served comes back as the error frame to send."""
    try:
        message = json.loads(frame)
    except (ValueError, RecursionError):
        return ErrorFrame("invalid_json", "The message is not valid JSON.")
    if not isinstance(message, dict):
        return ErrorFrame("invalid_json", "The message is not a JSON object.")
    lane = message.get("stream_id")
    if "stream_id" in message and not is_lane(lane):
        return invalid_stream_id()
    kind = message.get("type")
    if kind == "response.cancel":
        response_id = message.get("response_id")
        return Cancel(lane, response_id if isinstance(response_id, str) else None)
    if kind != "response.create":
        return ErrorFrame("invalid_value", f"Unsupported event type {kind!r}.", "type", lane)
    return _create(message, lane)


def _create(message: dict[str, Any], lane: str | None) -> Create | ErrorFrame:
    model = message.get("model")
    if not isinstance(model, str):
        return _wrong("model", "a string", lane)
    for name, kind, words in _TYPES:
        value = message.get(name)
        if value is not None and not isinstance(value, kind):
            return _wrong(name, words, lane)
    messages = _messages(message.get("input"))
    if messages is None:
        return _wrong("input", "a string or a list of messages", lane)
    variables = (message.get("prompt") or {}).get("variables") or {}
    if not isinstance(variables, dict):
        return _wrong("prompt.variables", "an object", lane)
    include = message.get("include") or []
    stop = message.get("stop") or []
    return Create(
        model=model,
        lane=lane,
        instructions=message.get("instructions") or "",
        messages=messages,
        prompt_id=(message.get("prompt") or {}).get("id"),
        prompt_variables={str(name): _text_of(value) for name, value in variables.items()},
        previous_response_id=message.get("previous_response_id"),
        generate=message.get("generate") is not False,
        store=message.get("store") is not False,
        max_output_tokens=message.get("max_output_tokens"),
        temperature=message.get("temperature"),
        logprobs=LOGPROBS in include or bool(message.get("top_logprobs")),
        top_logprobs=message.get("top_logprobs") or 0,
        prompt_cache_key=message.get("prompt_cache_key"),
        stop=tuple(str(text) for text in ([stop] if isinstance(stop, str) else stop)),
        raw=message,
    )


_TYPES: tuple[tuple[str, type | tuple[type, ...], str], ...] = (
    ("instructions", str, "a string"),
    ("prompt", dict, "an object"),
    ("previous_response_id", str, "a string"),
    ("generate", bool, "a boolean"),
    ("store", bool, "a boolean"),
    ("max_output_tokens", int, "an integer"),
    ("temperature", (int, float), "a number"),
    ("top_logprobs", int, "an integer"),
    ("prompt_cache_key", str, "a string"),
    ("include", list, "an array"),
    ("stop", (str, list), "a string or an array"),
)


def _wrong(name: str, words: str, lane: str | None) -> ErrorFrame:
    return ErrorFrame("invalid_type", f"Invalid type for '{name}': expected {words}.", name, lane)


def _messages(value: object) -> tuple[Message, ...] | None:
    if value is None:
        return ()
    if isinstance(value, str):
        return (Message("user", value),)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return None
    turns = [item for item in value if item.get("type", "message") == "message"]
    return tuple(Message(str(turn.get("role", "user")), _text_of(turn.get("content"))) for turn in turns)


def _text_of(content: object) -> str:
    """The text of a string, of one text part, or of a list of parts; other parts have none."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return _text_of(content.get("text"))
    if isinstance(content, list):
        return "".join(_text_of(part) for part in content)
    return ""
