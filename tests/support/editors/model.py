"""The scripted model in a thread of its own, for tests that drive an editor step by step."""

import asyncio
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from tests.support.editors.driver import wait_for
from tests.support.model_server import TOKEN, ModelServer, Turn

T = TypeVar("T")
ENVIRONMENT = {"MIDSTREAM_TEST_KEY": TOKEN}


class Model:
    """`ModelServer`, with calls instead of coroutines."""

    def __enter__(self) -> "Model":
        self._ready = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(),), daemon=True)
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    @property
    def turns(self) -> list[Turn]:
        """All requests for an answer so far; reading ahead asks for none."""
        return [turn for turn in self.server.turns if turn.create.generate]

    def turn(self, seconds: float = 20.0) -> Turn:
        """The next request that no script answers."""
        return asyncio.run_coroutine_threadsafe(self.server.turn(), self._loop).result(seconds)

    def always(self, *pieces: str) -> None:
        """Answer every further request with these pieces."""
        self._call(lambda: self.server.always(*pieces))

    def say(self, turn: Turn, *pieces: str) -> None:
        """Send pieces of an answer."""
        self._call(lambda: turn.say(*pieces))

    def finish(self, turn: Turn) -> None:
        """End an answer."""
        self._call(turn.finish)

    def wait_until_read(self, part: str) -> None:
        """Wait until a prompt with the part in it has been sent to be read ahead."""

        def is_read() -> bool:
            return any(part in turn.text for turn in self.server.turns if not turn.create.generate)

        wait_for(is_read, f"{part!r} to be read ahead")

    def wait_until_freed(self, turn: Turn) -> None:
        """Wait until the server has been told that nobody wants this answer any more."""
        wait_for(lambda: turn.cancelled, "the generation to be freed")

    def options(self, **settings: Any) -> dict[str, Any]:
        """`initializationOptions` that send every task here."""
        model = {
            "protocol": "responses-ws",
            "url": self.server.face.url,
            "model": "scripted",
            "key": "env:MIDSTREAM_TEST_KEY",
            "cancel": "event",
        }
        tasks = dict.fromkeys(("complete", "edit", "explain", "escalate"), "scripted")
        return {"models": {"scripted": model}, "tasks": tasks, "complete": {"debounce": 0}, **settings}

    def _call(self, function: Callable[[], T]) -> T:
        async def call() -> T:
            return function()

        return asyncio.run_coroutine_threadsafe(call(), self._loop).result(10)

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        async with ModelServer() as self.server:
            self._ready.set()
            await self._end.wait()
