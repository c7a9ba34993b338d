"""What breaks under a running server: each break is a sentence, and the next request works."""

import asyncio
import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import serve

from lsp_server.local.catalogue import DEFAULT
from lsp_server.wire.answer import Answer
from lsp_server.wire.client import Usage
from lsp_server.wire.errors import ErrorFrame
from lsp_server.wire.server import Create, parse_request
from tests.e2e.real_model import midstream, real_host
from tests.local.real import cache_with, real_weights
from tests.support.lsp_process import LspProcess, options_for, running_server
from tests.support.model_server import ModelServer

URI = "file:///w/app.py"
BAG = """\
class Bag:
    def total_price(self, discount):
        x = 0
        for thing in self.things:
            x = x + thing.price
        return x * (1 - discount)
"""


def private(folder: Path) -> dict[str, str]:
    """The user's own files are out of reach."""
    return {
        "MIDSTREAM_CONFIG": str(folder / "config.toml"),
        "MIDSTREAM_USAGE_FILE": str(folder / "usage.sqlite3"),
    }


def check_sentence(text: str) -> None:
    """One that a user can read: ended, and without the words of programmers."""
    assert text.endswith("."), text
    assert "Error" not in text and "Traceback" not in text, text


async def test_a_dropped_connection_is_told_and_the_next_completion_works(tmp_path: Path) -> None:
    async with ModelServer() as model, running_server(environment=private(tmp_path)) as client:
        await client.initialize(options_for(model))
        opened = client.open(URI, "x = <|>\n")
        _, answer = client.ask(URI, opened.at)
        turn = await model.turn()
        turn.say("fun")
        turn.hang_up()
        assert await answer is None, "half an answer is none"
        check_sentence((await client.message("window/showMessage"))["params"]["message"])
        assert (await client.command("midstream.status"))["state"] == "error"
        model.always("1")
        assert (await client.ask(URI, opened.at)[1])["items"][0]["insertText"] == "1"
        assert (await client.command("midstream.status"))["state"] == "ready"
        assert await client.quit() == 0


async def test_a_port_that_refuses_is_told_and_used_once_somebody_listens(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    async with ModelServer() as other, running_server(environment=private(tmp_path)) as client:
        options = options_for(other)
        options["models"]["test"]["url"] = f"ws://127.0.0.1:{port}/v1"
        await client.initialize(options)
        opened = client.open(URI, "x = <|>\n")
        assert await client.ask(URI, opened.at)[1] is None
        told = (await client.message("window/showMessage"))["params"]["message"]
        check_sentence(told)
        assert f"127.0.0.1:{port}" in told
        async with serve(_answer_one, "127.0.0.1", port):
            assert (await client.ask(URI, opened.at)[1])["items"][0]["insertText"] == "1"
            assert (await client.command("midstream.status"))["state"] == "ready"
            assert await client.quit() == 0


async def _answer_one(connection: Any) -> None:
    async for frame in connection:
        create = parse_request(frame)
        assert isinstance(create, Create)
        one = Answer(create, "r1", created_at=1)
        for event in [*one.started(), *one.delta("1"), *one.completed(Usage())]:
            await connection.send(event)


async def test_B134_a_rate_limit_is_told_once_kept_in_the_status_and_over_by_itself(tmp_path: Path) -> None:
    async with ModelServer() as model, running_server(environment=private(tmp_path)) as client:
        await client.initialize(options_for(model))
        opened = client.open(URI, "x = <|>\n")
        _, answer = client.ask(URI, opened.at)
        (await model.turn()).refuse(
            ErrorFrame("rate_limit_exceeded", "Slow down, try again in 1s.", status=429)
        )
        assert await answer is None
        for _ in range(3):
            assert await client.ask(URI, opened.at)[1] is None, "nobody is asked meanwhile"
        assert len([turn for turn in model.turns if turn.create.generate]) == 1
        status = await client.command("midstream.status")
        assert status["state"] == "error" and "slow down" in status["message"]
        assert client.told == [status["message"]]
        check_sentence(status["message"])
        model.always("1")
        while await client.ask(URI, opened.at)[1] is None:
            await asyncio.sleep(0)
        assert (await client.command("midstream.status"))["state"] == "ready"
        assert client.told == [status["message"]]
        assert await client.quit() == 0


@pytest.mark.model
async def test_a_host_that_is_killed_is_told_and_started_again(tmp_path: Path) -> None:
    with real_host(tmp_path):
        killed = await host_pid()
        async with running_server() as client:
            apply = client.serves["workspace/applyEdit"]

            def kill_and_apply(params: Any) -> Any:
                client.serves["workspace/applyEdit"] = apply
                os.kill(killed, signal.SIGKILL)
                return apply(params)

            client.serves["workspace/applyEdit"] = kill_and_apply
            await client.initialize({})
            client.open(URI, BAG)
            where = client.range(URI, BAG.index("x = 0"), BAG.index("x = 0"))["start"]
            argument = {"uri": URI, "position": where, "instruction": "Add a docstring", "wait": True}
            _, answer = client.start("midstream.edit", argument)
            result = await answer
            assert result["outcome"] == "failed"
            check_sentence(result["message"])
            assert (await client.command("midstream.status"))["state"] == "error"
            await client.command("midstream.revert", {"uri": URI})
            assert client.text(URI) == BAG
            assert (await client.command("midstream.edit", argument))["outcome"] == "done"
            assert await host_pid() != killed
            assert (await client.command("midstream.status"))["state"] == "ready"
            assert await client.quit() == 0


async def host_pid() -> int:
    said = await asyncio.to_thread(midstream, "host", "status", "--json")
    return int(json.loads(said)["pid"])


@pytest.mark.model
async def test_weights_that_are_broken_are_told_and_used_once_they_are_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_weights(DEFAULT.name)
    cache = tmp_path / "cache"
    with monkeypatch.context() as patch:
        patch.setenv("MIDSTREAM_CACHE", str(cache))
        DEFAULT.path.parent.mkdir(parents=True)
        DEFAULT.path.write_bytes(b"GGUF" + bytes(1000))
    environment = {**private(tmp_path), "MIDSTREAM_CACHE": str(cache)}
    async with running_server(environment=environment) as client:
        client.serves["window/showMessageRequest"] = lambda params: None
        await client.initialize({"complete": {"debounce": 0}})
        opened = client.open(URI, "def add(first, second):\n    return first +<|>\n")
        assert await client.ask(URI, opened.at)[1] is None
        told = (await client.message("window/showMessage"))["params"]["message"]
        check_sentence(told)
        assert "damaged" in told and "midstream model pull" in told
        (cache / "models").rename(cache / "broken")
        cache_with(DEFAULT.name, monkeypatch, cache)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        try:
            await until_answered(client, opened.at)
            assert (await client.command("midstream.status"))["state"] == "ready"
            assert await client.quit() == 0
        finally:
            await asyncio.to_thread(midstream, "host", "stop")


async def until_answered(client: LspProcess, offset: int) -> None:
    """Ask until there is something: on a busy machine the weights are in memory only after a while."""
    for _ in range(10):
        if await client.ask(URI, offset)[1]:
            return
    pytest.fail(f"no completion came: {client.told}")
