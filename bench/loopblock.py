"""The longest block of the event loop, in a file of 20,000 lines, in units of one parse of 500 lines.

The server runs under `harness/watched.py`, which times every turn of its loop. The parse is tree-sitter alone
on bytes that are ready, in another process between the rounds. Opening the file is a row
apart, and so is the first time of each, which pays for imports and for the first parse.
"""

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter_ns, thread_time_ns

import tree_sitter
import tree_sitter_python

from bench.harness.applying import Applying, function
from bench.harness.client import URI, Client, ours, quiet, running, source
from bench.harness.measure import Model, model, ratio, spread, table
from bench.keystroke import burst
from bench.stream import STREAMS

LINES = 20_000
ROUNDS = 5
WATCHED = Path(__file__).with_name("harness") / "watched.py"


def parse() -> tuple[float, float]:
    """Milliseconds of one bare parse of 500 lines: by the clock, and of processor time."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))
    text = "\n".join(source(500)).encode()
    clock, used = perf_counter_ns(), thread_time_ns()
    parser.parse(text)
    return (perf_counter_ns() - clock) / 1e6, (thread_time_ns() - used) / 1e6


class Watched:
    """What the watched server tells of its longest turns."""

    def __init__(self, client: Client, path: Path) -> None:
        self.client = client
        self._path = path
        self._told = 0

    async def tell(self) -> tuple[float, float, str]:
        """The longest turn since the last time: by the clock, of processor time, and what the latter ran."""
        os.kill(self.client.pid, signal.SIGUSR1)
        for _ in range(500):
            lines = self._path.read_text().splitlines() if self._path.exists() else []
            if len(lines) > self._told:
                self._told = len(lines)
                told = json.loads(lines[-1])
                return told["clock"][0], told["used"][0], told["used"][1]
            await asyncio.sleep(0.01)
        raise RuntimeError("the watched server does not answer")


async def typing(client: Client, fake: Model) -> None:
    await burst(client, 40, 0.02, None)


async def asking(client: Client, fake: Model) -> None:
    await fake.set(first=30, between=5, pieces=8)
    await burst(client, 40, 0.05, "automatic")


async def editing(client: Client, fake: Model) -> None:
    """One streamed edit of the function at the cursor, 1,000 tokens a second."""
    await fake.set(first=20, between=1, pieces=500, text=function(60))
    position = {"line": client.row, "character": 4}
    argument = {"uri": URI, "position": position, "instruction": "Read sorted names.", "wait": True}
    reply = client.request("workspace/executeCommand", {"command": "midstream.edit", "arguments": [argument]})
    if not await reply.wait(20) or reply.error or reply.result["outcome"] != "done":
        raise RuntimeError(f"the edit was not done: {reply.error or reply.result}")


WORK: dict[str, Callable[[Client, Model], Awaitable[None]]] = {
    "typing": typing,
    "asking": asking,
    "a streamed edit": editing,
}

FIRST = {f"{name}, first time": work for name, work in WORK.items()}


async def main() -> None:
    parses: tuple[list[float | None], list[float | None]] = ([], [])
    seen: dict[str, list[tuple[float, float, str]]] = {}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory(prefix="midstream-bench-") as folder:
            path = Path(folder, "blocks")
            async with model() as fake:
                options = ours(fake.port, edit={"format": "scope"})[1]
                environment = {"BENCH_BLOCKS": str(path), "PYTHONPATH": str(WATCHED.parents[2])}
                server = [sys.executable, str(WATCHED)], options
                async with running(server, capabilities=STREAMS, environment=environment) as client:
                    Applying(client)
                    watched = Watched(client, path)
                    await quiet(client.pid)
                    await watched.tell()
                    client.open(LINES)
                    await quiet(client.pid)
                    seen.setdefault("opening it (apart)", []).append(await watched.tell())
                    for name, work in (*FIRST.items(), *WORK.items()):
                        await work(client, fake)
                        await quiet(client.pid)
                        seen.setdefault(name, []).append(await watched.tell())
                        for into, took in zip(parses, parse(), strict=True):
                            into.append(took)
    rows = []
    for name, turns in seen.items():
        clock: list[float | None] = [turn[0] for turn in turns]
        used: list[float | None] = [turn[1] for turn in turns]
        target = "" if "apart" in name else "<= 2"
        row = (name, spread(clock), ratio(clock, parses[0]), spread(used), ratio(used, parses[1]), target)
        rows.append((*row, max(turns, key=lambda turn: turn[1])[2]))
    rows.append(("one parse of 500 lines", spread(parses[0]), "", spread(parses[1]), "", "", ""))
    head = ("longest turn, ms", "by the clock", "ratio", "processor time", "ratio", "target", "longest")
    table(f"Blocks of the event loop, {LINES:,} lines", head, rows)


if __name__ == "__main__":
    asyncio.run(main())
