"""What a client writes and reads, against the shapes of the official SDK."""

import json

import pytest
from openai.types.responses.responses_client_event_param import ResponseCreate

from lsp_server.wire.client import (
    Created,
    Ended,
    ErrorEvent,
    InProgress,
    TextDelta,
    Usage,
    cancel_frame,
    create_frame,
    decode,
)
from lsp_server.wire.errors import WireError


def test_a_request_has_only_fields_of_the_contract() -> None:
    frame = json.loads(
        create_frame(
            "m",
            input="context",
            instructions="be brief",
            prompt_id="fim",
            prompt_variables={"prefix": "a", "suffix": "b"},
            previous_response_id="resp_1",
            lane="m0",
            generate=False,
            max_output_tokens=8,
            reasoning_effort="none",
            service_tier="fast",
            prompt_cache_key="k",
            include=("message.output_text.logprobs",),
            top_logprobs=1,
        )
    )
    assert frame.keys() <= ResponseCreate.__annotations__.keys()
    assert frame["store"] is False
    assert frame["prompt"] == {"id": "fim", "variables": {"prefix": "a", "suffix": "b"}}
    assert frame["reasoning"] == {"effort": "none"}


def test_what_is_not_asked_for_is_not_sent() -> None:
    assert json.loads(create_frame("m", input="x")) == {
        "type": "response.create",
        "model": "m",
        "input": "x",
        "store": False,
    }


def test_extra_fields_override_and_none_removes() -> None:
    frame = json.loads(
        create_frame(
            "m", max_output_tokens=8, extra={"max_output_tokens": None, "text": {"verbosity": "low"}}
        )
    )
    assert "max_output_tokens" not in frame
    assert frame["text"] == {"verbosity": "low"}


def test_cancel_names_lane_or_response() -> None:
    assert json.loads(cancel_frame()) == {"type": "response.cancel"}
    assert json.loads(cancel_frame(lane="m0", response_id="r")) == {
        "type": "response.cancel",
        "stream_id": "m0",
        "response_id": "r",
    }


@pytest.mark.parametrize(
    ("frame", "event"),
    [
        ({"type": "response.created", "response": {"id": "r"}, "stream_id": "m0"}, Created("r", "m0")),
        ({"type": "response.in_progress", "response": {"id": "r"}}, InProgress("r")),
        ({"type": "response.output_text.delta", "delta": "x"}, TextDelta("x")),
        (
            {
                "type": "response.output_text.delta",
                "delta": "x",
                "logprobs": [{"token": "x", "logprob": -0.5}],
            },
            TextDelta("x", (-0.5,)),
        ),
        (
            {
                "type": "response.incomplete",
                "response": {
                    "id": "r",
                    "incomplete_details": {"reason": "max_output_tokens"},
                    "usage": {
                        "input_tokens": 10,
                        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
                        "output_tokens": 5,
                        "output_tokens_details": {"reasoning_tokens": 1},
                        "total_tokens": 15,
                    },
                    "timings": {"prompt_ms": 3, "note": "a word"},
                },
            },
            Ended(
                "incomplete", "r", "max_output_tokens", None, "", Usage(10, 4, 2, 5, 1), {"prompt_ms": 3.0}
            ),
        ),
        ({"type": "response.completed", "response": {"id": "r", "usage": None}}, Ended("completed", "r")),
        (
            {"type": "response.failed", "response": {"id": "r", "error": {"code": "c", "message": "m"}}},
            Ended("failed", "r", None, "c", "m"),
        ),
        (
            {
                "type": "error",
                "status": 429,
                "headers": {"Retry-After": 2},
                "error": {"type": "t", "code": None, "message": "m"},
            },
            ErrorEvent("t", "m", None, 429, None, {"retry-after": "2"}),
        ),
        ({"type": "error", "code": None, "message": "m", "sequence_number": 3}, ErrorEvent(None, "m")),
        ({"type": "codex.rate_limits", "x": 1}, None),
    ],
)
def test_events(frame: dict[str, object], event: object) -> None:
    assert decode(json.dumps(frame)) == event
    assert decode(json.dumps(frame | {"unknown_field": [1]})) == event


@pytest.mark.parametrize(
    "frame",
    [
        '{"type":',
        "null",
        "[]",
        "{}",
        '{"type": 1}',
        b'{"type": "error"}',
        "[" * 100_000,
        '{"type": "response.output_text.delta"}',
        '{"type": "response.output_text.delta", "delta": null}',
        '{"type": "response.completed"}',
        '{"type": "response.created", "response": []}',
        '{"type": "response.created", "response": {"id": "r"}, "stream_id": 3}',
    ],
)
def test_a_malformed_frame_is_named_as_such(frame: str | bytes) -> None:
    with pytest.raises(WireError):
        decode(frame)
