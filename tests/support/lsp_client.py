"""A client that knows nothing but JSON and headers, and does what a server asks of it as VS Code does."""

import asyncio
import contextlib
import itertools
import json
from collections.abc import Callable, Mapping
from typing import Any

from lsp_server.core.text import Encoding, Position
from tests.support.fake_buffer import offset_of, range_of
from tests.support.marked import Marked, parse

INLINE = "textDocument/inlineCompletion"
CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {"inlineCompletion": {}, "synchronization": {}},
    "workspace": {"workspaceEdit": {"documentChanges": True}, "applyEdit": True},
}


class Refused(Exception):
    """What a client's handler raises to answer with an error of this code."""


class LspClient:
    """One connection. `messages` keeps everything that came and was not a reply.

    `serves` maps the server's requests to what answers them; without an entry a request stays unanswered.
    `configuration` is what the client has under `midstream`.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.messages: list[dict[str, Any]] = []
        self.stray: bytes = b""
        self.texts: dict[str, tuple[int, str]] = {}
        self.encoding = Encoding.UTF16
        self.configuration: Any = None
        self.announced: dict[str, Any] = {}
        self.edits: list[dict[str, Any]] = []
        self.serves: dict[str, Callable[[Any], Any]] = {
            "workspace/applyEdit": self._apply_edit,
            "midstream/applyPatch": self._apply_patch,
            "workspace/configuration": lambda params: [self.configuration for _ in params["items"]],
            "window/workDoneProgress/create": lambda params: None,
            "window/showDocument": lambda params: {"success": True},
        }
        self._ids = itertools.count(1)
        self._waiting: dict[int | str, asyncio.Future[dict[str, Any]]] = {}
        self._arrived = asyncio.Event()
        self.pump = asyncio.create_task(self._read())

    async def request(self, method: str, params: Any = None) -> Any:
        """The result. Raises RuntimeError with the error's code and message."""
        return await self.send(method, params)[1]

    def send(self, method: str, params: Any = None) -> tuple[int, "asyncio.Task[Any]"]:
        """Send a request; its id, and a task that ends with its result."""
        number = next(self._ids)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        self.write({"id": number, "method": method, "params": params})
        return number, asyncio.create_task(self._result(number))

    async def command(self, name: str, *arguments: Any, **fields: Any) -> Any:
        """Run a command with these arguments, or with one object of these fields."""
        return await self.start(name, *arguments, **fields)[1]

    def start(self, name: str, *arguments: Any, **fields: Any) -> tuple[int, "asyncio.Task[Any]"]:
        given = list(arguments) or ([fields] if fields else [])
        return self.send("workspace/executeCommand", {"command": name, "arguments": given})

    def notify(self, method: str, params: Any = None) -> None:
        self.write({"method": method, "params": params})

    def reply(self, message: dict[str, Any], result: Any) -> None:
        self.write({"id": message["id"], "result": result})

    def write(self, message: dict[str, Any]) -> None:
        self.write_body({"jsonrpc": "2.0", **message})

    def write_body(self, value: Any) -> None:
        """Frame any JSON."""
        body = json.dumps(value).encode()
        self.writer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def write_raw(self, data: bytes) -> None:
        self.writer.write(data)

    def came(self, method: str) -> list[Any]:
        """The parameters of all messages of this method so far."""
        return [message.get("params") for message in self.messages if message.get("method") == method]

    @property
    def told(self) -> list[str]:
        """What the user was shown so far."""
        return [params["message"] for params in self.came("window/showMessage")]

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
                "processId": None,
                "rootUri": None,
                "capabilities": capabilities or CAPABILITIES,
                "initializationOptions": options,
                **more,
            },
        )
        self.announced = result["capabilities"]
        self.encoding = Encoding(self.announced["positionEncoding"])
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

    def close(self, uri: str) -> None:
        self.texts.pop(uri, None)
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def text(self, uri: str) -> str:
        """The true text of the buffer."""
        return self.texts[uri][1]

    def replace(self, uri: str, start: int, end: int, text: str) -> None:
        """The user changes the buffer: one incremental didChange."""
        version, before = self.texts[uri]
        range_ = self.range(uri, start, end)
        self.texts[uri] = (version + 1, before[:start] + text + before[end:])
        self._report(uri, [{"range": range_, "text": text}])

    def range(self, uri: str, start: int, end: int) -> dict[str, Any]:
        where = range_of(self.texts[uri][1], start, end, self.encoding)
        return {
            "start": {"line": where.start.line, "character": where.start.character},
            "end": {"line": where.end.line, "character": where.end.character},
        }

    def offsets(self, uri: str, range_: Mapping[str, Any]) -> tuple[int, int]:
        """A range in code points."""
        text = self.texts[uri][1]
        start, end = (
            offset_of(text, Position(place["line"], place["character"]), self.encoding)
            for place in (range_["start"], range_["end"])
        )
        return start, end

    def ask(self, uri: str, offset: int, *, kind: int = 1, **context: Any) -> tuple[int, "asyncio.Task[Any]"]:
        """Send an inline completion request."""
        return self.send(INLINE, self.asked(uri, offset, kind=kind, **context))

    def asked(self, uri: str, offset: int, *, kind: int = 1, **context: Any) -> dict[str, Any]:
        return {
            "textDocument": {"uri": uri},
            "position": self.range(uri, offset, offset)["start"],
            "context": {"triggerKind": kind, **context},
        }

    def hang_up(self) -> None:
        self.writer.close()

    def give_up(self) -> None:
        """Stop waiting for replies that will not come."""
        for waiter in self._waiting.values():
            waiter.cancel()

    def _report(self, uri: str, changes: list[dict[str, Any]]) -> None:
        version, _ = self.texts[uri]
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes},
        )

    def _apply_edit(self, params: Any) -> Any:
        """Apply a workspace edit and report it before the answer; an edit for another version is dropped."""
        self.edits.append(params)
        edit = params["edit"]
        listed = [
            (each["textDocument"]["uri"], each["textDocument"]["version"], each["edits"])
            for each in edit.get("documentChanges", [])
        ] or [(uri, None, edits) for uri, edits in edit["changes"].items()]
        for uri, version, edits in listed:
            if uri not in self.texts or version not in (None, self.texts[uri][0]):
                return {"applied": False}
            for each in edits:
                self.replace(uri, *self.offsets(uri, each["range"]), each["newText"])
        return {"applied": True}

    def _apply_patch(self, params: Any) -> Any:
        self.edits.append(params)
        uri = params["uri"]
        if uri not in self.texts or self.texts[uri][0] != params["version"]:
            return {"applied": False}
        self.replace(uri, *self.offsets(uri, params["range"]), params["newText"])
        return {"applied": True}

    async def _result(self, number: int) -> Any:
        reply = await self._waiting[number]
        if "error" in reply:
            raise RuntimeError(f"{reply['error']['code']}: {reply['error']['message']}")
        return reply["result"]

    def _serve(self, message: dict[str, Any]) -> None:
        handler = self.serves.get(message["method"])
        if "id" not in message or handler is None:
            return
        try:
            self.reply(message, handler(message.get("params")))
        except Refused as refused:
            self.write({"id": message["id"], "error": {"code": refused.args[0], "message": "no"}})

    async def _read(self) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                header = await self.reader.readuntil(b"\r\n\r\n")
                name, _, length = header.partition(b"\r\n")[0].partition(b": ")
                if name != b"Content-Length":
                    self.stray += header
                    return
                message = json.loads(await self.reader.readexactly(int(length)))
                waiter = self._waiting.get(message.get("id")) if "method" not in message else None
                if waiter is not None:
                    assert not waiter.done(), f"request {message['id']} was answered twice"
                    waiter.set_result(message)
                    continue
                self.messages.append(message)
                self._arrived.set()
                if "method" in message:
                    self._serve(message)
        for waiter in self._waiting.values():
            if not waiter.done():
                waiter.cancel()
