"""The fake model's process, what a process uses, and tables of ratios."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parents[2]


class Model:
    """The fake model in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.port = port
        self._process = process
        self._lock = asyncio.Lock()

    async def set(self, **pace: Any) -> None:
        """A new pace, and an empty record of requests."""
        await self._order({"pace": pace})

    async def requests(self) -> list[dict[str, Any]]:
        return await self._order({})

    async def request(self, index: int, key: str = "asked", seconds: float = 5.0) -> dict[str, Any] | None:
        """The request of this number, once what is noted under `key` has happened to it."""
        for _ in range(int(seconds / 0.01)):
            requests = await self.requests()
            if len(requests) > index and requests[index][key]:
                return requests[index]
            await asyncio.sleep(0.01)
        return None

    async def _order(self, order: dict[str, Any]) -> list[dict[str, Any]]:
        assert self._process.stdin
        assert self._process.stdout
        async with self._lock:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            answer: list[dict[str, Any]] = json.loads(await self._process.stdout.readline())
            return answer


@asynccontextmanager
async def model(*arguments: str) -> AsyncIterator[Model]:
    """The fake model; `arguments` are those of `backend`."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.harness.backend", *arguments,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=HERE, limit=1 << 26,
    )  # fmt: skip
    assert process.stdout
    try:
        yield Model(process, int(await process.stdout.readline()))
    finally:
        process.kill()
        await process.wait()


def cpu(pid: int) -> float:
    """Milliseconds of processor time of a process, its threads together."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e6


def resident(pid: int) -> float:
    """Megabytes in memory now."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def since(start: int | None, end: int | None) -> float | None:
    """Milliseconds between two times of the clock."""
    return None if not start or not end else (end - start) / 1e6


def spread(values: Sequence[float | None]) -> str:
    """Median, and the middle half."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return "-"
    low, high = known[len(known) // 4], known[-1 - len(known) // 4]
    missing = len(values) - len(known)
    return f"{median(known):.2f} ({low:.2f}-{high:.2f})" + (f" {missing} missing" if missing else "")


def ratio(ours: Sequence[float | None], theirs: Sequence[float | None]) -> str:
    mine, other = ([value for value in each if value is not None] for each in (ours, theirs))
    return f"{median(mine) / median(other):.2f}" if mine and other and median(other) else "-"


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """One table, under the load of the machine while it was made."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"\n{title}  [load {load} on {os.cpu_count()} cores]")
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for row in (head, ["-" * width for width in widths], *rows):
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip(), flush=True
        )
