"""200 keys at a steady pace against a model that needs 1.2 s for an answer.

A request leaks when it still runs 250 ms after the key that made it useless; a request of the editor is
unanswered when no answer of any kind came. `last` is from the last key to a useful answer: the model's own
1.18 s, and the debounce.
"""

import asyncio
import random

from bench.harness.client import Client, floor, ours, running
from bench.harness.measure import Model, cpu, model, since, table

KEYS = 200
GRACE = 250e6
IDEAL = 1180


async def burst(client: Client, fake: Model, gap: float) -> tuple[str, ...]:
    await fake.set(first=400, between=20, pieces=40)
    chance = random.Random(7)
    loop = asyncio.get_running_loop()
    sent, replies, last, used = [], [], None, cpu(client.pid)
    start = loop.time()
    for number in range(KEYS):
        when, last = client.key(chance.choice("abcdefghij_"), ask="automatic", cancel=last)
        sent.append(when)
        replies.append(last)
        await asyncio.sleep(max(0, start + (number + 1) * gap - loop.time()))
    assert last
    await last.wait(8)
    await asyncio.sleep(0.5)
    used = cpu(client.pid) - used
    requests = await fake.requests()
    leaked = 0
    for request in requests:
        useless = next((when for when in sent if when > request["asked"]), None)
        ended = request["freed"] or request["last"]
        leaked += useless is not None and (ended is None or ended > useless + GRACE)
    unanswered = sum(reply is not None and not reply.arrived.is_set() for reply in replies)
    asked = since(sent[-1], requests[-1]["asked"]) if requests else None
    took = since(sent[-1], last.done)
    return (
        str(len(requests)),
        str(leaked),
        str(unanswered),
        "-" if asked is None else f"{asked:.0f}",
        "-" if took is None else f"{took:.0f}",
        f"{used / KEYS:.2f}",
    )


async def main() -> None:
    rows = []
    async with model() as fake:
        for gap in (0.01, 0.05, 0.15):
            for name, server in (("floor", floor(fake.port)), ("midstream", ours(fake.port))):
                async with running(server, 300) as client:
                    rows.append((f"{gap * 1000:.0f} ms", name, *await burst(client, fake, gap)))
    head = ("gap", "server", "requests", "leaked", "unanswered", "last key to wire", "last", "CPU a key")
    table(f"Bursts of {KEYS} keys, ms; targets: 0 leaked, 0 unanswered, <= 30 requests at 150 ms", head, rows)


if __name__ == "__main__":
    asyncio.run(main())
