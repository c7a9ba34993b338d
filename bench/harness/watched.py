"""Our server, with every turn of its event loop timed.

At SIGUSR1 it appends one line of JSON to the file named by BENCH_BLOCKS and starts to count anew: the longest
turn by the clock, the longest by processor time of the loop's own thread, each with what ran, and how many.
"""

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from time import perf_counter_ns, thread_time_ns
from typing import Any

from lsp_server.cli import main

PLAIN = asyncio.Handle._run
longest: dict[str, Any] = {}
turns = 0


def timed(handle: asyncio.Handle) -> None:
    global turns
    callback = handle._callback  # a handle forgets it when it is cancelled
    clock, used = perf_counter_ns(), thread_time_ns()
    PLAIN(handle)
    used, clock = thread_time_ns() - used, perf_counter_ns() - clock
    turns += 1
    for name, took in (("clock", clock), ("used", used)):
        if took > longest.get(name, (0,))[0]:
            longest[name] = (took, callback)


def described(callback: Any) -> str:
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, asyncio.Task):
        return str(owner.get_coro())[:120]
    with suppress(ValueError, AttributeError):
        return str(callback.__qualname__)
    return repr(callback)[:120]


def tell(*_: object) -> None:
    global turns
    line = {name: (took / 1e6, described(callback)) for name, (took, callback) in longest.items()}
    with open(os.environ["BENCH_BLOCKS"], "a") as file:
        file.write(json.dumps(line | {"turns": turns}) + "\n")
    longest.clear()
    turns = 0


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, tell)
    asyncio.Handle._run = timed  # type: ignore[method-assign]
    sys.exit(main(["serve"]))
