"""From a provider's words to a sentence for the user."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.engine.errors import (
    BackendError,
    Interrupted,
    Overloaded,
    RateLimited,
    Rejected,
    Stalled,
    Unauthorized,
)
from lsp_server.model.failures import (
    EvictedParent,
    Expired,
    FieldRefused,
    LanesRefused,
    Where,
    from_close,
    from_code,
    from_event,
    from_failed,
    from_status,
    masked,
    words_of,
)
from lsp_server.wire import errors as frames
from lsp_server.wire.client import Ended, ErrorEvent, decode

KEY = "sk-canary-0123456789abcdef"
WHERE = Where("fast", "api.example", (KEY,))


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, Rejected),
        (401, Unauthorized),
        (403, Unauthorized),
        (404, Rejected),
        (408, Stalled),
        (413, Rejected),
        (422, Rejected),
        (429, RateLimited),
        (500, Overloaded),
        (503, Overloaded),
        (529, Overloaded),
    ],
)
def test_every_status_is_a_named_error_that_names_host_and_status(
    status: int, error: type[BackendError]
) -> None:
    failure = from_status(WHERE, status, "Some words.", {})
    assert type(failure) is error
    assert "api.example" in str(failure)
    assert str(status) in str(failure)
    assert "Some words." in str(failure)


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        (frames.previous_response_not_found("r", "m0"), EvictedParent),
        (frames.invalid_stream_id(), LanesRefused),
        (frames.stream_limit_reached("m9"), LanesRefused),
        (frames.connection_limit_reached(), Expired),
        (frames.ErrorFrame("rate_limit_exceeded", "Slow.", status=429), RateLimited),
        (frames.ErrorFrame("concurrent_request", "One at a time.", status=409), Rejected),
        (
            frames.ErrorFrame("unknown_parameter", "Unknown parameter: 'stream_id'.", "stream_id"),
            LanesRefused,
        ),
        (frames.ErrorFrame("session_expired", "Your session expired."), Expired),
        (frames.ErrorFrame("server_error", "Oops.", status=500), Overloaded),
    ],
)
def test_every_error_frame_is_a_named_error(frame: frames.ErrorFrame, error: type[BackendError]) -> None:
    event = decode(frame.encode())
    assert isinstance(event, ErrorEvent)
    assert type(from_event(WHERE, event)) is error


def test_a_failed_response_without_a_code_is_the_providers_own_failure() -> None:
    assert isinstance(from_failed(WHERE, Ended("failed", "r")), Overloaded)
    assert isinstance(from_failed(WHERE, Ended("failed", "r", code="rate_limit_exceeded")), RateLimited)


@pytest.mark.parametrize(
    ("words", "param", "field"),
    [
        ("Unsupported parameter: 'max_output_tokens' is not permitted.", None, "max_output_tokens"),
        ("Unknown parameter: 'service_tier'.", "service_tier", "service_tier"),
        ("logprobs are not supported with reasoning models", "include", "include"),
        ("Unsupported value: 'none' is not supported with this model.", "reasoning.effort", None),
        ("Unknown parameter: 'input'.", "input", None),
        ("The prompt is too long.", None, None),
    ],
)
def test_a_field_that_a_host_does_not_take_is_named(words: str, param: str | None, field: str | None) -> None:
    failure = from_code(WHERE, "invalid_request_error", 400, words, {}, param)
    assert (failure.field if isinstance(failure, FieldRefused) else None) == field


@pytest.mark.parametrize(
    ("code", "reason", "error"),
    [
        (None, "", Interrupted),
        (1000, "", Interrupted),
        (1001, "going away", Interrupted),
        (1008, "invalid token", Unauthorized),
        (1008, "not today", Rejected),
        (1009, "", Rejected),
        (1012, "restart", Overloaded),
    ],
)
def test_every_close_is_a_named_error(code: int | None, reason: str, error: type[BackendError]) -> None:
    assert type(from_close(WHERE, code, reason)) is error


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error": {"message": "m", "code": "c"}}', "m"),
        (b'{"error": "m"}', "m"),
        (b'{"message": "m"}', "m"),
        (b'{"detail": "m"}', "m"),
        (b'[{"error": {"message": "m"}}]', "m"),
        (b'{"detail": [{"loc": 1}]}', '{"detail": [{"loc": 1}]}'),
        (b"plain words", "plain words"),
        (b"\xff", "\ufffd"),
    ],
)
def test_the_words_in_an_error_body(body: bytes, words: str) -> None:
    assert words_of(body) == words


def test_a_web_page_is_not_quoted() -> None:
    assert str(from_status(WHERE, 502, "<!DOCTYPE html><html>huge</html>", {})).endswith(
        "(502); try again later."
    )


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
@pytest.mark.parametrize(
    "words", [f"Incorrect API key provided: {KEY}.", f"key {KEY[:12]}... is wrong", f"bad …{KEY[-9:]}"]
)
def test_B116_a_key_that_the_provider_quotes_is_masked(status: int, words: str) -> None:
    failure = from_status(WHERE, status, words, {})
    for text in (str(failure), failure.detail, repr(failure)):
        assert not any(KEY[at : at + 8] in text for at in range(len(KEY) - 7))
        assert "***" in text or text == repr(failure)


@given(st.text(alphabet="ab-", min_size=0, max_size=12), st.text(alphabet="ab-", max_size=60))
def test_masking_leaves_no_run_of_a_secret(secret: str, text: str) -> None:
    kept = masked(text, (secret,))
    if len(secret) >= 8:
        assert not any(secret[at : at + 8] in kept for at in range(len(secret) - 7))
    elif secret:
        assert secret not in kept
    else:
        assert kept == text
