"""From a change of mind to a model that works for nobody any more.

Mid-generation: the request is cancelled, superseded by a newer one, or the user just types on. With `event`
and `close` the time is until the model knows; with `lane` an answer cannot be ended, so the time is until the
next request is on the wire.
"""

import asyncio
from collections.abc import Callable

from bench.harness.client import Client, Reply, floor, ours, running
from bench.harness.measure import Model, model, ratio, since, spread, table

ROUNDS = 7
Way = Callable[[Client, Reply], int]

WAYS: dict[str, Way] = {
    "$/cancelRequest": lambda client, reply: client.cancel(reply),
    "a newer request": lambda client, reply: client.key("x", cancel=reply)[0],
    "typing alone": lambda client, reply: client.key("x", ask=None)[0],
}


async def freed(client: Client, fake: Model, way: Way) -> float | None:
    """Milliseconds until the model was free, in the middle of an answer."""
    await fake.set(first=10, between=60, pieces=50)
    _, reply = client.key()
    assert reply
    if await fake.request(0, "first") is None:
        return None
    await asyncio.sleep(0.1)
    when = way(client, reply)
    request = await fake.request(0, "freed", 2)
    client.key("x", ask=None)
    await asyncio.sleep(0.05)
    return since(when, request and request["freed"])


async def asked_again(client: Client, fake: Model) -> float | None:
    """Milliseconds until the next request is on the wire, in the middle of an answer."""
    await fake.set(first=10, between=60, pieces=50)
    _, reply = client.key()
    if await fake.request(0, "first") is None:
        return None
    await asyncio.sleep(0.1)
    when, _ = client.key("x", cancel=reply)
    request = await fake.request(1, "asked", 2)
    client.key("x", ask=None)
    await asyncio.sleep(0.05)
    return since(when, request and request["asked"])


async def main() -> None:
    rows = []
    async with model() as fake, running(floor(fake.port), 300) as theirs:
        for kind in ("event", "close"):
            async with running(ours(fake.port, cancel=kind), 300) as mine:
                for name, way in WAYS.items():
                    times: tuple[list[float | None], list[float | None]] = ([], [])
                    for _ in range(ROUNDS):
                        times[0].append(await freed(theirs, fake, way))
                        times[1].append(await freed(mine, fake, way))
                    row = (f"{name}, cancel: {kind}", spread(times[0]), spread(times[1]))
                    rows.append((*row, ratio(times[1], times[0]), "<= 2.5"))
        async with running(ours(fake.port, cancel="lane"), 300) as mine:
            times = ([], [])
            for _ in range(ROUNDS):
                times[0].append(await asked_again(theirs, fake))
                times[1].append(await asked_again(mine, fake))
            row = ("next request on the wire, cancel: lane", spread(times[0]), spread(times[1]))
            rows.append((*row, ratio(times[1], times[0]), "<= 2.5"))
    table("A cancel", ("milliseconds: median (middle half)", "floor", "midstream", "ratio", "target"), rows)


if __name__ == "__main__":
    asyncio.run(main())
