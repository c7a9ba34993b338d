"""The embedded model: llama.cpp in this process, answering requests of the Responses contract.

llama.cpp calls back from a worker thread, once for each batch of the prompt that it has read and
once for each token; returning True from there is what cancels. A prompt is read in batches of 64
tokens, so that a cancel takes hold soon even there. Sampling is greedy.
"""

import asyncio
import logging
import os
import secrets
import threading
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from lsp_server.engine.errors import ModelMissing
from lsp_server.local.answers import Done, Piece, Refused
from lsp_server.local.gguf import Traits, read_traits
from lsp_server.local.healing import among_possible
from lsp_server.local.processor import missing_runtime, physical_cores, require_runtime
from lsp_server.local.rendering import Call, is_empty, render
from lsp_server.local.slots import Slot, Slots, Turns
from lsp_server.local.weights import Weights
from lsp_server.texts import embedded as texts
from lsp_server.wire.answer import TokenLogprob
from lsp_server.wire.client import Usage
from lsp_server.wire.errors import ErrorFrame
from lsp_server.wire.server import Create

__all__ = ["Engine", "load", "missing_runtime"]

log = logging.getLogger(__name__)

SLOTS = 4
CONTEXT = 2048
"""Tokens of one slot, prompt and answer together."""

BATCH = 64
SPILLED = 256
"""MiB of memory for prompts of slots that were given to another document."""

Chunk = dict[str, Any]


@dataclass(slots=True)
class Counters:
    """What became of the requests, and what reading the prompts took."""

    running: int = 0
    completed: int = 0
    cancelled: int = 0
    cached_tokens: int = 0
    evaluated_tokens: int = 0


@dataclass(slots=True, eq=False)
class _Job:
    """One call of the model, from its slot to the return of its thread."""

    slot: Slot
    background: bool
    chunks: asyncio.Queue[Chunk | BaseException | None] = field(default_factory=asyncio.Queue)
    cancelled: threading.Event = field(default_factory=threading.Event)

    def cancel(self) -> None:
        self.slot.leaving = True
        self.cancelled.set()


class Engine:
    """One set of weights in memory. Make it with `load`, and end it with `close`."""

    def __init__(self, server: Any, weights: Weights, traits: Traits, slots: int) -> None:
        self.weights = weights
        self.traits = traits
        self.counters = Counters()
        self._server = server
        self._slots = Slots(slots)
        self._turns = Turns()
        self._jobs: set[_Job] = set()
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="llama")

    async def generate(self, create: Create) -> AsyncGenerator[Piece | Done, None]:
        """Answer one request; closing the generator ends the work in llama.cpp before it returns.

        With `generate=False` the prompt is only read, in the background: any other request
        interrupts it, and what was read by then stays in the cache.
        """
        arrived = time.monotonic()
        if not create.generate and is_empty(create):
            yield Done()
            return
        call = render(create, self.traits)
        if not create.generate:
            await self._turns.quiet()
            async with aclosing(self._answer(call, arrived)) as items:
                async for item in items:
                    if isinstance(item, Done):
                        yield item
            return
        with self._turns.answering():
            for job in self._jobs:
                if job.background:
                    job.cancel()
            async with aclosing(self._answer(call, arrived)) as items:
                async for item in items:
                    yield item

    async def _answer(self, call: Call, arrived: float) -> AsyncGenerator[Piece | Done, None]:
        slot = await self._slots.acquire(call.key)
        queued = time.monotonic()
        job = _Job(slot, background=call.background)
        self._start(job, call)
        reader = _Reader(arrived, queued, call.typed)
        ended = False
        try:
            while (chunk := await job.chunks.get()) is not None:
                if isinstance(chunk, BaseException):
                    raise chunk
                if piece := reader.read(chunk):
                    yield piece
            ended = True
            self.counters.completed += not job.cancelled.is_set()
            yield reader.done()
        finally:
            self.counters.cached_tokens += reader.cached
            self.counters.evaluated_tokens += reader.evaluated
            if not ended:
                job.cancel()
                await _drained(job)

    def _start(self, job: _Job, call: Call) -> None:
        loop = asyncio.get_running_loop()
        self._jobs.add(job)
        self.counters.running += 1

        def tell(chunk: Chunk | BaseException | None) -> None:
            loop.call_soon_threadsafe(job.chunks.put_nowait, chunk)

        def heard(chunk: Chunk) -> bool:
            if not job.cancelled.is_set():
                tell(chunk)
            return job.cancelled.is_set()

        def work() -> None:
            try:
                handle: Callable[..., None] = getattr(self._server, call.handler)
                handle(call.body | {"id_slot": job.slot.number}, heard)
            except BaseException as error:
                tell(error)
            loop.call_soon_threadsafe(self._ended, job)

        self._threads.submit(work)

    def _ended(self, job: _Job) -> None:
        self._jobs.discard(job)
        self.counters.running -= 1
        if job.cancelled.is_set():
            self.counters.cancelled += 1
        self._slots.release(job.slot)
        job.chunks.put_nowait(None)

    async def close(self) -> None:
        """End every answer and free the memory."""
        for job in self._jobs:
            job.cancel()
        await asyncio.to_thread(self._threads.shutdown)
        server, self._server = self._server, None
        await asyncio.to_thread(_drop, [server])


async def load(weights: Weights, *, slots: int = SLOTS, context: int = CONTEXT) -> Engine:
    """Load weights into memory; a second or two. Raises ModelMissing with a sentence."""
    require_runtime()
    traits = await asyncio.to_thread(read_traits, weights.path)
    if traits.context is not None:
        context = min(context, traits.context)
    server = await asyncio.to_thread(_open, weights, slots, context)
    return Engine(server, weights, traits, slots)


def _open(weights: Weights, slots: int, context: int) -> Any:
    # Threads of OpenMP that spin while they wait would starve the editor on a small machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    xllamacpp: Any = import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights.path)
    parameters.n_parallel = slots
    parameters.n_ctx = slots * context
    parameters.n_batch = parameters.n_ubatch = BATCH
    # Writing tokens is bound by memory and leaves a core to the editor, reading a prompt is bound by cores.
    cores = physical_cores()
    parameters.cpuparams.n_threads = max(1, cores - 1)
    parameters.cpuparams_batch.n_threads = cores
    # llama.cpp opens a port of its own whether it is wanted or not; nobody knows this key.
    parameters.api_keys = [secrets.token_hex(32)]
    parameters.port = 0
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.warmup = False
    parameters.fit_params = False
    parameters.cache_ram_mib = SPILLED
    parameters.verbosity = 1
    try:
        return xllamacpp.Server(parameters)
    except Exception as error:
        raise ModelMissing(texts.CANNOT_LOAD.format(file=weights.path, reason=error)) from error


def _drop(server: list[Any]) -> None:
    """The last reference goes in this thread, for freeing a model takes a while."""
    server.clear()


async def _drained(job: _Job) -> None:
    """Wait for the thread, whose last word is None."""
    while await job.chunks.get() is not None:
        pass


class _Reader:
    """Turns the chunks of one call into pieces and the final report."""

    def __init__(self, arrived: float, queued: float, typed: str) -> None:
        self._typed = typed
        self._arrived = arrived
        self._queued = queued
        self._first: float | None = None
        self._logprobs: list[TokenLogprob] = []
        self._reason: str | None = None
        self._timings: dict[str, Any] = {}
        self._progress: dict[str, Any] = {}

    def read(self, chunk: Chunk) -> Piece | None:
        if "error" in chunk:
            raise _refusal(chunk["error"])
        self._timings = chunk.get("timings", self._timings)
        self._progress = chunk.get("prompt_progress", self._progress)
        for choice in chunk.get("choices", ()):
            self._reason = choice.get("finish_reason") or self._reason
            text = choice.get("text") or (choice.get("delta") or {}).get("content") or ""
            for entry in (choice.get("logprobs") or {}).get("content") or ():
                logprob = among_possible(entry, self._typed) if self._typed else entry["logprob"]
                self._logprobs.append(TokenLogprob(entry["token"], logprob))
            if text and self._typed:
                text = self._untyped(text)
            if text:
                logprobs, self._logprobs = tuple(self._logprobs), []
                if self._first is not None:
                    return Piece(text, logprobs)
                self._first = time.monotonic()
                return Piece(text, logprobs, self._prompt_timings())
        return None

    def _untyped(self, text: str) -> str:
        """What of the text goes beyond the text that was typed; what says no more than that is dropped."""
        known = min(len(text), len(self._typed))
        self._typed = self._typed[known:]
        if known == len(text):
            self._logprobs = []
        return text[known:]

    @property
    def cached(self) -> int:
        return int(self._timings.get("cache_n", self._progress.get("cache", 0)))

    @property
    def evaluated(self) -> int:
        read = self._progress.get("processed", 0) - self._progress.get("cache", 0)
        return int(self._timings.get("prompt_n", max(0, read)))

    def done(self) -> Done:
        """The usage and the timings, in milliseconds from the arrival of the request and in tokens."""
        now = time.monotonic()
        written = int(self._timings.get("predicted_n", 0))
        timings = self._prompt_timings() | {
            "total_ms": (now - self._arrived) * 1000,
            "generated_tokens": float(written),
            "generate_ms": float(self._timings.get("predicted_ms", 0)),
        }
        usage = Usage(
            input_tokens=self.cached + self.evaluated, cached_tokens=self.cached, output_tokens=written
        )
        return Done("length" if self._reason == "length" else "stop", usage, timings)

    def _prompt_timings(self) -> dict[str, float]:
        timings = {
            "queue_ms": (self._queued - self._arrived) * 1000,
            "prefill_ms": float(self._timings.get("prompt_ms", self._progress.get("time_ms", 0))),
            "cached_tokens": float(self.cached),
            "evaluated_tokens": float(self.evaluated),
        }
        if self._first is not None:
            timings["first_token_ms"] = (self._first - self._arrived) * 1000
        return timings


def _refusal(error: dict[str, Any]) -> Exception:
    if error.get("type") == "exceed_context_size_error":
        asked, context = error.get("n_prompt_tokens"), error.get("n_ctx")
        message = texts.PROMPT_TOO_LONG.format(tokens=asked, most=context)
        return Refused(ErrorFrame("context_length_exceeded", message, "input"))
    message = texts.REQUEST_REFUSED.format(reason=error.get("message", "no reason given"))
    return Refused(ErrorFrame("invalid_prompt", message, "input"))
