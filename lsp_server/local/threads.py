"""Blocking work beside the event loop, in threads that never keep a process alive."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

Value = TypeVar("Value")


def in_thread(work: Callable[[], Value], name: str) -> "asyncio.Future[Value]":
    """Run `work` in a daemon thread; the future ends as it ends. Cancelling the future abandons the work.

    The pool that asyncio offers is waited for when a program exits, and a server whose editor has
    gone must not wait for a download.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Value] = loop.create_future()

    def settle(value: Value | None, error: BaseException | None) -> None:
        if future.cancelled():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)  # type: ignore[arg-type]

    def run() -> None:
        value, error = None, None
        try:
            value = work()
        except BaseException as failure:
            error = failure
        # The loop may have ended meanwhile, and then nobody wants to know.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future
