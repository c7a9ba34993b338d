"""What a server reads: our own requests, the SDK's forms of input, and every error frame word for word."""

import json

import pytest

from lsp_server.wire.client import create_frame
from lsp_server.wire.errors import (
    ErrorFrame,
    connection_limit_reached,
    previous_response_not_found,
    stream_limit_reached,
)
from lsp_server.wire.server import Cancel, Create, Message, parse_request


def parse(**fields: object) -> Create | Cancel | ErrorFrame:
    return parse_request(json.dumps({"type": "response.create", "model": "m"} | fields))


def test_our_own_request_comes_back() -> None:
    frame = create_frame(
        "m",
        prompt_id="fim",
        prompt_variables={"prefix": "a", "suffix": "b"},
        lane="m0",
        generate=False,
        max_output_tokens=8,
        include=("message.output_text.logprobs",),
        stop=("\n",),
        prompt_cache_key="k",
        previous_response_id="r",
    )
    assert parse_request(frame) == Create(
        model="m",
        lane="m0",
        prompt_id="fim",
        prompt_variables={"prefix": "a", "suffix": "b"},
        previous_response_id="r",
        generate=False,
        store=False,
        max_output_tokens=8,
        logprobs=True,
        prompt_cache_key="k",
        stop=("\n",),
        raw=json.loads(frame),
    )


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("hello", (Message("user", "hello"),)),
        ([{"role": "developer", "content": "a"}], (Message("developer", "a"),)),
        (
            [
                {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}],
                },
                {"type": "reasoning", "summary": []},
            ],
            (Message("user", "ab"),),
        ),
    ],
)
def test_every_form_of_input_is_read(value: object, messages: tuple[Message, ...]) -> None:
    request = parse(input=value)
    assert isinstance(request, Create)
    assert request.messages == messages


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"model": None}, "model"),
        ({"input": 3}, "input"),
        ({"prompt": "x"}, "prompt"),
        ({"max_output_tokens": "many"}, "max_output_tokens"),
        ({"generate": "no"}, "generate"),
        ({"prompt": {"id": "fim", "variables": []}}, None),
        ({"prompt": {"id": "fim", "variables": [1]}}, "prompt.variables"),
    ],
)
def test_a_wrong_type_is_named(fields: dict[str, object], param: str | None) -> None:
    request = parse(**fields)
    assert (request.param if isinstance(request, ErrorFrame) else None) == param


@pytest.mark.parametrize("frame", ["{", "[]", b"\xff\xfe\xfd"])
def test_what_is_no_json_object_is_answered(frame: str | bytes) -> None:
    request = parse_request(frame)
    assert isinstance(request, ErrorFrame)
    assert request.code == "invalid_json"


def test_an_unknown_event_is_answered_on_its_lane() -> None:
    request = parse_request('{"type": "response.steer", "stream_id": "m1"}')
    assert isinstance(request, ErrorFrame)
    assert (request.param, request.lane) == ("type", "m1")


def test_cancel_is_read() -> None:
    assert parse_request('{"type": "response.cancel", "stream_id": "m1"}') == Cancel("m1")


def test_error_frames_word_for_word() -> None:
    invalid = parse(stream_id="")
    assert isinstance(invalid, ErrorFrame)
    frames = [
        previous_response_not_found("resp_abc", "main"),
        invalid,
        stream_limit_reached("agent_33"),
        connection_limit_reached(),
    ]
    assert [json.loads(frame.encode()) for frame in frames] == [
        {
            "type": "error",
            "status": 400,
            "stream_id": "main",
            "error": {
                "type": "invalid_request_error",
                "code": "previous_response_not_found",
                "message": "Previous response with id 'resp_abc' not found.",
                "param": "previous_response_id",
            },
        },
        {
            "type": "error",
            "status": 400,
            "error": {
                "type": "invalid_request_error",
                "code": "invalid_stream_id",
                "message": "The 'stream_id' field must be a non-empty string with at most 256 characters and "
                "may only contain letters, numbers, underscores, hyphens, and periods.",
                "param": "stream_id",
            },
        },
        {
            "type": "error",
            "status": 400,
            "stream_id": "agent_33",
            "error": {
                "type": "invalid_request_error",
                "code": "websocket_stream_limit_reached",
                "message": "This WebSocket connection has reached its maximum number of distinct stream IDs "
                "(32). Reuse an existing stream_id or open a new WebSocket connection.",
                "param": "stream_id",
            },
        },
        {
            "type": "error",
            "status": 400,
            "error": {
                "type": "invalid_request_error",
                "code": "websocket_connection_limit_reached",
                "message": "Responses websocket connection limit reached (60 minutes). Create a new "
                "websocket connection to continue.",
            },
        },
    ]
