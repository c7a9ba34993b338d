"""One client's socket: lanes, the continuation cache, cancelling, and the provider's limits.

Answers on one lane come in the order of their requests and never overlap; lanes run beside each
other. Frames leave through one queue, so that the events of an answer are never cut in half by a
cancel.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext, suppress
from dataclasses import dataclass, field, replace

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from lsp_server.local.answers import Done, Generate, Hangup, Refused
from lsp_server.wire.answer import Answer
from lsp_server.wire.client import Usage
from lsp_server.wire.errors import (
    ErrorFrame,
    connection_limit_reached,
    previous_response_not_found,
    stream_limit_reached,
)
from lsp_server.wire.lanes import LIFETIME, MAX_ACTIVE, MAX_NAMES
from lsp_server.wire.server import Cancel, Create, Message, parse_request

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """The provider's limits per connection; None switches one off. `lifetime` is in seconds."""

    lane_names: int | None = None
    active: int | None = None
    lifetime: float | None = None


PROVIDER_LIMITS = Limits(MAX_NAMES, MAX_ACTIVE, LIFETIME)


@dataclass(frozen=True, slots=True)
class Rules:
    """How a face deals with its clients.

    `supersedes`: a new request on a named lane ends what still runs or waits there. The default lane
    always keeps its requests. `cancels`: the event `response.cancel` is understood.
    """

    limits: Limits = field(default_factory=Limits)
    supersedes: bool = False
    cancels: bool = False


@dataclass(slots=True)
class Counters:
    """What happened to the requests of all clients, for the status and for tests."""

    received: int = 0
    running: int = 0
    completed: int = 0
    cancelled: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class _Cached:
    """What a later request may continue from."""

    response_id: str
    instructions: str
    messages: tuple[Message, ...]


class Session:
    """Serves one connection until it closes."""

    def __init__(
        self, socket: ServerConnection, generate: Generate, rules: Rules, counters: Counters
    ) -> None:
        self._socket = socket
        self._generate = generate
        self._rules = rules
        self._counters = counters
        self._cache: dict[str | None, _Cached] = {}
        self._names: set[str] = set()
        self._lanes: dict[str | None, list[_Job]] = {}
        self._outbox: asyncio.Queue[str | int] = asyncio.Queue()
        active = rules.limits.active
        self._active: AbstractAsyncContextManager[object] = (
            nullcontext() if active is None else asyncio.Semaphore(active)
        )
        self._closed = False

    async def serve(self) -> None:
        writer = asyncio.create_task(self._write(), name="face writer")
        lifetime = self._rules.limits.lifetime
        expiry = None if lifetime is None else asyncio.get_running_loop().call_later(lifetime, self._expire)
        try:
            async for frame in self._socket:
                self._receive(frame)
        except ConnectionClosed:
            pass
        finally:
            self._closed = True
            if expiry is not None:
                expiry.cancel()
            tasks = [job.task for jobs in self._lanes.values() for job in jobs if job.task is not None]
            for task in (*tasks, writer):
                task.cancel()
            await asyncio.gather(*tasks, writer, return_exceptions=True)

    def _receive(self, frame: str | bytes) -> None:
        request = parse_request(frame)
        match request:
            case Create():
                self._create(request)
            case Cancel() if self._rules.cancels:
                self._cancel(request)
            case Cancel():
                message = "Unsupported event type 'response.cancel'."
                self._emit([ErrorFrame("invalid_value", message, "type", request.lane).encode()])
            case ErrorFrame():
                self._emit([request.encode()])

    def _create(self, create: Create) -> None:
        lane = create.lane
        if lane is not None and lane not in self._names:
            allowed = self._rules.limits.lane_names
            if allowed is not None and allowed <= len(self._names):
                self._emit([stream_limit_reached(lane, allowed).encode()])
                return
            self._names.add(lane)
        self._counters.received += 1
        if self._rules.supersedes and lane is not None and create.generate:
            self._cancel(Cancel(lane))
        jobs = self._lanes.setdefault(lane, [])
        job = _Job(create, Answer(create, f"resp_{secrets.token_hex(16)}", created_at=int(time.time())))
        job.task = asyncio.create_task(self._answer(job, jobs[-1].task if jobs else None), name="face answer")
        job.task.add_done_callback(lambda _: jobs.remove(job))
        jobs.append(job)

    def _cancel(self, cancel: Cancel) -> None:
        for job in self._lanes.get(cancel.lane, ()):
            if cancel.response_id in (None, job.answer.response_id):
                job.cancel()

    async def _answer(self, job: "_Job", before: asyncio.Task[None] | None) -> None:
        job.entered = True
        try:
            if job.cancelled:
                raise asyncio.CancelledError
            if before is not None:
                await asyncio.wait({before})
            async with self._active:
                await self._run(job)
        except asyncio.CancelledError:
            self._counters.cancelled += 1
            if self._closed:
                return
            # The lane stays in order: this answer ends only after the one before it has ended.
            if before is not None:
                await asyncio.wait({before})
            frames = [] if job.started else job.answer.started()
            self._emit([*frames, *job.answer.incomplete("cancelled", Usage(output_tokens=job.pieces))])

    async def _run(self, job: "_Job") -> None:
        create, answer = job.create, job.answer
        parent = self._parent(create)
        if isinstance(parent, ErrorFrame):
            self._fail(create, [parent.encode()])
            return
        conversation = _continued(create, parent)
        self._emit(answer.started())
        job.started = True
        self._counters.running += 1
        try:
            async with aclosing(self._generate(conversation)) as items:
                async for item in items:
                    if isinstance(item, Done):
                        self._finish(conversation, answer, item)
                        return
                    job.pieces += 1
                    if isinstance(item, str):
                        self._emit([item])
                    elif create.generate:
                        logprobs = item.logprobs if create.logprobs else ()
                        self._emit(answer.delta(item.text, logprobs, item.timings))
            raise RuntimeError("the generator ended without Done")
        except Refused as refusal:
            self._fail(create, [replace(refusal.frame, lane=create.lane).encode()])
        except Hangup as hangup:
            self._outbox.put_nowait(hangup.code)
        except Exception as error:
            log.exception("an answer failed")
            words = str(error) or type(error).__name__
            self._fail(create, answer.failed("server_error", words, Usage(output_tokens=job.pieces)))
        finally:
            self._counters.running -= 1

    def _finish(self, conversation: Create, answer: Answer, done: Done) -> None:
        self._counters.completed += 1
        said = (Message("assistant", answer.text),) if conversation.generate else ()
        self._cache[conversation.lane] = _Cached(
            answer.response_id, conversation.instructions, (*conversation.messages, *said)
        )
        extra = {"timings": done.timings} if done.timings else {}
        if done.reason == "stop":
            self._emit(answer.completed(done.usage, **extra))
        else:
            reason = {"length": "max_output_tokens", "filter": "content_filter"}[done.reason]
            self._emit(answer.incomplete(reason, done.usage, **extra))

    def _fail(self, create: Create, frames: Iterable[str]) -> None:
        """A failed continuation evicts its parent on the same lane; a failed fork keeps it."""
        self._counters.failed += 1
        cached = self._cache.get(create.lane)
        if cached is not None and cached.response_id == create.previous_response_id:
            del self._cache[create.lane]
        self._emit(frames)

    def _parent(self, create: Create) -> _Cached | ErrorFrame | None:
        wanted = create.previous_response_id
        if wanted is None:
            return None
        found = next((cached for cached in self._cache.values() if cached.response_id == wanted), None)
        return found or previous_response_not_found(wanted, create.lane)

    def _expire(self) -> None:
        minutes = round((self._rules.limits.lifetime or 0) / 60)
        self._emit([connection_limit_reached(minutes).encode()])
        self._outbox.put_nowait(1000)

    def _emit(self, frames: Iterable[str]) -> None:
        for frame in frames:
            self._outbox.put_nowait(frame)

    async def _write(self) -> None:
        """Send what is queued; a number closes the connection with that code."""
        with suppress(ConnectionClosed):
            while True:
                item = await self._outbox.get()
                if item == 1006:
                    self._socket.transport.abort()
                    return
                if isinstance(item, int):
                    await self._socket.close(item)
                    return
                await self._socket.send(item)


@dataclass(slots=True, eq=False)
class _Job:
    """One request on its lane, from its arrival to its last frame."""

    create: Create
    answer: Answer
    task: asyncio.Task[None] | None = None
    entered: bool = False
    started: bool = False
    cancelled: bool = False
    pieces: int = 0

    def cancel(self) -> None:
        """A task cancelled before its first step never runs at all, and its client would wait for ever."""
        if self.cancelled:
            return
        self.cancelled = True
        if self.entered and self.task is not None:
            self.task.cancel()


def _continued(create: Create, parent: _Cached | None) -> Create:
    """The request with everything that its parent holds; instructions of a warm-up stay in force."""
    if parent is None:
        return create
    return replace(
        create,
        instructions=create.instructions or parent.instructions,
        messages=(*parent.messages, *create.messages),
    )
