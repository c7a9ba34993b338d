"""From what a provider sends, or does not, to one of the engine's errors with a sentence for the user.

A provider's own words are shortened, stripped of markup, and every secret in them is masked.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from lsp_server.engine.errors import (
    BackendError,
    Interrupted,
    Overloaded,
    RateLimited,
    Rejected,
    Stalled,
    Unauthorized,
)
from lsp_server.model.waits import retry_after
from lsp_server.texts import models as texts
from lsp_server.wire import errors as frames
from lsp_server.wire.client import Ended, ErrorEvent


class EvictedParent(Rejected):
    """The response to continue from is gone; the same request in full will work."""

    code = "evicted_parent"


class LanesRefused(Rejected):
    """The host does not take `stream_id`, or takes no further name."""

    code = "lanes_refused"


class FieldRefused(Rejected):
    """The host does not know, or does not take, one field of the request that it can do without."""

    code = "field_refused"

    def __init__(self, sentence: str, field: str, *, detail: str = "") -> None:
        super().__init__(sentence, detail=detail)
        self.field = field


class Expired(Interrupted):
    """The provider ended the session; a fresh connection will work."""

    code = "expired"


@dataclass(frozen=True, slots=True)
class Where:
    """Whom a sentence is about: the model's name in the settings, the host, and what to mask."""

    model: str
    host: str
    secrets: tuple[str, ...] = ()

    def quote(self, text: str) -> str:
        """A provider's words, fit for a message: one line, short, no markup, no secrets."""
        if re.match(r"\s*<(!doctype|html)", text, re.IGNORECASE):
            return ""
        words = masked(" ".join(text.split()), self.secrets)
        return words if len(words) <= 200 else words[:199] + "…"


def masked(text: str, secrets: tuple[str, ...]) -> str:
    """The text with every run of a secret's characters, 8 or more in a row, replaced by `***`.

    A secret shorter than 8 characters is replaced where it occurs whole.
    """
    for secret in secrets:
        if len(secret) < 8:
            text = text.replace(secret, "***") if secret else text
            continue
        pieces = {secret[start : start + 8] for start in range(len(secret) - 7)}
        hidden = bytearray(len(text))
        for start in range(len(text) - 7):
            if text[start : start + 8] in pieces:
                hidden[start : start + 8] = b"\1" * 8
        kept = "".join("\0" if hide else letter for letter, hide in zip(text, hidden, strict=True))
        text = re.sub("\0+", "***", kept)
    return text


_DISPENSABLE = (
    "include",
    "logprobs",
    "top_logprobs",
    "max_output_tokens",
    "output_config",
    "prompt_cache_key",
    "reasoning",
    "reasoning_effort",
    "service_tier",
    "speed",
    "store",
    "stream_options",
    "temperature",
    "text",
    "verbosity",
)
_NOT_TAKEN = re.compile(
    r"(unsupported|unknown|unrecognized|unexpected|extra) (parameter|argument|field|input|key|property)"
    r"|not (permitted|supported|allowed)",
    re.IGNORECASE,
)


def _refused_field(words: str, param: str | None) -> str | None:
    """The field that these words of a 400 refuse as such; a field refused for its value is not meant."""
    if not _NOT_TAKEN.search(words) or re.search(r"unsupported value", words, re.IGNORECASE):
        return None
    named = re.findall(r"[a-z_]+", param or words)
    return next((field for field in _DISPENSABLE if field in named), None)


def from_status(
    where: Where, status: int, words: str, headers: Mapping[str, str], param: str | None = None
) -> BackendError:
    """The error of an HTTP status with the provider's words; `headers` have lower-case names.

    `param` is the field of the request that the provider names.
    """
    said = where.quote(words)
    detail = f"HTTP {status}: {said}"
    tail = f": {said}" if said else "."
    if status in (401, 403) and not any(where.secrets):
        return Unauthorized(
            texts.KEY_WANTED.format(host=where.host, status=status, model=where.model, tail=tail),
            detail=detail,
        )
    if status in (401, 403):
        return Unauthorized(
            texts.KEY_REFUSED.format(host=where.host, model=where.model, status=status, tail=tail),
            detail=detail,
        )
    if status == 408:
        return Stalled(texts.GAVE_UP.format(host=where.host, tail=tail), detail=detail)
    if status == 429:
        wait = retry_after(headers, words)
        return RateLimited(
            texts.SLOW_DOWN.format(host=where.host, model=where.model, tail=tail),
            retry_after=wait,
            detail=detail,
        )
    if status >= 500:
        return Overloaded(texts.CANNOT_SERVE.format(host=where.host, status=status, tail=tail), detail=detail)
    if status == 404:
        return Rejected(
            texts.NO_ADDRESS_OR_MODEL.format(host=where.host, model=where.model, tail=tail),
            detail=detail,
        )
    if status == 413:
        return Rejected(texts.TOO_LARGE.format(host=where.host, tail=tail), detail=detail)
    sentence = texts.NOT_ACCEPTED.format(host=where.host, status=status, tail=tail)
    field = _refused_field(words, param) if status in (400, 422) else None
    return FieldRefused(sentence, field, detail=detail) if field else Rejected(sentence, detail=detail)


_STATUS_OF_CODE = {
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "too_many_requests": 429,
    "insufficient_quota": 429,
    "slow_down": 429,
    "invalid_api_key": 401,
    "authentication_error": 401,
    "permission_error": 403,
    "model_not_found": 404,
    "not_found_error": 404,
    "request_too_large": 413,
    "server_error": 500,
    "internal_error": 500,
    "api_error": 500,
    "overloaded_error": 529,
    "server_is_overloaded": 503,
    "timeout_error": 504,
}


def from_code(
    where: Where,
    code: str | None,
    status: int | None,
    words: str,
    headers: Mapping[str, str],
    param: str | None = None,
) -> BackendError:
    """The error that a provider names by its code; an unknown code counts as its status, else as 400."""
    if code is not None and "expired" in code:
        return Expired(texts.SESSION_ENDED.format(host=where.host, said=where.quote(words)))
    known = _STATUS_OF_CODE.get(code or "")
    return from_status(where, known or status or 400, words, headers, param)


def from_event(where: Where, event: ErrorEvent) -> BackendError:
    """The error of an `error` frame."""
    match event.code:
        case frames.PREVIOUS_RESPONSE_NOT_FOUND:
            return EvictedParent(texts.PARENT_GONE.format(host=where.host))
        case frames.STREAM_LIMIT_REACHED:
            return LanesRefused(texts.NO_FURTHER_LANE.format(host=where.host))
        case frames.CONNECTION_LIMIT_REACHED:
            return Expired(texts.LONGEST_TIME.format(host=where.host))
    if event.code == frames.INVALID_STREAM_ID or event.param == "stream_id":
        return LanesRefused(texts.NO_LANES.format(host=where.host, said=where.quote(event.message)))
    return from_code(where, event.code, event.status, event.message, event.headers, event.param)


def from_failed(where: Where, ended: Ended) -> BackendError:
    """The error of a `response.failed`; without a code it is the provider's own failure."""
    return from_code(where, ended.code, None if ended.code else 500, ended.message, {})


def from_close(where: Where, code: int | None, reason: str) -> BackendError:
    """The error of a WebSocket that closed in the middle of an answer, normal closure (1000) included."""
    said = where.quote(reason)
    tail = f": {said}" if said else "."
    match code:
        case 1008 if re.search(r"auth|key|token|credential", reason, re.IGNORECASE):
            return Unauthorized(texts.KEY_REFUSED_CLOSE.format(host=where.host, model=where.model, tail=tail))
        case 1008:
            return Rejected(texts.POLICY.format(host=where.host, tail=tail))
        case 1009:
            return Rejected(texts.TOO_LARGE_CLOSE.format(host=where.host, tail=tail))
        case 1011 | 1012 | 1013:
            return Overloaded(texts.CANNOT_SERVE.format(host=where.host, status=code, tail=tail))
        case None | 1005 | 1006:
            return Interrupted(texts.BROKE_IN_ANSWER.format(host=where.host))
    return Interrupted(texts.CLOSED_IN_ANSWER.format(host=where.host, code=code, tail=tail))


def words_of(body: bytes) -> str:
    """The message in an error body: `error.message`, `message`, `detail` or `error`, else the text itself."""
    text = body[:65536].decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, list) and value:
        value = value[0]
    while isinstance(value, dict):
        value = next((value[name] for name in ("error", "message", "detail") if value.get(name)), "")
    return value if isinstance(value, str) else text
