"""From the start of the process to the answer to `initialize`, beside a server of pygls alone."""

import asyncio
import sys
from pathlib import Path

from bench.harness.client import ours, quiet, running
from bench.harness.measure import cpu, model, ratio, resident, since, spread, table

ROUNDS = 7
BARE = Path(__file__).with_name("harness") / "bare_pygls.py"


async def main() -> None:
    names = ("start to initialize, ms", "CPU until then, ms", "CPU until idle, ms", "memory when idle, MB")
    seen: dict[tuple[str, str], list[float | None]] = {}
    async with model() as fake:
        servers = {"bare pygls": ([sys.executable, str(BARE)], {}), "midstream": ours(fake.port)}
        for _ in range(ROUNDS):
            for server, how in servers.items():
                async with running(how) as client:
                    used = cpu(client.pid)
                    took = since(client.started, client.initialized)
                    await quiet(client.pid)
                    values = (took, used, cpu(client.pid), resident(client.pid))
                    for name, value in zip(names, values, strict=True):
                        seen.setdefault((server, name), []).append(value)
    rows = [
        (
            name,
            spread(seen["bare pygls", name]),
            spread(seen["midstream", name]),
            ratio(seen["midstream", name], seen["bare pygls", name]),
            target,
        )
        for name, target in zip(names, ("<= 1.1", "", "", "<= 1.3"), strict=True)
    ]
    table("Start", ("median (middle half)", "bare pygls", "midstream", "ratio", "target"), rows)


if __name__ == "__main__":
    asyncio.run(main())
