"""What a client writes on the Responses WebSocket, and what it reads.

Field names and event types are those of the openai SDK's `types/responses`
(`responses_client_event_param.py`, `responses_server_event.py`); the error frame is that of the
provider's WebSocket guide, and the flat form of the SDK's `ResponseErrorEvent` is read as well.
Unknown events and fields are tolerated.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from lsp_server.wire.errors import WireError


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer, all zero where the provider sent none."""

    input_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Created:
    """`response.created`: the request was accepted under this id."""

    response_id: str
    lane: str | None = None


@dataclass(frozen=True, slots=True)
class InProgress:
    """`response.in_progress`: from here on the parent of this answer may be advanced by others."""

    response_id: str
    lane: str | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """`response.output_text.delta`. `logprobs` are natural logarithms, one for each token of the delta.

    `timings` is the same extension as in `Ended`, on a delta: what the local host knows by then.
    """

    text: str
    logprobs: tuple[float, ...] = ()
    lane: str | None = None
    timings: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ended:
    """`response.completed`, `response.incomplete` or `response.failed`: the last event of an answer.

    `reason` is `incomplete_details.reason` (max_output_tokens, content_filter, and the host's own
    `cancelled`). `code` and `message` are those of a failed response. `timings` is an extension of
    the local host: numbers in its own names, empty elsewhere.
    """

    status: Literal["completed", "incomplete", "failed"]
    response_id: str
    reason: str | None = None
    code: str | None = None
    message: str = ""
    usage: Usage = Usage()
    timings: dict[str, float] = field(default_factory=dict)
    service_tier: str | None = None
    lane: str | None = None


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """`error`: the request failed, or, without a lane, perhaps the whole connection.

    `status` is an HTTP status, None where the server sent none. `headers` are those that some
    servers attach, with lower-case names (`retry-after` among them).
    """

    code: str | None
    message: str
    param: str | None = None
    status: int | None = None
    lane: str | None = None
    headers: dict[str, str] = field(default_factory=dict)


ServerEvent = Created | InProgress | TextDelta | Ended | ErrorEvent


def create_frame(
    model: str,
    *,
    input: str | list[dict[str, Any]] | None = None,
    instructions: str | None = None,
    prompt_id: str | None = None,
    prompt_variables: Mapping[str, str] | None = None,
    previous_response_id: str | None = None,
    lane: str | None = None,
    generate: bool = True,
    max_output_tokens: int | None = None,
    store: bool = False,
    reasoning_effort: str | None = None,
    service_tier: str | None = None,
    prompt_cache_key: str | None = None,
    include: tuple[str, ...] = (),
    top_logprobs: int | None = None,
    stop: tuple[str, ...] = (),
    extra: Mapping[str, Any] | None = None,
) -> str:
    """A `response.create` event.

    `generate=False` is a warm-up: no output, but an id to continue from. `include` takes
    `message.output_text.logprobs`. `stop` is an extension of the local host and is sent only where
    it is given. `extra` adds or overrides fields as they are (a provider's own); the value None
    leaves a field out.
    """
    frame: dict[str, Any] = {"type": "response.create", "model": model}
    optional: dict[str, Any] = {
        "stream_id": lane,
        "instructions": instructions,
        "input": input,
        "previous_response_id": previous_response_id,
        "max_output_tokens": max_output_tokens,
        "service_tier": service_tier,
        "prompt_cache_key": prompt_cache_key,
        "top_logprobs": top_logprobs,
        "store": store,
    }
    if not generate:
        optional["generate"] = False
    if prompt_id is not None:
        optional["prompt"] = {"id": prompt_id, "variables": dict(prompt_variables or {})}
    if reasoning_effort is not None:
        optional["reasoning"] = {"effort": reasoning_effort}
    if include:
        optional["include"] = list(include)
    if stop:
        optional["stop"] = list(stop)
    fields = optional | dict(extra or {})
    return json.dumps(frame | {name: value for name, value in fields.items() if value is not None})


def cancel_frame(*, lane: str | None = None, response_id: str | None = None) -> str:
    """Our extension `response.cancel`, for hosts that take it: ends what runs or waits on a lane.

    Without a lane the default lane is meant. `response_id` narrows it to one answer. The host
    ends the answer with `response.incomplete` and the reason `cancelled`; for an answer that has
    just ended nothing is sent back.
    """
    frame = {"type": "response.cancel", "stream_id": lane, "response_id": response_id}
    return json.dumps({name: value for name, value in frame.items() if value is not None})


def decode(frame: str | bytes) -> ServerEvent | None:
    """Read one frame; None for an event that carries nothing for us.

    Raises `WireError` for a frame that is no event at all. The contract has text frames only.
    """
    if isinstance(frame, bytes):
        raise WireError("a binary frame")
    try:
        message = json.loads(frame)
    except (ValueError, RecursionError) as error:
        raise WireError("not JSON") from error
    return event_of(message)


def event_of(message: object) -> ServerEvent | None:
    """The event in a decoded JSON value; the same events travel in the SSE stream of the HTTP endpoint."""
    if not isinstance(message, dict):
        raise WireError("not an object")
    kind = message.get("type")
    if not isinstance(kind, str):
        raise WireError("an object without a type")
    lane = message.get("stream_id")
    if lane is not None and not isinstance(lane, str):
        raise WireError(f"{kind}: stream_id is no text")
    reader = _READERS.get(kind)
    return None if reader is None else reader(message, lane)


def _text_delta(message: dict[str, Any], lane: str | None) -> TextDelta:
    text = message.get("delta")
    if not isinstance(text, str):
        raise WireError("response.output_text.delta: delta is no text")
    logprobs = message.get("logprobs")
    delta = TextDelta(text, _logprobs(logprobs) if logprobs else (), lane)
    return replace(delta, timings=_timings(message)) if "timings" in message else delta


def _created(message: dict[str, Any], lane: str | None) -> Created:
    return Created(_response_id(_response(message)), lane)


def _in_progress(message: dict[str, Any], lane: str | None) -> InProgress:
    return InProgress(_response_id(_response(message)), lane)


def _completed(message: dict[str, Any], lane: str | None) -> Ended:
    return _ended("completed", message, lane)


def _incomplete(message: dict[str, Any], lane: str | None) -> Ended:
    return _ended("incomplete", message, lane)


def _failed(message: dict[str, Any], lane: str | None) -> Ended:
    return _ended("failed", message, lane)


def _error(message: dict[str, Any], lane: str | None) -> ErrorEvent:
    nested = _object(message, "error")
    error = nested or message
    status = message.get("status", message.get("status_code"))
    headers = _object(message, "headers")
    return ErrorEvent(
        code=_text(error, "code") or _text(nested, "type"),
        message=_text(error, "message") or "",
        param=_text(error, "param"),
        status=status if isinstance(status, int) else None,
        lane=lane,
        headers={name.lower(): str(value) for name, value in headers.items()},
    )


_READERS: dict[str, Callable[[dict[str, Any], str | None], ServerEvent]] = {
    "response.output_text.delta": _text_delta,
    "response.created": _created,
    "response.in_progress": _in_progress,
    "response.completed": _completed,
    "response.incomplete": _incomplete,
    "response.failed": _failed,
    "error": _error,
}


def _ended(
    status: Literal["completed", "incomplete", "failed"], message: dict[str, Any], lane: str | None
) -> Ended:
    response = _response(message)
    error = _object(response, "error")
    usage = _object(response, "usage")
    return Ended(
        status=status,
        response_id=_response_id(response),
        reason=_text(_object(response, "incomplete_details"), "reason"),
        code=_text(error, "code"),
        message=_text(error, "message") or "",
        usage=Usage(
            input_tokens=_count(usage, "input_tokens"),
            cached_tokens=_count(_object(usage, "input_tokens_details"), "cached_tokens"),
            cache_write_tokens=_count(_object(usage, "input_tokens_details"), "cache_write_tokens"),
            output_tokens=_count(usage, "output_tokens"),
            reasoning_tokens=_count(_object(usage, "output_tokens_details"), "reasoning_tokens"),
        ),
        timings=_timings(response),
        service_tier=_text(response, "service_tier"),
        lane=lane,
    )


def _response(message: dict[str, Any]) -> dict[str, Any]:
    response = message.get("response")
    if not isinstance(response, dict):
        raise WireError(f"{message['type']}: no response")
    return response


def _response_id(response: dict[str, Any]) -> str:
    return _text(response, "id") or ""


def _logprobs(entries: object) -> tuple[float, ...]:
    if not isinstance(entries, list):
        return ()
    values = [entry.get("logprob") for entry in entries if isinstance(entry, dict)]
    return tuple(float(value) for value in values if isinstance(value, (int, float)))


def _timings(parent: dict[str, Any]) -> dict[str, float]:
    timings = _object(parent, "timings")
    return {name: float(value) for name, value in timings.items() if isinstance(value, (int, float))}


def _object(parent: dict[str, Any], name: str) -> dict[str, Any]:
    value = parent.get(name)
    return value if isinstance(value, dict) else {}


def _text(parent: dict[str, Any], name: str) -> str | None:
    value = parent.get(name)
    return value if isinstance(value, str) else None


def _count(parent: dict[str, Any], name: str) -> int:
    value = parent.get(name)
    return value if isinstance(value, int) else 0
