"""The server through a pipe, as an editor starts it."""

import asyncio
import os
import signal
import sys

import pytest

from tests.support.lsp_process import LspProcess, options_for, running_server
from tests.support.model_server import ModelServer

URI = "file:///w/a.py"


async def test_raw_bytes_open_ask_answer_and_leave() -> None:
    async with ModelServer() as model, running_server() as client:
        model.always("a + b")
        announced = await client.initialize(options_for(model))
        assert announced["capabilities"]["inlineCompletionProvider"] == {}
        assert announced["capabilities"]["positionEncoding"] == "utf-16"
        assert announced["serverInfo"]["name"] == "midstream"
        place = client.open(URI, "def add(a, b):\n    return <|>\n")
        _, answer = client.ask(URI, place.at)
        [item] = (await answer)["items"]
        assert item["insertText"] == "a + b"
        assert item["range"] == client.range(URI, place.at, place.at)
        assert await client.quit() == 0


async def test_over_tcp_the_same() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "lsp_server", "serve", "--tcp", "0",
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "MIDSTREAM_TEST_KEY": "token-of-the-tests"},
    )  # fmt: skip
    assert process.stderr
    port = int((await process.stderr.readline()).rpartition(b":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    client = LspProcess(reader, writer)
    client.process = process
    async with ModelServer() as model:
        model.always("a + b")
        await client.initialize(options_for(model))
        place = client.open(URI, "def add(a, b):\n    return <|>\n")
        _, answer = client.ask(URI, place.at)
        assert (await answer)["items"][0]["insertText"] == "a + b"
        assert await client.quit() == 0
    await process.stderr.read()
    writer.close()
    process._transport.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("how", ["stdin closed", "terminated"])
async def test_B121_the_server_goes_with_its_editor(how: str) -> None:
    async with ModelServer() as model, running_server() as client:
        await client.initialize(options_for(model))
        place = client.open(URI, "x = <|>\n")
        client.ask(URI, place.at)
        turn = await model.turn()
        turn.say("1")
        assert client.process
        if how == "stdin closed":
            client.hang_up()
        else:
            client.process.send_signal(signal.SIGTERM)
        assert await client.gone() == 1
        await turn.closed.wait()


async def test_malformed_messages_get_an_error_or_nothing_and_the_connection_lives() -> None:
    async with ModelServer() as model, running_server() as client:
        await client.initialize(options_for(model))
        client.write_raw(b"Content-Length: 9\r\n\r\nnot json!")
        client.write_raw(b"Content-Length: 2\r\n\r\n[]")
        client.notify("textDocument/didChange", {"nonsense": True})
        with pytest.raises(RuntimeError, match="-32602"):
            await client.request("textDocument/inlineCompletion", {"position": "here"})
        with pytest.raises(RuntimeError, match="-32601"):
            await client.request("textDocument/unheardOf", {})
        assert [message["method"] for message in client.messages if "method" in message] == []
        assert await client.quit() == 0


@pytest.mark.parametrize("identifier", [99, "never", 1, None, {"a": 1}])
async def test_B58_cancels_of_finished_unknown_and_impossible_ids_are_quiet(identifier: object) -> None:
    async with ModelServer() as model, running_server() as client:
        await client.initialize(options_for(model))
        client.notify("$/cancelRequest", {"id": identifier})
        client.notify("$/cancelRequest", {"id": identifier})
        assert await client.quit() == 0
    assert client.stderr == ""
