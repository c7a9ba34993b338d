"""A model that says what a test tells it to, when the test tells it to."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from dataclasses import fields

from lsp_server.core.prompt import Style
from lsp_server.engine.errors import BackendError
from lsp_server.engine.ports import Delta, Event, Finish, Request, Task, Usage


class Call:
    """One request that reached the model. `closed` says that the caller let go of it before its end."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.closed = False
        self.ended = False
        self._events: asyncio.Queue[Event | BackendError] = asyncio.Queue()

    def say(self, *texts: str, logprob: float | None = None) -> None:
        """Stream each text as one delta."""
        for text in texts:
            self._events.put_nowait(Delta(text, () if logprob is None else (logprob,)))

    def finish(self, *texts: str, reason: str = "stop") -> None:
        """Stream each text, then end the answer."""
        self.say(*texts)
        self._events.put_nowait(Finish(reason, Usage(10, 0, len(texts))))  # type: ignore[arg-type]

    def fail(self, error: BackendError) -> None:
        """End the stream with an error."""
        self._events.put_nowait(error)

    @property
    def text(self) -> str:
        """All of the prompt in the order in which a model reads it."""
        prompt = self.request.prompt
        return "".join(str(getattr(prompt, field.name)) for field in fields(prompt))

    async def events(self) -> AsyncGenerator[Event, None]:
        try:
            while True:
                event = await self._events.get()
                if isinstance(event, BackendError):
                    self.ended = True
                    raise event
                if isinstance(event, Finish):
                    self.ended = True
                yield event
                if self.ended:
                    return
        finally:
            self.closed = not self.ended
            self.ended = True


class ScriptedModel:
    """A Backend. Calls are answered by hand, or from `script`: one list of deltas a call."""

    def __init__(
        self, script: Iterable[Iterable[str]] = (), *, style: Style | None = None, name: str = "scripted"
    ) -> None:
        self.name = name
        self.style = style or Style("chat")
        self.calls: list[Call] = []
        self.warmed: list[Request] = []
        self.warms_up_slowly = False
        self._script = [list(deltas) for deltas in script]

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        call = Call(request)
        self.calls.append(call)
        if self._script:
            call.finish(*self._script.pop(0))
        stream = call.events()
        try:
            async for event in stream:
                yield event
        finally:
            await stream.aclose()

    async def warm(self, request: Request) -> None:
        self.warmed.append(request)
        if self.warms_up_slowly:
            await asyncio.Event().wait()

    async def close(self) -> None:
        pass

    @property
    def open_calls(self) -> list[Call]:
        """The calls that still stream."""
        return [call for call in self.calls if not call.ended]


class OneModel:
    """The `Models` of an assistant that has one model."""

    def __init__(self, model: ScriptedModel) -> None:
        self.model = model

    def backend(self, task: Task, name: str = "") -> ScriptedModel:
        return self.model

    def name_of(self, task: Task) -> str:
        return self.model.name
