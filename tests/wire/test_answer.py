"""The events of one answer: their order, their numbers, and that the official SDK's types accept them."""

import json
from typing import Any

import pytest
from openai.types.responses import ResponsesServerEvent
from pydantic import TypeAdapter

from lsp_server.wire.answer import Answer, TokenLogprob
from lsp_server.wire.client import Created, Ended, InProgress, TextDelta, Usage, decode
from lsp_server.wire.server import Create

ORDER = [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
]
USAGE = Usage(input_tokens=7, cached_tokens=3, output_tokens=2)


def answer(lane: str | None = None) -> Answer:
    return Answer(Create("m", lane=lane, store=False), "resp_1", created_at=1.5)


def played(lane: str | None, end: str) -> list[str]:
    one = answer(lane)
    frames = [
        *one.started(),
        *one.delta("a", [TokenLogprob("a", -0.25)]),
        *one.delta("🦊", timings={"cached": 2}),
    ]
    match end:
        case "completed":
            return [*frames, *one.completed(USAGE, timings={"prompt_ms": 4.0})]
        case "incomplete":
            return [*frames, *one.incomplete("max_output_tokens", USAGE)]
    return [*frames, *one.failed("server_error", "it broke")]


@pytest.mark.parametrize("lane", [None, "m3"])
@pytest.mark.parametrize("end", ["completed", "incomplete", "failed"])
def test_order_numbers_and_lane(lane: str | None, end: str) -> None:
    events: list[dict[str, Any]] = [json.loads(frame) for frame in played(lane, end)]
    assert [event["type"] for event in events] == [*ORDER, f"response.{end}"]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert {event.get("stream_id") for event in events} == {lane}
    for event in events:
        TypeAdapter(ResponsesServerEvent).validate_python(event)


def test_our_client_reads_what_our_server_writes() -> None:
    assert [decode(frame) for frame in played("m3", "completed") if decode(frame)] == [
        Created("resp_1", "m3"),
        InProgress("resp_1", "m3"),
        TextDelta("a", (-0.25,), "m3"),
        TextDelta("🦊", (), "m3", {"cached": 2.0}),
        Ended(
            "completed",
            "resp_1",
            usage=USAGE,
            timings={"prompt_ms": 4.0},
            service_tier="default",
            lane="m3",
        ),
    ]


def test_a_warm_up_has_no_output() -> None:
    one = answer()
    events = [json.loads(frame) for frame in [*one.started(), *one.completed(USAGE)]]
    assert [event["type"] for event in events] == [*ORDER[:2], "response.completed"]
    assert events[-1]["response"]["output"] == []


def test_a_failed_answer_carries_its_reason() -> None:
    event = decode(played(None, "failed")[-1])
    assert isinstance(event, Ended)
    assert (event.code, event.message) == ("server_error", "it broke")
