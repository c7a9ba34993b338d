"""Lanes, continuation, cancelling and limits, seen by a raw client and by the official SDK."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from openai import AsyncOpenAI
from websockets.exceptions import ConnectionClosed

from lsp_server.local.face import Face
from lsp_server.local.session import PROVIDER_LIMITS, Limits, Rules
from tests.local.words import TERMINAL, TOKEN, Script, answer, ask, client, face, said


async def test_the_official_sdk_talks_to_it_unchanged() -> None:
    script = Script()
    async with Face(script, token=TOKEN) as opened:
        sdk = AsyncOpenAI(api_key=TOKEN, websocket_base_url=opened.url)
        async with sdk, sdk.responses.connect() as connection:
            await connection.response.create(model="m", input="code", instructions="rules", generate=False)
            warm = [event async for event in _one(connection)][-1]
            assert warm.type == "response.completed" and warm.response.output == []
            await connection.response.create(
                model="m", input="a b", previous_response_id=warm.response.id, stream_id="lane.1", store=False
            )
            events = [event async for event in _one(connection)]
    assert [event.type for event in events] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [event.sequence_number for event in events] == list(range(10))
    assert {event.stream_id for event in events} == {"lane.1"}
    assert events[-1].response.output_text == "a b "
    assert events[-1].response.usage.input_tokens_details.cached_tokens == 1
    assert script.seen[1].instructions == "rules"
    assert [message.text for message in script.seen[1].messages] == ["code", "a b"]


async def _one(connection: Any) -> AsyncIterator[Any]:
    async for event in connection:
        yield event
        if event.type in TERMINAL:
            return


async def test_one_lane_answers_in_order_and_lanes_run_beside_each_other() -> None:
    script = Script()
    gate = script.gate("slow")
    async with face(script, Rules()) as (_, socket):
        await ask(socket, "slow", stream_id="a")
        await ask(socket, "after", stream_id="a")
        await ask(socket, "beside", stream_id="b")
        beside = await answer(socket)
        assert [event["stream_id"] for event in beside if "delta" in event] == ["b"]
        gate.set()
        assert said(await answer(socket)) == "slow "
        assert said(await answer(socket)) == "after "


async def test_a_default_lane_has_no_name_and_is_never_superseded() -> None:
    script = Script()
    gate = script.gate("first")
    async with face(script) as (_, socket):
        await ask(socket, "first")
        await ask(socket, "second")
        await script.began["first"].wait()
        gate.set()
        first, second = await answer(socket), await answer(socket)
    assert (said(first), said(second)) == ("first ", "second ")
    assert all("stream_id" not in event for event in first + second)


async def test_a_conversation_continues_from_the_latest_answer_of_any_lane() -> None:
    script = Script()
    async with face(script) as (_, socket):
        await ask(socket, "one", stream_id="a")
        first = (await answer(socket))[-1]["response"]["id"]
        await ask(socket, "two", stream_id="b", previous_response_id=first)
        assert said(await answer(socket)) == "two "
        await ask(socket, "three", stream_id="a", previous_response_id=first)
        await answer(socket)
        await ask(socket, "four", stream_id="a", previous_response_id=first)
        gone = (await answer(socket))[-1]
    assert [message.text for message in script.seen[2].messages] == ["one", "one ", "three"]
    assert gone == {
        "type": "error",
        "status": 400,
        "stream_id": "a",
        "error": {
            "type": "invalid_request_error",
            "code": "previous_response_not_found",
            "message": f"Previous response with id '{first}' not found.",
            "param": "previous_response_id",
        },
    }


@pytest.mark.parametrize(("lane", "kept"), [("a", False), ("b", True)])
async def test_a_failed_continuation_evicts_its_parent_and_a_failed_fork_keeps_it(
    lane: str, kept: bool
) -> None:
    async with face(Script()) as (_, socket):
        await ask(socket, "one", stream_id="a")
        parent = (await answer(socket))[-1]["response"]["id"]
        await ask(socket, "BREAK", stream_id=lane, previous_response_id=parent)
        assert (await answer(socket))[-1]["response"]["error"]["message"] == "broken pipe of thought"
        await ask(socket, "more", stream_id="c", previous_response_id=parent)
        assert ((await answer(socket))[-1]["type"] == "response.completed") is kept


async def test_another_connection_knows_nothing_of_an_answer() -> None:
    async with face(Script()) as (opened, socket), client(opened) as other:
        await ask(socket, "one")
        parent = (await answer(socket))[-1]["response"]["id"]
        await ask(other, "two", previous_response_id=parent)
        assert (await answer(other))[-1]["error"]["code"] == "previous_response_not_found"


@pytest.mark.parametrize(
    ("cancel", "freed"),
    [
        ({"stream_id": "a"}, ["slow", "waiting"]),
        ({"stream_id": "a", "response_id": "FIRST"}, ["slow"]),
        ({"stream_id": "b"}, []),
        ({}, []),
    ],
)
async def test_cancel_ends_what_runs_and_what_waits_on_the_lane(
    cancel: dict[str, str], freed: list[str]
) -> None:
    script = Script()
    gates = [script.gate("slow"), script.gate("waiting")]
    async with face(script, Rules(cancels=True)) as (opened, socket):
        await ask(socket, "before slow", stream_id="a")
        await ask(socket, "waiting", stream_id="a")
        created = json.loads(await socket.recv())["response"]["id"]
        await script.began["slow"].wait()
        wanted = {key: created if value == "FIRST" else value for key, value in cancel.items()}
        await socket.send(json.dumps({"type": "response.cancel", **wanted}))
        await ask(socket, "marker", stream_id="b")
        while json.loads(await socket.recv())["type"] != "response.output_text.done":
            pass
        for gate in gates:
            gate.set()
        ends = []
        while len(ends) < 3:
            event = json.loads(await socket.recv())
            if event["type"] in TERMINAL and event["stream_id"] == "a":
                ends.append((event["response"]["incomplete_details"] or {}).get("reason", "done"))
            elif event["type"] in TERMINAL:
                ends.append("marker")
    ends.remove("marker")
    expected = {"slow": "slow" in freed, "waiting": "waiting" in freed}
    assert ends == ["cancelled" if was else "done" for was in expected.values()]
    assert script.freed == (["slow"] if freed else [])
    assert opened.counters.cancelled == len(freed)


async def test_a_request_cancelled_before_it_began_still_gets_its_end() -> None:
    async with face(Script()) as (_, socket):
        socket.transport.set_write_buffer_limits(high=2**20)
        create = json.dumps({"type": "response.create", "model": "m", "input": "x", "stream_id": "a"})
        for _ in range(20):
            await asyncio.gather(
                socket.send(create), socket.send('{"type": "response.cancel", "stream_id": "a"}')
            )
        for _ in range(20):
            assert (await answer(socket))[-1]["type"] in ("response.incomplete", "response.completed")


async def test_a_named_lane_is_superseded_by_its_next_request() -> None:
    script = Script()
    script.gate("old")
    async with face(script) as (_, socket):
        await ask(socket, "said old", stream_id="a")
        await script.began["old"].wait()
        await ask(socket, "new", stream_id="a")
        overtaken, new = await answer(socket), await answer(socket)
    assert overtaken[-1]["response"]["incomplete_details"] == {"reason": "cancelled"}
    assert overtaken[-1]["response"]["output"][0]["content"][0]["text"] == "said "
    assert said(new) == "new "
    assert script.freed == ["old"]


async def test_closing_the_socket_frees_everything() -> None:
    script = Script()
    words = ("one", "two", "three")
    for word in words:
        script.gate(word)
    async with Face(script, token=TOKEN) as opened:
        async with client(opened) as socket:
            for word in words:
                await ask(socket, word, stream_id=word)
                await script.began[word].wait()
        while opened.clients:
            await asyncio.sleep(0)
        assert sorted(script.freed) == sorted(words)
        assert opened.counters.running == 0


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("{", "invalid_json"),
        ("[]", "invalid_json"),
        ('{"type": "response.steer"}', "invalid_value"),
        ('{"type": "response.create", "input": "x"}', "invalid_type"),
        ('{"type": "response.create", "model": "m", "stream_id": ""}', "invalid_stream_id"),
        ('{"type": "response.create", "model": "m", "stream_id": "a b"}', "invalid_stream_id"),
        ('{"type": "response.cancel", "stream_id": "a"}', "invalid_value"),
    ],
)
async def test_a_frame_that_cannot_be_served_is_answered_and_the_socket_lives(frame: str, code: str) -> None:
    async with face(Script(), Rules()) as (_, socket):
        await socket.send(frame)
        assert (await answer(socket))[-1]["error"]["code"] == code
        await ask(socket, "still here")
        assert said(await answer(socket)) == "still here "


async def test_only_so_many_lane_names_and_the_default_lane_does_not_count() -> None:
    async with face(Script(), Rules(limits=Limits(lane_names=2))) as (_, socket):
        for lane in ("a", "b", "a"):
            await ask(socket, "x", stream_id=lane)
            await answer(socket)
        await ask(socket, "x")
        await answer(socket)
        await ask(socket, "x", stream_id="agent_33")
        refused = (await answer(socket))[-1]
        await ask(socket, "y", stream_id="b")
        assert said(await answer(socket)) == "y "
    assert refused["stream_id"] == "agent_33"
    assert refused["error"]["code"] == "websocket_stream_limit_reached"
    assert "(2)" in refused["error"]["message"]


async def test_only_so_many_answers_run_at_once() -> None:
    script = Script()
    gates = [script.gate(word) for word in ("one", "two", "three")]
    async with face(script, Rules(limits=Limits(active=2))) as (opened, socket):
        for word in ("one", "two", "three"):
            await ask(socket, word, stream_id=word)
        await script.began["one"].wait()
        await script.began["two"].wait()
        assert opened.counters.running == 2
        assert opened.counters.received == 3
        for gate in gates:
            gate.set()
        assert {said(await answer(socket)) for _ in gates} != {""}
    assert opened.counters.completed == 3


async def test_a_connection_ends_with_its_error_when_its_time_is_over() -> None:
    assert PROVIDER_LIMITS.lifetime == 3600
    async with face(Script(), Rules(limits=Limits(lifetime=0.01))) as (_, socket):
        last = (await answer(socket))[-1]
        with pytest.raises(ConnectionClosed):
            await socket.recv()
    assert last["error"]["code"] == "websocket_connection_limit_reached"


async def test_log_probabilities_come_only_when_asked_for() -> None:
    async with face(Script()) as (_, socket):
        await ask(socket, "a", include=["message.output_text.logprobs"])
        asked = [event["logprobs"] for event in await answer(socket) if "delta" in event]
        await ask(socket, "a")
        unasked = [event["logprobs"] for event in await answer(socket) if "delta" in event]
    assert asked == [[{"token": "a", "logprob": -0.5, "top_logprobs": []}]]
    assert unasked == [[]]


async def test_the_answer_says_why_it_ended_and_what_it_took() -> None:
    async with face(Script()) as (_, socket):
        await ask(socket, "a b c", max_output_tokens=2)
        last = (await answer(socket))[-1]
    assert last["type"] == "response.incomplete"
    assert last["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    assert last["response"]["timings"] == {"prefill_ms": 1.5}
    assert last["response"]["usage"]["total_tokens"] == 6


async def test_a_generator_can_refuse_send_a_frame_of_its_own_and_hang_up() -> None:
    async with face(Script()) as (opened, socket):
        await ask(socket, "REFUSE", stream_id="a")
        refused = (await answer(socket))[-1]
        await ask(socket, "RAW")
        kinds = [event["type"] for event in await answer(socket)]
        await ask(socket, "HANGUP")
        with pytest.raises(ConnectionClosed) as closed:
            await answer(socket)
        async with client(opened) as other:
            await ask(other, "half DROP")
            with pytest.raises(ConnectionClosed) as dropped:
                await answer(other)
    assert (refused["error"]["code"], refused["stream_id"]) == ("model_not_found", "a")
    assert "codex.rate_limits" in kinds
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1012
    assert dropped.value.rcvd is None
