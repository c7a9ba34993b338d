"""How long to wait and how much is left, as each provider's headers say it."""

from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.engine.ports import Delta, Quota
from lsp_server.model.waits import quota_of, retry_after, seconds_until
from tests.model.providers import PROVIDERS, Provider
from tests.model.test_http_backend import STREAM, Recorder, served

NOW = 1_755_780_000.0
"""2025-08-21T12:40:00Z."""


@pytest.mark.parametrize(
    ("headers", "words", "seconds"),
    [
        ({"retry-after": "0"}, "", 0.0),
        ({"retry-after": "2"}, "", 2.0),
        ({"retry-after": "1.5"}, "", 1.5),
        ({"retry-after": "-3"}, "", 0.0),
        ({"retry-after": "999999"}, "", 3600.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, "", 70.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, "", 0.0),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": ""}, "", None),
        ({"retry-after-ms": "250", "retry-after": "9"}, "", 0.25),
        ({}, "Rate limit reached. Please try again in 11.054s. Visit", 11.054),
        ({}, "try again in 20ms.", 0.02),
        ({}, "Try again in 1m2s", 62.0),
        ({}, "Try again later", None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "8.5s"}, "", 8.5),
        ({"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "8.5s"}, "", None),
    ],
)
def test_B95_every_form_of_retry_after(headers: dict[str, str], words: str, seconds: float | None) -> None:
    assert retry_after(headers, words, now=30.0) == (seconds if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 30.0),
        ("0.25", 0.25),
        ("120ms", 0.12),
        ("6m0s", 360.0),
        ("1m2.5s", 62.5),
        ("1h30m", 3600.0),
        ("33011.382867", 3600.0),
        ("2025-08-21T12:40:59Z", 59.0),
        ("2025-08-21T14:40:59+02:00", 59.0),
        ("Thu, 21 Aug 2025 12:41:00 GMT", 60.0),
        (f"{NOW + 5:.0f}", 5.0),
        (f"{(NOW + 5) * 1000:.0f}", 5.0),
        (f"{NOW - 5:.0f}", 0.0),
        ("", None),
        ("soon", None),
        ("5 parsecs", None),
    ],
)
def test_every_form_of_a_time(text: str, seconds: float | None) -> None:
    assert seconds_until(text, NOW) == (seconds if seconds is None else pytest.approx(seconds))


@given(st.text(alphabet="0123456789.-:+TZmshd GMT,JanThu", max_size=40))
def test_no_time_is_an_error_or_too_long(text: str) -> None:
    seconds = seconds_until(text, NOW)
    assert seconds is None or 0 <= seconds <= 3600


OPENAI = {
    "x-ratelimit-limit-requests": "5000",
    "x-ratelimit-remaining-requests": "4999",
    "x-ratelimit-remaining-tokens": "159976",
    "x-ratelimit-reset-requests": "12ms",
    "x-ratelimit-reset-tokens": "9ms",
}
CEREBRAS = {
    "x-ratelimit-remaining-requests-day": "100",
    "x-ratelimit-remaining-tokens-minute": "0",
    "x-ratelimit-reset-requests-day": "33011.38",
    "x-ratelimit-reset-tokens-minute": "11.5",
}
ANTHROPIC = {
    "anthropic-ratelimit-requests-remaining": "0",
    "anthropic-ratelimit-requests-reset": "2025-08-21T12:40:30Z",
    "anthropic-ratelimit-output-tokens-remaining": "0",
    "anthropic-ratelimit-output-tokens-reset": "2025-08-21T12:41:00Z",
}


@pytest.mark.parametrize(
    ("headers", "quota"),
    [
        (OPENAI, Quota(4999, 0.012)),
        (CEREBRAS, Quota(0, 11.5)),
        (ANTHROPIC, Quota(0, 60.0)),
        ({"anthropic-fast-tokens-remaining": "0", "anthropic-fast-tokens-reset": "7"}, Quota(0, 7.0)),
        ({"x-ratelimit-remaining-req-minute": "0"}, Quota(0, 60.0)),
        ({"ratelimit-remaining": "2", "ratelimit-reset": "53"}, Quota(2, 53.0)),
        ({"x-ratelimit-remaining": "-1", "x-ratelimit-reset": "5"}, Quota(0, 5.0)),
        ({"x-ratelimit-remaining": "many", "x-ratelimit-reset": "5"}, None),
        ({"x-ratelimit-remaining-requests": "0"}, None),
        ({"content-type": "text/event-stream"}, None),
    ],
)  # fmt: skip
def test_the_headers_of_each_provider(headers: dict[str, str], quota: Quota | None) -> None:
    found = quota_of(headers, now=NOW)
    assert (found and found.remaining) == (quota and quota.remaining)
    assert (found and found.reset) == (quota and pytest.approx(quota.reset))


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
async def test_the_first_piece_of_an_answer_tells_what_is_left(provider: Provider) -> None:
    left = {"X-RateLimit-Remaining-Requests": "0", "X-RateLimit-Reset-Requests": "40s"}
    async with Recorder() as server, served(server, provider) as one:
        quotas = []
        for headers in (left, {}):
            server.reply(200, provider.body, {**STREAM, **headers})
            async with aclosing(one.stream(provider.request)) as events:
                quotas.append([event.quota async for event in events if isinstance(event, Delta)])
    assert [each[0] for each in quotas] == [Quota(0, 40.0), None]
    assert not any(quota for each in quotas for quota in each[1:])
