"""The official SDK against the emulator of our tests, which is the face of the local host."""

import json
from contextlib import aclosing

import pytest
from openai import AsyncOpenAI
from openai.lib.responses_websocket import AsyncResponsesWebSocketSession, ResponsesWebSocketLimits

from lsp_server.core.prompt import Chat
from lsp_server.engine.ports import Request
from lsp_server.local.session import PROVIDER_LIMITS, Rules
from lsp_server.model.responses_ws import ResponsesBackend
from lsp_server.settings import Model
from tests.support.model_server import TOKEN, ModelServer

LIMITS = ResponsesWebSocketLimits(
    max_lanes=8,
    max_events_per_lane=128,
    max_events=512,
    max_bytes_per_lane=1 << 20,
    max_bytes=1 << 20,
    max_response_bytes=None,
)


@pytest.fixture
def server() -> ModelServer:
    return ModelServer(Rules(PROVIDER_LIMITS))


def sdk(server: ModelServer) -> AsyncOpenAI:
    return AsyncOpenAI(api_key=TOKEN, base_url="http://unused.invalid/v1", websocket_base_url=server.face.url)


async def test_the_sdk_streams_warms_up_and_continues(server: ModelServer) -> None:
    async with server, sdk(server) as client, client.responses.connect() as connection:
        await connection.response.create(
            model="m", store=False, generate=False, instructions="Be brief.", input="context"
        )
        async for event in connection:
            if event.type == "response.completed":
                warm = event.response.id
                break
        server.always("hel", "lo")
        await connection.response.create(
            model="m", store=False, previous_response_id=warm, stream_id="A", input=" rest"
        )
        kinds, text, numbers = [], "", []
        async for event in connection:
            kinds.append(event.type)
            numbers.append(event.sequence_number)
            if event.type == "response.output_text.delta":
                text += event.delta
            if event.type == "response.completed":
                assert event.response.output_text == "hello"
                break
        assert text == "hello"
        assert numbers == list(range(len(kinds)))
        assert server.turns[-1].text == "context rest"
        assert server.turns[-1].create.instructions == "Be brief."


async def test_the_sdks_lane_session_gets_every_lane_its_own_answer(server: ModelServer) -> None:
    async with (
        server,
        sdk(server) as client,
        client.responses.connect() as connection,
        AsyncResponsesWebSocketSession(connection, limits=LIMITS) as session,
    ):
        lanes = {name: session.lane(name) for name in ("A", "B")}
        for name, lane in lanes.items():
            await lane.send({"type": "response.create", "model": "m", "input": name})
        for turn in (await server.turn(), await server.turn()):
            turn.say(turn.text.lower(), "!")
            turn.finish()
        finals = [await lane.get_final_response() for lane in lanes.values()]
        assert [final.output_text for final in finals] == ["a!", "b!"]


async def test_the_sdk_reads_our_error_frames(server: ModelServer) -> None:
    async with server, sdk(server) as client, client.responses.connect() as connection:
        await connection.response.create(model="m", store=False, previous_response_id="resp_0", input="x")
        event = await connection.recv()
        assert event.type == "error"
        assert "resp_0" in json.dumps(event.to_dict())


async def test_our_client_and_the_sdk_send_the_same_frame(server: ModelServer) -> None:
    request = Request("complete", Chat("Be brief.", "context", " rest"), max_tokens=7, logprobs=True)
    async with server, sdk(server) as client, client.responses.connect() as connection:
        model = Model(
            name="fast",
            protocol="responses-ws",
            url=server.face.url,
            key="env:KEY",
            model="m",
            effort="low",
            tier="fast",
            verbosity="low",
            temperature=0.5,
        )
        backend = ResponsesBackend(model, {"KEY": TOKEN})
        server.always("x")
        async with aclosing(backend.stream(request)) as events:
            assert [event async for event in events]
        await backend.close()
        await connection.response.create(
            model="m",
            store=False,
            stream_id=server.turns[0].create.lane or "",
            instructions="Be brief.",
            input=[{"role": "user", "content": "context"}, {"role": "user", "content": " rest"}],
            max_output_tokens=7,
            include=["message.output_text.logprobs"],
            reasoning={"effort": "low"},
            service_tier="fast",
            text={"verbosity": "low"},
            temperature=0.5,
        )
        while (await connection.recv()).type != "response.completed":
            pass
        ours, theirs = (turn.create.raw for turn in server.turns)
        assert ours == theirs
