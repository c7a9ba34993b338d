"""How long to wait, and how much is left, as a provider's headers say it. Names are in lower case.

Sources: the pages on rate limits of OpenAI and Groq (`x-ratelimit-remaining-requests`, `-reset-requests` as
`1m2.5s`), Cerebras (`x-ratelimit-reset-requests-day` in seconds), Anthropic (`anthropic-ratelimit-…-reset`
as an RFC 3339 date), Mistral (`x-ratelimit-remaining-req-minute`, no reset); IETF: `ratelimit-reset`.
"""

import re
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from lsp_server.engine.ports import Quota

LONGEST = 3600.0
"""Seconds: whatever a provider says, after an hour it is asked again."""

_LEFT = re.compile(r"rate-?limit.*remaining|anthropic-fast-.*remaining")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SPAN = r"(?:\d+(?:\.\d*)?(?:ms|m|s|h|d) ?)+"
_EPOCH, _EPOCH_MS = 1e9, 1e12


def retry_after(headers: Mapping[str, str], words: str = "", *, now: float | None = None) -> float | None:
    """Seconds to wait, at most an hour; None where the provider says nothing that can be read.

    Reads `retry-after-ms`, `retry-after` as seconds or as an HTTP date, `try again in 1m2.5s` in the
    words, and when a rate limit that is used up starts again. `now` is the time of day in seconds since
    the epoch.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return _bounded(milliseconds / 1000)
    seconds = seconds_until(headers.get("retry-after", ""), now)
    if seconds is not None:
        return seconds
    said = re.search(rf"try again in ({_SPAN})", words, re.IGNORECASE)
    if said is not None:
        return seconds_until(said[1].lower(), now)
    quota = quota_of(headers, now=now)
    return quota.reset if quota is not None and quota.remaining == 0 else None


def quota_of(headers: Mapping[str, str], *, now: float | None = None) -> Quota | None:
    """The limit of which the least is left; of several that are used up the one that lasts longest."""
    quotas = list(_quotas(headers, now))
    return min(quotas, key=lambda quota: (quota.remaining, -quota.reset), default=None)


def seconds_until(text: str, now: float | None = None) -> float | None:
    """Seconds, at most an hour, until a time in any of the forms that providers use; None for another one.

    A number is seconds, or from a billion on seconds or milliseconds since the epoch; else `1m2.5s`, an
    RFC 3339 date or an HTTP date.
    """
    now = time.time() if now is None else now
    number = _number(text)
    if number is not None:
        if number >= _EPOCH:
            number = (number / 1000 if number >= _EPOCH_MS else number) - now
        return _bounded(number)
    if re.fullmatch(_SPAN, text):
        parts = re.findall(r"([\d.]+)(ms|m|s|h|d)", text)
        return _bounded(sum(float(count) * _UNITS[unit] for count, unit in parts))
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return _bounded(parse(text).timestamp() - now)
        except (ValueError, TypeError, OverflowError):
            continue
    return None


def _quotas(headers: Mapping[str, str], now: float | None) -> Iterator[Quota]:
    for name, value in headers.items():
        left = _number(value) if _LEFT.search(name) else None
        if left is None:
            continue
        reset = seconds_until(headers.get(name.replace("remaining", "reset"), ""), now)
        if reset is None and name.endswith("-minute"):
            reset = 60.0
        if reset is not None:
            yield Quota(max(int(left), 0), reset)


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\s*-?\d+(\.\d*)?\s*", text) else None


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST)
