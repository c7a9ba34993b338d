"""What a call costs, in counts that are the same on every machine."""

import gc
import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps(call: Callable[[], object]) -> int:
    """How many calls, lines, turns of a loop and returns of Python code `call` takes.

    Work inside C functions is not seen; where it copies, `allocated` shows it.
    """
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    gc.disable()  # A collection runs the callbacks of others, hypothesis' among them.
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


def allocated(call: Callable[[], object]) -> int:
    """How many bytes `call` asks for at its peak: a copy or a join of a text shows up here."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        call()
        _, peak = tracemalloc.get_traced_memory()
        return peak - before
    finally:
        tracemalloc.stop()
