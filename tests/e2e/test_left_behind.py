"""A server whose editor is gone, while its model goes on talking."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.lsp_process import options_for, running_server
from tests.support.model_server import ModelServer, Turn

URI = "file:///w/a.py"
LINES = 1_000
LONG = "def f():\n" + "".join(f"    a{number} = {number}\n" for number in range(LINES))
COUNTING = """
import sys
from lsp_server.cli import main, serve

until_gone, calls = serve.until_gone, 0

def count(frame, event, argument):
    global calls
    calls += event == "call"

async def counted(door, reading):
    reading.add_done_callback(lambda _: sys.setprofile(count))
    status = await until_gone(door, reading)
    sys.setprofile(None)
    print(f"calls: {calls}", file=sys.stderr, flush=True)
    return status

serve.until_gone = counted
sys.exit(main(["serve"]))
"""
"""The server, counting the functions that it calls once its input has ended."""


async def calls_after_the_end(folder: Path, *, chatty: bool) -> int:
    environment = {
        "MIDSTREAM_CONFIG": str(folder / "config.toml"),
        "MIDSTREAM_USAGE_FILE": str(folder / "usage.sqlite3"),
    }
    async with ModelServer() as model, running_server(environment=environment, program=COUNTING) as client:
        await client.initialize(options_for(model))
        client.open(URI, LONG)
        where = client.range(URI, 0, 0)["start"]
        client.start("midstream.edit", {"uri": URI, "position": where, "instruction": "x", "wait": True})
        turn = await model.turn()
        turn.say("```python\ndef f():\n")
        async with talking(turn) if chatty else silent():
            client.hang_up()
            assert await client.gone() == 1
        await turn.closed.wait()
    return int(client.stderr.rpartition("calls: ")[2])


@asynccontextmanager
async def talking(turn: Turn) -> AsyncIterator[None]:
    """The model says something at every turn of the loop."""

    async def talk() -> None:
        for number in range(LINES):
            turn.say(f"    b{number} = {number}\n")
            await asyncio.sleep(0)

    task = asyncio.create_task(talk())
    yield
    task.cancel()
    await asyncio.wait([task])


@asynccontextmanager
async def silent() -> AsyncIterator[None]:
    yield


async def test_B121_a_talking_model_gives_a_server_without_an_editor_nothing_to_do(tmp_path: Path) -> None:
    quiet = await calls_after_the_end(tmp_path, chatty=False)
    chatty = await calls_after_the_end(tmp_path, chatty=True)
    assert quiet > 0 and chatty < 3 * quiet
