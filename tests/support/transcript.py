"""Golden transcripts: JSON Lines of `{"dir": ">" or "<", "frame": ...}`, `>` sent by the client.

The first line, `{"expect": {"text": ..., "end": ...}}`, says what comes of it. The frame of a WebSocket
transcript is the decoded JSON; one that is a string is sent as it is, and a number closes the
connection with this code. One file serves the codec alone and the whole client on loopback.
`UPDATE_GOLDEN=1` writes what the client sent instead of comparing it.
"""

import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from websockets.asyncio.server import ServerConnection, serve

Fragments = Sequence[int]
"""Where a frame's bytes are cut into fragments, as sizes; empty leaves it whole."""


@dataclass(frozen=True, slots=True)
class Line:
    sent: bool
    frame: Any


@dataclass(slots=True)
class Replay:
    """A server that plays the received half of a transcript, and keeps what it was sent."""

    url: str
    received: list[Any] = field(default_factory=list)


def load(path: Path) -> list[Line]:
    _, *lines = _rows(path)
    return [Line(line["dir"] == ">", line["frame"]) for line in lines]


def expected(path: Path) -> tuple[str, str]:
    """The text that arrives, and how it ends: the reason of a `Finish`, or the name of an error."""
    expect = _rows(path)[0]["expect"]
    return expect["text"], expect["end"]


def check(path: Path, received: Sequence[Any]) -> None:
    """What was sent is what the transcript says."""
    if os.environ.get("UPDATE_GOLDEN"):
        fresh = iter(received)
        rows = [row | {"frame": next(fresh)} if row.get("dir") == ">" else row for row in _rows(path)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        assert list(received) == [line.frame for line in load(path) if line.sent]


def pieces(data: bytes, sizes: Fragments) -> list[bytes]:
    """The bytes in consecutive pieces of these sizes, over and over."""
    cut, at, turn = [], 0, 0
    while at < len(data):
        size = sizes[turn % len(sizes)] if sizes else len(data)
        cut.append(data[at : at + size])
        at, turn = at + size, turn + 1
    return cut


def cuts() -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(1, 40), max_size=6)


@asynccontextmanager
async def replay(lines: Sequence[Line], sizes: Fragments = ()) -> AsyncIterator[Replay]:
    """Serve a transcript on every connection; frames go out in fragments of these sizes."""

    async def play(socket: ServerConnection) -> None:
        for line in lines:
            if line.sent:
                frame = await socket.recv()
                server.received.append(json.loads(frame))
            elif isinstance(line.frame, int):
                await socket.close(line.frame)
            else:
                text = (
                    line.frame if isinstance(line.frame, str) else json.dumps(line.frame, ensure_ascii=False)
                )
                await socket.send(pieces(text.encode(), sizes), text=True)
        await socket.wait_closed()

    async with serve(play, "127.0.0.1", 0, compression=None, close_timeout=1, max_size=None) as listening:
        port = next(iter(listening.sockets)).getsockname()[1]
        server = Replay(f"ws://127.0.0.1:{port}/v1/responses")
        yield server


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
