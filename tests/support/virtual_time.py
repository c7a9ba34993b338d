"""An event loop whose clock jumps: waiting costs nothing, and the order of timers is exact."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any


class _Jumping(selectors.SelectSelector):
    """Instead of sleeping until the next timer, moves the clock there."""

    def __init__(self, clock: "VirtualTimeLoop") -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0)
        if not ready and timeout:
            self._clock.now += timeout
        if not ready and timeout is None:
            raise RuntimeError("everything waits and nothing will happen: a deadlock")
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Its time starts at 0 and moves only while everybody waits."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        return self.now


def run_virtual(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine in virtual time, in asyncio's debug mode."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop, debug=True) as runner:
        return runner.run(coroutine)


async def turns(count: int = 20) -> None:
    """Let everything that can run now run, for `count` turns of the loop, without time passing."""
    for _ in range(count):
        await asyncio.sleep(0)


async def passes(seconds: float) -> None:
    """Let this much virtual time pass, with everything that happens in it."""
    loop = asyncio.get_running_loop()
    passed = loop.create_future()
    loop.call_later(seconds, passed.set_result, None)
    await passed
