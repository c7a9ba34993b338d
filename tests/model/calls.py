"""Requests to a `Connection`, and what becomes of them."""

import asyncio
from contextlib import aclosing

from lsp_server.model.connection import Connection
from lsp_server.model.lane import Call
from lsp_server.wire.client import Ended, TextDelta, create_frame


def call(text: str = "x", *, continues: str | None = None, provides: str | None = None) -> Call:
    def build(lane: str | None, parent: str | None) -> str:
        return create_frame(
            "m", input=text, lane=lane, previous_response_id=parent, generate=provides is None
        )

    return Call(build, continues, provides)


async def answer(connection: Connection, request: Call | None = None, *, long: bool = False) -> str:
    """The whole text of one answer; fails unless the answer ended well."""
    text, ended = "", False
    async with aclosing(connection.stream(request or call(), first_token=10, long=long)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                text += event.text
            ended = isinstance(event, Ended)
    assert ended
    return text


def ask(connection: Connection, request: Call | None = None, *, long: bool = False) -> asyncio.Task[str]:
    return asyncio.create_task(answer(connection, request, long=long))


async def cancelled(task: asyncio.Task[str]) -> None:
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
