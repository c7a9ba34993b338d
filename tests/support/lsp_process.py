"""The server as an editor starts it, and a client that knows nothing but JSON and headers."""

import asyncio
import contextlib
import itertools
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from lsp_server.core.text import Encoding
from tests.support.fake_buffer import range_of
from tests.support.marked import Marked, parse
from tests.support.model_server import TOKEN, ModelServer

INLINE = "textDocument/inlineCompletion"
CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {"inlineCompletion": {}, "synchronization": {}},
    "workspace": {"workspaceEdit": {"documentChanges": True}, "applyEdit": True},
}


class LspProcess:
    """One running server. `messages` keeps everything that came and was not a reply."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._ids = itertools.count(1)
        self._waiting: dict[int | str, asyncio.Future[dict[str, Any]]] = {}
        self.messages: list[dict[str, Any]] = []
        self._arrived = asyncio.Event()
        self.stray: bytes = b""
        self.process: asyncio.subprocess.Process | None = None
        self.texts: dict[str, tuple[int, str]] = {}
        self._pump = asyncio.create_task(self._read())

    async def request(self, method: str, params: Any = None) -> Any:
        """The result. Raises RuntimeError with the error's code and message."""
        return await self.send(method, params)[1]

    def send(self, method: str, params: Any = None) -> tuple[int, "asyncio.Task[Any]"]:
        """Send a request; its id, and a task that ends with its result."""
        number = next(self._ids)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        self.write({"id": number, "method": method, "params": params})
        return number, asyncio.create_task(self._result(number))

    def notify(self, method: str, params: Any = None) -> None:
        self.write({"method": method, "params": params})

    def reply(self, message: dict[str, Any], result: Any) -> None:
        self.write({"id": message["id"], "result": result})

    def write(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def write_raw(self, data: bytes) -> None:
        self._writer.write(data)

    async def message(self, method: str, count: int = 1) -> dict[str, Any]:
        """The `count`th message of this method that the server sent by itself."""
        while True:
            found = [message for message in self.messages if message.get("method") == method]
            if len(found) >= count:
                return found[count - 1]
            self._arrived.clear()
            await self._arrived.wait()

    async def initialize(
        self,
        options: Mapping[str, Any] | None = None,
        capabilities: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        result = await self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": None,
                "capabilities": capabilities or CAPABILITIES,
                "initializationOptions": options,
                **more,
            },
        )
        self.notify("initialized", {})
        return dict(result)

    def open(self, uri: str, source: str, language: str = "python") -> Marked:
        """Open a document with marks in it."""
        marked = parse(source)
        self.texts[uri] = (1, marked.text)
        self.notify(
            "textDocument/didOpen",
            {"textDocument": {"uri": uri, "languageId": language, "version": 1, "text": marked.text}},
        )
        return marked

    def replace(self, uri: str, start: int, end: int, text: str) -> None:
        """The user changes the buffer: one incremental didChange."""
        version, before = self.texts[uri]
        self.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": uri, "version": version + 1},
                "contentChanges": [{"range": self.range(uri, start, end), "text": text}],
            },
        )
        self.texts[uri] = (version + 1, before[:start] + text + before[end:])

    def range(self, uri: str, start: int, end: int) -> dict[str, Any]:
        where = range_of(self.texts[uri][1], start, end, Encoding.UTF16)
        return {
            "start": {"line": where.start.line, "character": where.start.character},
            "end": {"line": where.end.line, "character": where.end.character},
        }

    def ask(self, uri: str, offset: int, *, kind: int = 1, **context: Any) -> tuple[int, "asyncio.Task[Any]"]:
        """Send an inline completion request."""
        return self.send(INLINE, self.asked(uri, offset, kind=kind, **context))

    def asked(self, uri: str, offset: int, *, kind: int = 1, **context: Any) -> dict[str, Any]:
        return {
            "textDocument": {"uri": uri},
            "position": self.range(uri, offset, offset)["start"],
            "context": {"triggerKind": kind, **context},
        }

    async def quit(self) -> int:
        """An orderly end; the exit status. Fails when anything but messages was on stdout."""
        await self.request("shutdown")
        self.notify("exit")
        return await self.gone()

    async def gone(self) -> int:
        status = await self.process.wait() if self.process else 0
        await self._pump
        assert not self.stray, f"stray bytes on stdout: {self.stray[:200]!r}"
        return status

    def hang_up(self) -> None:
        self._writer.close()

    async def _result(self, number: int) -> Any:
        reply = await self._waiting[number]
        if "error" in reply:
            raise RuntimeError(f"{reply['error']['code']}: {reply['error']['message']}")
        return reply["result"]

    async def _read(self) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                header = await self._reader.readuntil(b"\r\n\r\n")
                name, _, length = header.partition(b"\r\n")[0].partition(b": ")
                if name != b"Content-Length":
                    self.stray += header
                    return
                message = json.loads(await self._reader.readexactly(int(length)))
                waiter = self._waiting.get(message.get("id")) if "method" not in message else None
                if waiter is not None:
                    assert not waiter.done(), f"request {message['id']} was answered twice"
                    waiter.set_result(message)
                else:
                    self.messages.append(message)
                    self._arrived.set()
        for waiter in self._waiting.values():
            if not waiter.done():
                waiter.cancel()


@contextlib.asynccontextmanager
async def running_server(
    *arguments: str, environment: Mapping[str, str] | None = None
) -> AsyncIterator[LspProcess]:
    """`python -m lsp_server serve` over stdio; it is ended with its context."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "lsp_server",
        "serve",
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "MIDSTREAM_TEST_KEY": TOKEN, **(environment or {})},
        limit=1 << 26,
    )
    assert process.stdin and process.stdout and process.stderr
    errors = asyncio.create_task(process.stderr.read())
    client = LspProcess(process.stdout, process.stdin)
    client.process = process
    try:
        yield client
        client.hang_up()
        await asyncio.wait_for(process.wait(), 20)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        process._transport.close()  # type: ignore[attr-defined]
        said = (await errors).decode()
        await asyncio.wait([client._pump])
        for waiter in client._waiting.values():
            waiter.cancel()
    assert "Traceback" not in said, said
    client.stderr = said  # type: ignore[attr-defined]


def options_for(server: ModelServer, **settings: Any) -> dict[str, Any]:
    """initializationOptions that send every task to the model server, without a debounce."""
    return {
        "models": {
            "test": {
                "protocol": "responses-ws",
                "url": server.face.url,
                "model": "scripted",
                "key": "env:MIDSTREAM_TEST_KEY",
                "cancel": "event",
            }
        },
        "tasks": {"complete": "test", "edit": "test", "explain": "test", "escalate": "test"},
        "complete": {"debounce": 0},
        **settings,
    }
