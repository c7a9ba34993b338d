"""An editor on stdio that notes when what was sent and when what came back."""

import asyncio
import itertools
import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic_ns as now
from typing import Any

HERE = Path(__file__).resolve().parents[2]
FLOOR = Path(__file__).with_name("floor.py")
URI = "file:///bench/table.py"
CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {"inlineCompletion": {}, "synchronization": {}},
    "workspace": {"workspaceEdit": {"documentChanges": True}, "applyEdit": True},
    "experimental": {"midstream": {"retrigger": True, "status": True, "ended": True}},
}


def source(lines: int) -> list[str]:
    """Python code of so many lines, and one more in the middle that waits for an expression."""
    text = ["import os", "", ""]
    for number in itertools.count(1):
        if len(text) >= lines:
            break
        text += [
            f"def load_part_{number}(path, limit={number}):",
            f'    """Read part {number} of the table at path."""',
            "    rows = []",
            "    for name in sorted(os.listdir(path))[:limit]:",
            f"        rows.append((name, len(name) * {number}))",
            "    return rows",
            "",
            "",
        ]
    return text[:lines]


@dataclass(eq=False)
class Reply:
    """One request under way; `done` is when its answer was read, `partial` when the first part of one was."""

    number: int
    sent: int
    done: int = 0
    partial: int = 0
    result: Any = None
    error: Any = None
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self, seconds: float = 10.0) -> bool:
        try:
            await asyncio.wait_for(self.arrived.wait(), seconds)
        except TimeoutError:
            return False
        return True


class Client:
    """One server process with one open document, and a cursor in it."""

    def __init__(self, process: asyncio.subprocess.Process, started: int) -> None:
        self.process = process
        self.started = started
        self.initialized = 0
        self.notes: list[tuple[int, str, Any]] = []
        self.requests: list[tuple[int, str, Any]] = []
        self.lines: list[str] = []
        self.version = 1
        self.row = self.column = 0
        self.answer: Any = None
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Reply] = {}
        self._reader = asyncio.create_task(self._read())

    @property
    def pid(self) -> int:
        return self.process.pid

    def send(self, *messages: dict[str, Any]) -> int:
        """All in one write, as an editor may; when it was."""
        bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
        data = b"".join(b"Content-Length: %d\r\n\r\n" % len(body) + body for body in bodies)
        assert self.process.stdin
        sent = now()
        self.process.stdin.write(data)
        return sent

    def request(self, method: str, params: Any) -> Reply:
        reply, message = self._prepare(method, params)
        reply.sent = self.send(message)
        return reply

    def notify(self, method: str, params: Any) -> int:
        return self.send({"method": method, "params": params})

    def open(self, lines: int) -> None:
        """Open a document of so many lines; the cursor waits behind an unfinished statement in its middle."""
        self.lines = source(lines)
        self.row = self.lines.index("    rows = []", lines // 2) + 1
        self.lines.insert(self.row, "    value = ")
        self.column = len(self.lines[self.row])
        text = "\n".join(self.lines) + "\n"
        document = {"uri": URI, "languageId": "python", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def key(
        self, text: str = "q", *, ask: str | None = "invoked", cancel: Reply | None = None
    ) -> tuple[int, Reply | None]:
        """Type, cancel the older request, and ask anew, in one write; `ask` is invoked, automatic or None."""
        place = {"line": self.row, "character": self.column}
        self.version += 1
        self.column += len(text)
        line = self.lines[self.row]
        self.lines[self.row] = line + text
        changes = [{"range": {"start": place, "end": place}, "text": text}]
        document = {"uri": URI, "version": self.version}
        messages: list[dict[str, Any]] = [
            {
                "method": "textDocument/didChange",
                "params": {"textDocument": document, "contentChanges": changes},
            }
        ]
        if cancel is not None and not cancel.arrived.is_set():
            messages.append({"method": "$/cancelRequest", "params": {"id": cancel.number}})
        reply = None
        if ask:
            params = {
                "textDocument": {"uri": URI},
                "position": {"line": self.row, "character": self.column},
                "context": {"triggerKind": 1 if ask == "invoked" else 2},
            }
            reply, message = self._prepare("textDocument/inlineCompletion", params)
            message["params"]["partialResultToken"] = reply.number
            messages.append(message)
        sent = self.send(*messages)
        if reply is not None:
            reply.sent = sent
        return sent, reply

    def cancel(self, reply: Reply) -> int:
        return self.notify("$/cancelRequest", {"id": reply.number})

    def _prepare(self, method: str, params: Any) -> tuple[Reply, dict[str, Any]]:
        reply = Reply(next(self._numbers), now())
        self._waiting[reply.number] = reply
        return reply, {"id": reply.number, "method": method, "params": params}

    async def _read(self) -> None:
        stream = self.process.stdout
        assert stream
        while line := await stream.readline():
            size = int(line.partition(b":")[2])
            while (await stream.readline()).strip():
                pass
            message = json.loads(await stream.readexactly(size))
            self._take(message, now())

    def _take(self, message: dict[str, Any], when: int) -> None:
        if "method" not in message:
            reply = self._waiting.pop(message["id"], None)
            if reply is not None:
                reply.done, reply.result, reply.error = when, message.get("result"), message.get("error")
                reply.arrived.set()
        elif "id" in message:
            self.requests.append((when, message["method"], message["params"]))
            result = self.answer(message) if self.answer else None
            self.send({"id": message["id"], "result": result})
        else:
            self.notes.append((when, message["method"], message.get("params")))
            if message["method"] == "$/progress":
                waiting = self._waiting.get(message["params"]["token"])
                if waiting is not None:
                    waiting.partial = waiting.partial or when

    async def end(self) -> None:
        self._reader.cancel()
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGKILL)
        await self.process.wait()


def ours(port: int, **settings: Any) -> tuple[list[str], dict[str, Any]]:
    """The command of our server, and its options for the fake model."""
    model = {
        "protocol": "responses-ws",
        "url": f"http://127.0.0.1:{port}/v1",
        "model": "m",
        "cancel": settings.pop("cancel", "event"),
    }
    tasks = dict.fromkeys(("complete", "edit", "explain", "escalate"), "bench")
    return [sys.executable, "-m", "lsp_server", "serve"], {
        "models": {"bench": model},
        "tasks": tasks,
        **settings,
    }


def floor(port: int) -> tuple[list[str], dict[str, Any]]:
    return [sys.executable, str(FLOOR), f"http://127.0.0.1:{port}"], {}


UNUSUAL = {"PYTHONDONTWRITEBYTECODE"}
"""What a user's environment does not have, and what would have each start compile everything anew."""


@asynccontextmanager
async def running(
    server: tuple[list[str], dict[str, Any]],
    lines: int = 0,
    capabilities: Mapping[str, Any] = CAPABILITIES,
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[Client]:
    """A fresh server that was initialized, with a document of `lines` lines when there are any."""
    command, options = server
    with tempfile.TemporaryDirectory(prefix="midstream-bench-") as folder:
        named = {"MIDSTREAM_USAGE_FILE": f"{folder}/usage", "MIDSTREAM_CONFIG": f"{folder}/config.toml"}
        dropped = {name for name in os.environ if name.lower().endswith("_proxy")} | UNUSUAL
        kept = {name: value for name, value in os.environ.items() if name not in dropped}
        started = now()
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=kept | named | dict(environment or {}),
            cwd=HERE,
            limit=1 << 26,
        )
        client = Client(process, started)
        try:
            params = {
                "processId": os.getpid(),
                "rootUri": None,
                "capabilities": capabilities,
                "initializationOptions": options,
            }
            reply = client.request("initialize", params)
            if not await reply.wait(60):
                raise RuntimeError(f"no answer to initialize from {command}")
            client.initialized = reply.done
            client.notify("initialized", {})
            if lines:
                client.open(lines)
                await quiet(client.pid)
            yield client
        finally:
            await client.end()


async def quiet(pid: int, seconds: float = 20.0) -> None:
    """Wait until a process has used no processor time for a quarter of a second."""
    from bench.harness.measure import cpu

    last, calm = -1.0, 0
    for _ in range(int(seconds / 0.05)):
        used = cpu(pid)
        calm = calm + 1 if used - last < 0.5 else 0
        last = used
        if calm >= 5:
            return
        await asyncio.sleep(0.05)
