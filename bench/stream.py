"""A streamed edit from the last delta of the model to the final text in the client's buffer.

The real server process, and a client that applies each edit and reports the change, as an editor does. The
unit is the client's own round trip of an edit: from an edit that was applied, and whose change was sent, to
the next edit from a server that always has one ready (`harness/edits_floor.py`). Beside ours stands the least
server that hears a model and edits once, at the end: what of the way no server in Python can spare.
"""

import asyncio
import sys
from itertools import pairwise
from pathlib import Path

from bench.harness.applying import Applying, function
from bench.harness.client import CAPABILITIES, URI, ours, running
from bench.harness.measure import Model, cpu, model, ratio, since, spread, table

ROUNDS = 5
LINES = 300
TOKEN = 4
"""Characters of a token."""

RATES = {1_200: 100, 10_000: 500}
"""Tokens a second, and the lines of the function that is said."""

ANNOUNCED = {"applyPatch": True, "retrigger": True, "status": True, "ended": True}
STREAMS = CAPABILITIES | {"experimental": {"midstream": ANNOUNCED}}
"""A client that joins patches into one undo step; another gets at most seven edits and the last."""

FLOOR = Path(__file__).with_name("harness") / "edits_floor.py"


async def round_trips() -> list[float | None]:
    """Milliseconds between edits that follow each other as fast as a server can send them."""
    async with running(([sys.executable, str(FLOOR), URI], {}), LINES) as client:
        times = Applying(client).applied
        reply = client.request("workspace/executeCommand", {"command": "edit"})
        await reply.wait(20)
    return [(after - before) / 1e6 for before, after in pairwise(times)]


async def pace(fake: Model, rate: int) -> str:
    """Have the model say a function at this rate; its text."""
    text = function(RATES[rate])
    await fake.set(first=30, between=1000 / rate, pieces=-(-len(text) // TOKEN), text=text)
    return text


async def least(fake: Model, rate: int) -> float | None:
    """Milliseconds from last delta to final buffer for the least server that hears and edits."""
    await pace(fake, rate)
    server = [sys.executable, str(FLOOR), URI, f"ws://127.0.0.1:{fake.port}/v1/responses"]
    async with running((server, {}), LINES) as client:
        applied = Applying(client).applied
        await client.request("workspace/executeCommand", {"command": "edit"}).wait(30)
    return since((await fake.requests())[-1]["last"], applied[-1])


async def edit(fake: Model, rate: int) -> tuple[float | None, float, int]:
    """Milliseconds from last delta to final buffer, share of a core from first delta to there, and edits."""
    text = await pace(fake, rate)
    async with running(ours(fake.port, edit={"format": "scope"}), LINES, STREAMS) as client:
        applied = Applying(client).applied
        position = {"line": client.row, "character": 4}
        argument = {"uri": URI, "position": position, "instruction": "Count more.", "wait": True}
        command = {"command": "midstream.edit", "arguments": [argument]}
        before = cpu(client.pid)
        reply = client.request("workspace/executeCommand", command)
        if not await reply.wait(30) or reply.error or reply.result["outcome"] != "done":
            raise RuntimeError(f"the edit was not done: {reply.error or reply.result}")
        used = cpu(client.pid) - before
        if text.rstrip() not in "\n".join(client.lines):
            raise RuntimeError("what the model said is not what the client has")
    request = (await fake.requests())[-1]
    took = since(request["first"], applied[-1])
    assert took
    return since(request["last"], applied[-1]), 100 * used / took, len(applied)


async def main() -> None:
    trips: list[float | None] = []
    floors: dict[int, list[float | None]] = {rate: [] for rate in RATES}
    seen: dict[int, list[tuple[float | None, float, int]]] = {}
    async with model() as fake:
        for _ in range(ROUNDS):
            trips += await round_trips()
            for rate in RATES:
                floors[rate].append(await least(fake, rate))
                seen.setdefault(rate, []).append(await edit(fake, rate))
    rows: list[tuple[str, ...]] = [("the client's round trip of an edit, ms", spread(trips), "1", "")]
    for rate, edits in seen.items():
        last, share, count = ([each[part] for each in edits] for part in range(3))
        name = f"{rate:,} tokens a second"
        rows.append((f"{name}: last delta to final buffer, ms", spread(last), ratio(last, trips), "<= 2"))
        rows.append((f"{name}: the least server, ms", spread(floors[rate]), ratio(floors[rate], trips), ""))
        rows.append((f"{name}: share of one core, %", spread(share), "", "<= 25" if rate == 1_200 else ""))
        rows.append((f"{name}: edits sent", spread(count), "", ""))
    table("A streamed edit", ("median (middle half)", "midstream", "round trips", "target"), rows)


if __name__ == "__main__":
    asyncio.run(main())
