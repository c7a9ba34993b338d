"""The whole server in the test's own process, between a JSON client and a scripted model."""

import asyncio
import contextlib
import json
import logging
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from typing import Any

from lsp_server.engine import logs
from lsp_server.engine.errors import Rejected
from lsp_server.engine.ports import Since, Status, Task
from lsp_server.lsp.dispatch import Intake
from lsp_server.lsp.server import Door, build
from lsp_server.lsp.transport import TransportWriter
from lsp_server.settings import Settings
from tests.support.lsp_client import LspClient
from tests.support.marked import Marked, parse
from tests.support.scripted_model import Call, ScriptedModel
from tests.support.virtual_time import turns

URI = "file:///w/a.py"
ANNOUNCED = {"experimental": {"midstream": {"applyPatch": True, "status": True, "ended": True}}}


class ScriptedModels:
    """The models of a session that has one, and remembers what it was told."""

    def __init__(self, model: ScriptedModel) -> None:
        self.model = model
        self.settings = Settings()
        self.tell: Callable[[Status], None] = lambda status: None
        self.ask: Callable[[str, int], Coroutine[Any, Any, bool]] | None = None
        self.taken: list[tuple[str, Task, Since]] = []
        self.asked_for: list[str] = []
        self.warmed = 0

    def backend(self, task: Task, name: str = "") -> ScriptedModel:
        if name not in ("", self.model.name, "deep"):
            raise Rejected(f"There is no model {name!r} in the settings.")
        if task != "complete":
            self.asked_for.append(name or task)
        return self.model

    def name_of(self, task: Task) -> str:
        return self.model.name

    def configure(
        self, settings: Settings, tell: Callable[[Status], None], warn: Callable[[str], None]
    ) -> None:
        self.settings, self.tell = settings, tell

    def warm(self) -> None:
        self.warmed += 1

    def asks(self, ask: Callable[[str, int], Coroutine[Any, Any, bool]]) -> None:
        self.ask = ask

    def accepted(self, model: str, task: Task, lead_ms: float, since: Since = "request") -> None:
        assert lead_ms >= 0
        self.taken.append((model, task, since))

    async def usage(self) -> dict[str, Any]:
        return {"today": None}

    async def doctor(self) -> dict[str, Any]:
        return {"ok": True, "checks": []}

    async def close(self) -> None:
        pass


class Desk(LspClient):
    """A client with what is behind its server. `source` is the document that was opened first."""

    source: Marked

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        door: Door,
        models: ScriptedModels,
    ) -> None:
        super().__init__(reader, writer)
        self.door, self.models = door, models

    @property
    def model(self) -> ScriptedModel:
        return self.models.model

    async def call(self, number: int = 0) -> Call:
        """The model's call of this number, once it has come."""
        while len(self.model.calls) <= number:
            await asyncio.sleep(0)
        return self.model.calls[number]

    async def accept(self, answer: Any, uri: str = URI) -> str:
        """Take the first item of an inline completion as the editor does; the text afterwards."""
        [item, *_] = answer["items"]
        start, end = self.offsets(uri, item["range"])
        self.replace(uri, start, end, item["insertText"])
        await self.command("midstream.accepted", *item["command"]["arguments"])
        return self.text(uri)


@contextlib.asynccontextmanager
async def desk(
    source: str | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    capabilities: Mapping[str, Any] | None = None,
    configuration: Any = None,
    encodings: tuple[str, ...] = ("utf-16",),
    environment: Mapping[str, str] | None = None,
    model: ScriptedModel | None = None,
    **more: Any,
) -> AsyncIterator[Desk]:
    """A client that is connected, with `source` open as `URI`. Everything is ended with the context."""
    with logging_restored():
        async with _desk(
            source, options, capabilities, configuration, encodings, environment, model, more
        ) as at:
            yield at


@contextlib.contextmanager
def logging_restored() -> Iterator[None]:
    """A session logs as its settings say; the tests' own logging is there again afterwards."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in logs.WIRE_LOGGERS}
    root.handlers[:] = []
    try:
        yield
    finally:
        root.handlers[:], root.level = before
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


@contextlib.asynccontextmanager
async def _desk(
    source: str | None,
    options: Mapping[str, Any] | None,
    capabilities: Mapping[str, Any] | None,
    configuration: Any,
    encodings: tuple[str, ...],
    environment: Mapping[str, str] | None,
    model: ScriptedModel | None,
    more: Mapping[str, Any],
) -> AsyncIterator[Desk]:
    models = ScriptedModels(model or ScriptedModel())
    door = build(lambda: models, {"MIDSTREAM_CONFIG": "/nonexistent", **(environment or {})})
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=theirs)
    door.server.protocol.set_writer(TransportWriter(writer.transport))
    serving = asyncio.create_task(serve(reader, Intake(door.server.protocol, door.ended)))
    client = Desk(*await asyncio.open_connection(sock=ours), door, models)
    client.configuration = configuration
    options = {"complete": {"debounce": 0}, **(options or {})}
    await client.initialize(options, client_capabilities(capabilities, encodings), **more)
    client.source = client.open(URI, source) if source is not None else parse("")
    try:
        yield client
        if not door.server.protocol.was_shut_down:
            await client.request("shutdown")
            client.notify("exit")
            await door.ended.wait()
        await turns(10)
        assert not models.model.open_calls
    finally:
        await door.close()
        client.hang_up()
        writer.close()
        await asyncio.wait([serving, client.pump])
        for end in (writer, client.writer):
            with contextlib.suppress(ConnectionError):
                await end.wait_closed()


async def serve(reader: asyncio.StreamReader, intake: Intake) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            intake(data)


def client_capabilities(more: Mapping[str, Any] | None, encodings: tuple[str, ...]) -> dict[str, Any]:
    """What most clients have, with `more` laid over it, group by group."""
    usual: dict[str, Any] = {
        "general": {"positionEncodings": list(encodings)},
        "textDocument": {"inlineCompletion": {}, "synchronization": {}},
        "workspace": {"workspaceEdit": {"documentChanges": True}, "applyEdit": True},
    }
    for group, value in (more or {}).items():
        usual[group] = {**usual.get(group, {}), **value}
    return json.loads(json.dumps(usual))  # type: ignore[no-any-return]
