"""From a key to the request on the wire, to the first useful line, and the processor time of a key.

Our server and the floor run side by side and get their keys in turn.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from bench.harness.client import Client, floor, ours, running
from bench.harness.measure import Model, cpu, model, ratio, since, spread, table

DEBOUNCE = 40
"""Milliseconds, fixed for the run, so that they can be taken off again."""

KEYS = 15
BLOCK = "(items,\n        key,\n        None,\n    )\n    total = 0\n    return total\n"


async def one_key(client: Client, fake: Model, ask: str) -> dict[str, Any]:
    """Type one key, wait for its answer, and say when what happened."""
    before = len(await fake.requests())
    sent, reply = client.key(ask=ask)
    assert reply
    await reply.wait()
    request = await fake.request(before, "last") or {}
    await asyncio.sleep(0.02)
    return {"sent": sent, "done": reply.done, "partial": reply.partial, **request}


async def wire(fake: Model, lines: int) -> list[Sequence[str]]:
    rows = []
    await fake.set(first=20, between=2, pieces=6)
    async with (
        running(floor(fake.port), lines) as theirs,
        running(ours(fake.port, complete={"debounce": DEBOUNCE}), lines) as mine,
    ):
        for ask, wait in (("invoked", 0), ("automatic", DEBOUNCE)):
            times: tuple[list[float | None], list[float | None]] = ([], [])
            for number in range(KEYS + 2):
                for client, into, extra in ((theirs, times[0], 0), (mine, times[1], wait)):
                    seen = await one_key(client, fake, ask)
                    took = since(seen["sent"], seen.get("asked"))
                    if number >= 2:
                        into.append(None if took is None else took - extra)
            name = f"key to wire, {ask}, {lines} lines" + (" (minus debounce)" if wait else "")
            rows.append((name, spread(times[0]), spread(times[1]), ratio(times[1], times[0]), "<= 2.5"))
    return rows


async def first_line(fake: Model) -> Sequence[str]:
    """From the end of the first line on the wire to the reply of a client that asks again."""
    await fake.set(first=20, between=10, pieces=40, text=BLOCK)
    times: tuple[list[float | None], list[float | None]] = ([], [])
    early = 0
    async with running(floor(fake.port), 300) as theirs, running(ours(fake.port), 300) as mine:
        for client in (theirs, mine):
            client.lines[client.row] = ""
        for number in range(KEYS):
            seen = await one_key(theirs, fake, "invoked")
            times[0].append(since(seen.get("first"), seen["partial"]))
            place = {"line": mine.row - 1, "character": 0}
            mine.version += 1
            document = {"uri": "file:///bench/table.py", "version": mine.version}
            change = {"range": {"start": place, "end": place}, "text": f"def fresh_{number}(items):\n    \n"}
            before = len(await fake.requests())
            at = {"line": mine.row, "character": 4}
            mine.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
            reply = mine.request(
                "textDocument/inlineCompletion",
                {
                    "textDocument": {"uri": document["uri"]},
                    "position": at,
                    "context": {"triggerKind": 1},
                },
            )
            mine.row += 2
            await reply.wait()
            request = await fake.request(before, "last")
            while request and not request["done"] and not request["freed"]:
                await asyncio.sleep(0.02)
                request = (await fake.requests())[before]
            if request and request["line"]:
                times[1].append(since(request["line"], reply.done))
                early += reply.done < request["last"]
    return (
        f"first line on the wire to reply ({early} of {KEYS} before the last byte)",
        spread(times[0]),
        spread(times[1]),
        ratio(times[1], times[0]),
        "<= 2",
    )


async def work(fake: Model) -> list[Sequence[str]]:
    """Processor time of a key, in rounds of 40 keys at 20 ms."""
    rows: list[Sequence[str]] = []
    spent: dict[tuple[int, bool, bool], list[float | None]] = {}
    await fake.set(first=50, between=5, pieces=8)
    for lines in (200, 20_000):
        async with running(floor(fake.port), lines) as theirs, running(ours(fake.port), lines) as mine:
            for number in range(6):
                for asking in (True, False):
                    for client in (theirs, mine):
                        used = await burst(client, 40, 0.02, "automatic" if asking else None)
                        if number:
                            spent.setdefault((lines, asking, client is mine), []).append(used / 40)
    for asking, target in ((True, "<= 1.5"), (False, "<= 2")):
        floors, times = spent[20_000, asking, False], spent[20_000, asking, True]
        name = f"CPU a key, 20,000 lines, {'asking' if asking else 'typing only'}"
        rows.append((name, spread(floors), spread(times), ratio(times, floors), target))
        small = spent[200, asking, True]
        name = f"growth of it from 200 lines, {'asking' if asking else 'typing only'}"
        rows.append((name, spread(small), spread(times), ratio(times, small), "<= 1.3"))
    return rows


async def burst(client: Client, keys: int, gap: float, ask: str | None) -> float:
    """Type at a steady pace; the milliseconds of processor time until all was answered."""
    before, last = cpu(client.pid), None
    for _ in range(keys):
        _, last = client.key(ask=ask, cancel=last)
        await asyncio.sleep(gap)
    if last is not None:
        await last.wait()
    await asyncio.sleep(0.05)
    return cpu(client.pid) - before


async def main() -> None:
    async with model() as fake:
        rows = [*await wire(fake, 300), *await wire(fake, 20_000), await first_line(fake), *await work(fake)]
    table(
        "A keystroke", ("milliseconds: median (middle half)", "floor", "midstream", "ratio", "target"), rows
    )


if __name__ == "__main__":
    asyncio.run(main())
