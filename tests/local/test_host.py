"""The host with real weights, as clients of the contract meet it."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from lsp_server.local import launcher, state
from lsp_server.wire.client import create_frame
from tests.local.real import SMALL, SOURCE, cache_with, real_weights
from tests.local.words import answer, said

pytestmark = [pytest.mark.model, pytest.mark.skipif(sys.platform == "win32", reason="uses signals")]

Socket = ClientConnection


@pytest.fixture
async def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[launcher.Endpoint]:
    """A host of this test's own, with the small weights in its memory."""
    cache_with(SMALL, monkeypatch, tmp_path / "cache")
    yield await launcher.ensure_host(SMALL)
    launcher.stop_host()


@asynccontextmanager
async def client(host: launcher.Endpoint) -> AsyncIterator[Socket]:
    async with connect(host.url, additional_headers=host.headers, proxy=None, compression=None) as socket:
        yield socket


def status() -> dict[str, Any]:
    found = launcher.host_status()
    assert found is not None
    return found


def counters() -> dict[str, int]:
    """What the model itself counts."""
    found: dict[str, int] = status()["models"][0]
    return found


async def complete(socket: Socket, prefix: str, **fields: Any) -> None:
    options = {"max_output_tokens": 8, "stop": ("\n",)} | fields
    frame = create_frame(SMALL, prompt_id="plain", prompt_variables={"prefix": prefix}, **options)
    await socket.send(frame)


async def complete_at_length(socket: Socket, lane: str) -> None:
    """Ask for more than anybody would wait for, and wait for the first word."""
    await complete(socket, "1, 2, 3,", lane=lane, max_output_tokens=1500, stop=())
    while json.loads(await socket.recv())["type"] != "response.output_text.delta":
        pass
    assert counters()["running"] == 1


async def freed() -> None:
    """Wait until nothing runs in the model."""
    while counters()["running"]:
        await asyncio.sleep(0)


async def test_the_official_sdk_talks_to_the_real_model_unchanged(host: launcher.Endpoint) -> None:
    token = Path(status()["token_file"]).read_text()
    sdk = AsyncOpenAI(api_key=token, websocket_base_url=status()["url"])
    async with sdk, sdk.responses.connect() as connection:
        await connection.response.create(model=SMALL, instructions="You are terse.", generate=False)
        warm = [event async for event in _one(connection)][-1]
        await connection.response.create(
            model=SMALL, input="Say hello.", previous_response_id=warm.response.id, max_output_tokens=6
        )
        events = [event async for event in _one(connection)]
    last = events[-1].response
    assert last.output_text == "".join(event.delta for event in events if event.type.endswith("text.delta"))
    assert last.output_text and last.usage.output_tokens <= 6
    # The warm-up read the instructions, and the answer took them from its cache.
    assert last.usage.input_tokens_details.cached_tokens


async def _one(connection: Any) -> AsyncIterator[Any]:
    async for event in connection:
        yield event
        if event.type in ("response.completed", "response.incomplete", "response.failed", "error"):
            return


async def test_a_line_comes_with_what_it_took(host: launcher.Endpoint) -> None:
    async with client(host) as socket:
        await complete(socket, "def add(a, b):\n    return a +", include=("message.output_text.logprobs",))
        events = await answer(socket)
    response = events[-1]["response"]
    assert said(events).strip() == "b"
    assert {"load_ms", "prefill_ms", "first_token_ms", "cached_tokens", "evaluated_tokens"} <= set(
        response["timings"]
    )
    assert response["output"][0]["content"][0]["logprobs"]
    first = next(event for event in events if event["type"] == "response.output_text.delta")
    assert first["timings"]["evaluated_tokens"] == response["timings"]["evaluated_tokens"]
    assert "load_ms" in first["timings"]


async def test_cancel_frees_the_model(host: launcher.Endpoint) -> None:
    async with client(host) as socket:
        await complete_at_length(socket, "a")
        await socket.send('{"type": "response.cancel", "stream_id": "a"}')
        last = (await answer(socket))[-1]["response"]
        await freed()
    assert last["incomplete_details"] == {"reason": "cancelled"}
    assert (counters()["cancelled"], counters()["completed"]) == (1, 0)


async def test_a_superseded_lane_frees_the_model(host: launcher.Endpoint) -> None:
    async with client(host) as socket:
        await complete_at_length(socket, "a")
        await complete(socket, "x = ", lane="a")
        await answer(socket)
        assert said(await answer(socket))
    assert (counters()["cancelled"], counters()["completed"]) == (1, 1)


async def test_a_closed_socket_frees_the_model(host: launcher.Endpoint) -> None:
    async with client(host) as socket:
        await complete_at_length(socket, "a")
    await freed()
    assert counters()["cancelled"] == 1


async def test_a_dropped_socket_frees_the_model(host: launcher.Endpoint) -> None:
    async with client(host) as socket:
        await complete_at_length(socket, "a")
        socket.transport.abort()
        await freed()
    assert counters()["cancelled"] == 1


async def test_two_windows_share_one_model_and_each_keeps_its_cache(host: launcher.Endpoint) -> None:
    async with client(host) as one, client(host) as two:
        for socket, text, key in ((one, SOURCE[:1000], "a"), (two, SOURCE[1000:2000], "b")) * 2:
            await complete(socket, text, prompt_cache_key=key)
            timings = (await answer(socket))[-1]["response"]["timings"]
            assert status()["clients"] == 2
    assert timings["evaluated_tokens"] < 20
    assert len(status()["models"]) == 1


async def test_a_host_killed_in_mid_stream_is_replaced(host: launcher.Endpoint) -> None:
    async with client(host) as socket:
        await complete_at_length(socket, "a")
        killed = status()["pid"]
        os.kill(killed, signal.SIGKILL)
        with pytest.raises(ConnectionClosed):
            await answer(socket)
    again = await launcher.ensure_host(SMALL)
    async with client(again) as socket:
        await complete(socket, "def add(a, b):\n    return a +")
        assert said(await answer(socket)).strip() == "b"
    assert status()["pid"] != killed


async def test_another_model_is_loaded_beside_the_first(host: launcher.Endpoint, tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    own.symlink_to(real_weights(SMALL).path)
    async with client(host) as socket:
        await complete(socket, "x = ")
        await answer(socket)
        for model in (str(own), "gpt-0", SMALL):
            fields = {"prompt_id": "plain", "prompt_variables": {"prefix": "x = "}}
            await socket.send(create_frame(model, max_output_tokens=1, **fields))
            last = (await answer(socket))[-1]
            assert (last["type"] == "error") is (model == "gpt-0")
    assert [loaded["model"] for loaded in status()["models"]] == [SMALL, str(own)]


async def test_corrupt_weights_are_told_and_the_host_recovers(
    host: launcher.Endpoint, tmp_path: Path
) -> None:
    async with client(host) as socket:
        own = tmp_path / "own.gguf"
        own.write_bytes(real_weights(SMALL).path.read_bytes()[:1_000_000])
        fields = {"prompt_id": "plain", "prompt_variables": {"prefix": "x = "}, "max_output_tokens": 1}
        await socket.send(create_frame(str(own), **fields))
        refused = (await answer(socket))[-1]
        own.unlink()
        own.symlink_to(real_weights(SMALL).path)
        await socket.send(create_frame(str(own), **fields))
        assert (await answer(socket))[-1]["type"] == "response.incomplete"
    assert refused["error"]["code"] == "model_not_found"
    assert str(own) in refused["error"]["message"]


async def test_nothing_of_a_prompt_is_logged(host: launcher.Endpoint) -> None:
    async with client(host) as socket:
        await complete(socket, "very_private_name = ")
        await answer(socket)
        await complete(socket, SOURCE * 3 + "very_private_name = ")
        assert (await answer(socket))[-1]["error"]["code"] == "context_length_exceeded"
    launcher.stop_host()
    log = state.log_path().read_text()
    assert "is in memory" in log and "very_private_name" not in log
    assert state.token_path().name not in log.split()
