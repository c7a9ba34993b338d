"""A generator without a model, and a raw client for the face in front of it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from lsp_server.local.answers import Done, Generate, Hangup, Piece, Refused
from lsp_server.local.face import Face
from lsp_server.local.session import Rules
from lsp_server.wire.answer import TokenLogprob
from lsp_server.wire.client import Usage
from lsp_server.wire.errors import ErrorFrame
from lsp_server.wire.server import Create

TOKEN = "secret"
HOST_RULES = Rules(supersedes=True, cancels=True)


class Script:
    """A generator that says the words of the request back, each after a gate where it has one."""

    def __init__(self) -> None:
        self.seen: list[Create] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.began: dict[str, asyncio.Event] = {}
        self.freed: list[str] = []

    def gate(self, word: str) -> asyncio.Event:
        self.gates[word] = asyncio.Event()
        self.began[word] = asyncio.Event()
        return self.gates[word]

    async def __call__(self, create: Create) -> AsyncIterator[Piece | Done | str]:
        self.seen.append(create)
        text = create.messages[-1].text if create.messages else ""
        words = text.split()
        if not create.generate:
            yield Done(usage=Usage(input_tokens=len(words)))
            return
        for word in words[: create.max_output_tokens]:
            if word in self.gates:
                self.began[word].set()
                try:
                    await self.gates[word].wait()
                except asyncio.CancelledError:
                    self.freed.append(word)
                    raise
            match word:
                case "REFUSE":
                    raise Refused(ErrorFrame("model_not_found", "No such model.", "model"))
                case "BREAK":
                    raise RuntimeError("broken pipe of thought")
                case "HANGUP":
                    raise Hangup(1012)
                case "DROP":
                    raise Hangup(1006)
                case "RAW":
                    yield '{"type": "codex.rate_limits"}'
                case _:
                    yield Piece(word + " ", (TokenLogprob(word, -0.5),))
        cut = create.max_output_tokens is not None and create.max_output_tokens < len(words)
        usage = Usage(input_tokens=3, cached_tokens=1, output_tokens=len(words))
        yield Done("length" if cut else "stop", usage, {"prefill_ms": 1.5})


@asynccontextmanager
async def face(
    script: Generate, rules: Rules = HOST_RULES, status: Callable[[], dict[str, Any]] = dict
) -> AsyncIterator[tuple[Face, ClientConnection]]:
    async with Face(script, token=TOKEN, rules=rules, status=status) as opened, client(opened) as socket:
        yield opened, socket


def client(opened: Face, **headers: str) -> Any:
    wanted = {"Authorization": f"Bearer {TOKEN}"} | headers
    return connect(f"{opened.url}/responses", additional_headers=wanted, proxy=None, compression=None)


async def ask(socket: ClientConnection, text: str, **fields: Any) -> None:
    await socket.send(json.dumps({"type": "response.create", "model": "m", "input": text, **fields}))


async def answer(socket: ClientConnection) -> list[dict[str, Any]]:
    """Events up to the next one that ends an answer."""
    events: list[dict[str, Any]] = []
    while not events or events[-1]["type"] not in TERMINAL:
        events.append(json.loads(await socket.recv()))
    return events


TERMINAL = ("response.completed", "response.incomplete", "response.failed", "error")


def said(events: list[dict[str, Any]]) -> str:
    return "".join(event["delta"] for event in events if event["type"].endswith("text.delta"))
