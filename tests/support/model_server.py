"""A real WebSocket server that plays scripts: the face of the local host with a test behind it.

async with ModelServer() as server:
    server.always("hel", "lo")              # every request gets this answer
    ...
    turn = await server.turn()              # or take each request in hand
    turn.say("hel")
    turn.finish()
"""

import asyncio
import itertools
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Literal

from lsp_server.local.answers import Done, Hangup, Piece, Refused
from lsp_server.local.face import Face
from lsp_server.local.session import Rules
from lsp_server.wire.answer import TokenLogprob
from lsp_server.wire.client import Usage
from lsp_server.wire.errors import ErrorFrame
from lsp_server.wire.server import Create

TOKEN = "token-of-the-tests"

Item = Piece | Done | str | Exception


@dataclass(eq=False)
class Turn:
    """One request in the test's hands. `closed` is set when its generator ended, however it ended."""

    create: Create
    finished: bool = False
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    items: asyncio.Queue[Item] = field(default_factory=asyncio.Queue)

    @property
    def text(self) -> str:
        """All that the client wrote: the turns of the conversation, or the variables of the prompt."""
        parts = [message.text for message in self.create.messages]
        return "".join([*parts, *self.create.prompt_variables.values()])

    @property
    def cancelled(self) -> bool:
        return self.closed.is_set() and not self.finished

    def say(self, *pieces: str, logprob: float | None = None) -> None:
        for piece in pieces:
            probable = () if logprob is None else (TokenLogprob(piece, logprob),)
            self.items.put_nowait(Piece(piece, probable))

    def frame(self, frame: str) -> None:
        """Send a frame as it is."""
        self.items.put_nowait(frame)

    def finish(
        self,
        reason: Literal["stop", "length", "filter"] = "stop",
        usage: Usage | None = None,
        timings: dict[str, float] | None = None,
    ) -> None:
        self.items.put_nowait(Done(reason, usage or Usage(), timings or {}))

    def refuse(self, frame: ErrorFrame) -> None:
        self.items.put_nowait(Refused(frame))

    def hang_up(self, code: int = 1006) -> None:
        """Close the connection with this code; 1006 drops it without a word."""
        self.items.put_nowait(Hangup(code))


class ModelServer:
    """Serves on 127.0.0.1 with the bearer token `TOKEN`. Cancels on `response.cancel` by default."""

    def __init__(self, rules: Rules | None = None) -> None:
        self.turns: list[Turn] = []
        self.most_running = 0
        self.holds_warm_ups = False
        self._scripts: list[tuple[str, ...]] = []
        self._always: tuple[str, ...] | None = None
        self._new: asyncio.Queue[Turn] = asyncio.Queue()
        self.face = Face(self._generate, token=TOKEN, rules=rules or Rules(cancels=True))

    async def __aenter__(self) -> "ModelServer":
        await self.face.__aenter__()
        return self

    async def __aexit__(self, *details: object) -> None:
        await self.face.__aexit__(*details)

    @property
    def port(self) -> int:
        return self.face.port

    @property
    def url(self) -> str:
        """The full URL of the Responses WebSocket."""
        return f"{self.face.url}/responses"

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {TOKEN}"}

    @property
    def running(self) -> int:
        """Answers that are being generated now."""
        return sum(not turn.closed.is_set() for turn in self.turns)

    def always(self, *pieces: str) -> None:
        """Answer every further request at once with these pieces."""
        self._always = pieces

    def next(self, *pieces: str) -> None:
        """Answer one further request with these pieces; several calls queue up."""
        self._scripts.append(pieces)

    async def turn(self) -> Turn:
        """The next request that no script answers."""
        return await self._new.get()

    async def _generate(self, create: Create) -> AsyncGenerator[Piece | Done | str, None]:
        turn = Turn(create)
        self.turns.append(turn)
        self.most_running = max(self.most_running, self.running)
        script = self._scripts.pop(0) if self._scripts and create.generate else self._always
        if not create.generate and not self.holds_warm_ups:
            turn.finish()
        elif script is not None and create.generate:
            turn.say(*script)
            turn.finish(usage=Usage(output_tokens=len(script)))
        else:
            self._new.put_nowait(turn)
        try:
            for left in itertools.count():
                if left == create.max_output_tokens:
                    turn.finished = True
                    yield Done("length", Usage(output_tokens=left))
                    return
                item = await turn.items.get()
                turn.finished = not isinstance(item, Piece | str)
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            turn.closed.set()
