"""Who may use which cache: every slot of the model remembers the prompt that it read last."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count


@dataclass(slots=True, eq=False)
class Slot:
    """One cache. `key` names the prompts it serves, `leaving` says that its user is about to let go."""

    number: int
    key: tuple[str, ...] = ()
    busy: bool = False
    leaving: bool = False
    used: int = 0


class Slots:
    """A fixed number of slots; a request never takes one that another request is using."""

    def __init__(self, number: int) -> None:
        self._slots = tuple(Slot(index) for index in range(number))
        self._clock = count(1)
        self._freed = asyncio.Event()

    async def acquire(self, key: tuple[str, ...]) -> Slot:
        """The slot that last served this key, else the one that was left alone for the longest time."""
        while (slot := self._choose(key)) is None:
            await self._freed.wait()
        slot.key = key
        slot.busy = True
        slot.leaving = False
        slot.used = next(self._clock)
        return slot

    def release(self, slot: Slot) -> None:
        slot.busy = False
        freed, self._freed = self._freed, asyncio.Event()
        freed.set()

    def _choose(self, key: tuple[str, ...]) -> Slot | None:
        own = [slot for slot in self._slots if slot.key == key]
        if free := [slot for slot in own if not slot.busy]:
            return free[0]
        # The cache is worth more than the moment until its user, who was cancelled, has let go.
        if any(slot.leaving for slot in own):
            return None
        return min((slot for slot in self._slots if not slot.busy), key=lambda slot: slot.used, default=None)


class Turns:
    """Lets background work run only while nobody waits for an answer."""

    def __init__(self) -> None:
        self._answers = 0
        self._quiet = asyncio.Event()
        self._quiet.set()

    @contextmanager
    def answering(self) -> Iterator[None]:
        self._answers += 1
        self._quiet.clear()
        try:
            yield
        finally:
            self._answers -= 1
            if not self._answers:
                self._quiet.set()

    async def quiet(self) -> None:
        await self._quiet.wait()
