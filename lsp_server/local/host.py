"""The model host: one process per user that holds the weights in memory for every editor window.

It serves the Responses WebSocket on loopback (see `face`), loads the weights that a request names,
and ends when nobody has been connected for a while.
"""

import asyncio
import logging
import os
import secrets
import signal
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import asdict, replace
from typing import Any

from lsp_server.engine.errors import ModelMissing, Unreachable
from lsp_server.local import state, weights
from lsp_server.local.answers import Done, Piece, Refused
from lsp_server.local.catalogue import DEFAULT
from lsp_server.local.engine import Engine, load
from lsp_server.local.face import Face
from lsp_server.local.lock import file_lock
from lsp_server.local.session import Rules
from lsp_server.texts import embedded as texts
from lsp_server.wire.errors import ErrorFrame
from lsp_server.wire.server import Create

log = logging.getLogger(__name__)

IDLE = 600.0
"""Seconds without a client after which the host ends, and after which unused weights leave the memory."""

MAX_LOADED = 2
"""Sets of weights in memory at once: one for completions, one for edits."""

LOCK_PATIENCE = 2.0
RULES = Rules(supersedes=True, cancels=True)


class Models:
    """The weights in memory. `generate` answers a request with those that it names."""

    def __init__(self, first: str) -> None:
        self.latest = first or DEFAULT.name
        self._loading: dict[str, asyncio.Task[Engine]] = {}
        self._used: dict[str, float] = {}

    async def generate(self, create: Create) -> AsyncGenerator[Piece | Done, None]:
        """See `Engine.generate`. `load_ms` in the timings is the wait for the weights to be in memory."""
        arrived = time.monotonic()
        try:
            engine = await self.engine(create.model)
        except ModelMissing as error:
            raise Refused(ErrorFrame("model_not_found", str(error), "model", status=404)) from error
        loaded = (time.monotonic() - arrived) * 1000
        async with aclosing(engine.generate(create)) as items:
            async for item in items:
                yield _with_load(item, loaded) if item.timings else item
        self._used[create.model or DEFAULT.name] = time.monotonic()

    async def engine(self, model: str) -> Engine:
        """The weights of this name or path, loaded when they are not. A failure is tried again next time."""
        model = model or DEFAULT.name
        self._used[model] = time.monotonic()
        if model not in self._loading:
            task = asyncio.create_task(self._load(model), name=f"load {model}")
            self._loading[model] = task
            task.add_done_callback(lambda _: self._settle(model, task))
        # Whoever asked may go away; the others still want the weights.
        engine = await asyncio.shield(self._loading[model])
        self.latest = model
        return engine

    def loaded(self) -> dict[str, Engine]:
        return {
            model: task.result()
            for model, task in self._loading.items()
            if task.done() and not task.cancelled() and task.exception() is None
        }

    @property
    def loading(self) -> bool:
        return any(not task.done() for task in self._loading.values())

    async def forget_unused(self, since: float) -> None:
        """Free the weights that nobody has asked for since then."""
        for model, engine in self.loaded().items():
            if self._used[model] < since and not engine.counters.running:
                await self._forget(model)

    async def close(self) -> None:
        for task in self._loading.values():
            task.cancel()
        await asyncio.gather(*self._loading.values(), return_exceptions=True)
        for model in tuple(self.loaded()):
            await self._forget(model)

    async def _load(self, model: str) -> Engine:
        began = time.monotonic()
        found = await asyncio.to_thread(weights.find, model)
        await self._make_room()
        engine = await load(found)
        log.info("%s is in memory after %.1f s", model, time.monotonic() - began)
        return engine

    def _settle(self, model: str, task: "asyncio.Task[Engine]") -> None:
        """What could not be loaded is forgotten, so that the next request tries again."""
        if task.cancelled() or task.exception() is not None:
            self._loading.pop(model, None)

    async def _make_room(self) -> None:
        loaded = self.loaded()
        idle = [model for model, engine in loaded.items() if not engine.counters.running]
        if len(loaded) >= MAX_LOADED and idle:
            await self._forget(min(idle, key=self._used.__getitem__))

    async def _forget(self, model: str) -> None:
        engine = self._loading.pop(model).result()
        log.info("%s leaves the memory", model)
        await engine.close()


def _with_load(item: Piece | Done, milliseconds: float) -> Piece | Done:
    return replace(item, timings=item.timings | {"load_ms": milliseconds})


class Host:
    """Ties the models to the face, and decides when it is time to go."""

    def __init__(self, model: str, idle: float) -> None:
        self.models = Models(model)
        self.stop = asyncio.Event()
        self._idle = idle
        self._began = time.monotonic()
        self._leaving: asyncio.TimerHandle | None = None
        self.token = secrets.token_urlsafe(32)
        self.face = Face(
            self.models.generate, token=self.token, rules=RULES, status=self.status, changed=self.changed
        )

    async def serve(self) -> None:
        """Listen until it is time to go."""
        async with self.face:
            state.write_state(state.State(os.getpid(), self.face.url, str(state.token_path())), self.token)
            log.info("listening at %s", self.face.url)
            self.changed()
            preload = asyncio.create_task(self._preload(), name="preload")
            tending = asyncio.create_task(self._tend(), name="tend")
            await self.stop.wait()
            # First the file goes, so that nobody is sent to a host that is leaving.
            state.clear_state()
            for task in (preload, tending):
                task.cancel()
            await asyncio.gather(preload, tending, return_exceptions=True)
        await self.models.close()

    def changed(self) -> None:
        """A client came or went; without any, the time to leave begins to run."""
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None
        if not self.face.clients:
            self._leaving = asyncio.get_running_loop().call_later(self._idle, self.stop.set)

    def status(self) -> dict[str, Any]:
        """What `midstream host status --json` prints; times in seconds."""
        loaded = self.models.loaded()
        latest = loaded.get(self.models.latest)
        entry = weights.entry_of(self.models.latest)
        return {
            "pid": os.getpid(),
            "url": self.face.url,
            "token_file": str(state.token_path()),
            "model": self.models.latest,
            "sha256": None if entry is None else entry.sha256,
            "state": "ready" if latest else "loading" if self.models.loading else "waiting",
            "clients": self.face.clients,
            "uptime": round(time.monotonic() - self._began, 1),
            "requests": asdict(self.face.counters),
            "models": [
                {"model": model, "path": str(engine.weights.path), **asdict(engine.counters)}
                for model, engine in loaded.items()
            ],
        }

    async def _preload(self) -> None:
        """Load what will be asked for first; whoever asks hears of a failure."""
        with suppress(ModelMissing):
            await self.models.engine(self.models.latest)

    async def _tend(self) -> None:
        while True:
            await asyncio.sleep(self._idle / 10)
            await self.models.forget_unused(time.monotonic() - self._idle)


def run(model: str = "", *, idle: float = IDLE) -> None:
    """Be the host, in the foreground, until it is told to stop or nobody has needed it for `idle` seconds.

    Raises Unreachable when there is a host already.
    """
    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    deadline = time.monotonic() + LOCK_PATIENCE

    def give_up() -> None:
        if deadline < time.monotonic():
            raise Unreachable(texts.HOST_RUNS.format(pid=state.running_pid()))

    with file_lock(state.lock_path(), waiting=give_up):
        state.clear_state()
        state.write_pid(os.getpid())
        try:
            asyncio.run(_run(model, idle))
        finally:
            state.clear_state()


async def _run(model: str, idle: float) -> None:
    host = Host(model, idle)
    if sys.platform != "win32":
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, host.stop.set)
    await host.serve()
