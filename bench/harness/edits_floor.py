"""The least servers that edit: what a round trip of an edit takes with the bench's client.

One always has an edit ready. One that is started with the URL of a model as well hears all of an answer, with
the library that ours uses, and puts it into the buffer as one edit when it has ended.
"""

import asyncio
import json
import sys
from typing import Any

from websockets.asyncio.client import connect

URI, EDITS = sys.argv[1], 50
MODEL = sys.argv[2] if len(sys.argv) > 2 else None


def edit(version: int, text: str = "rows_1 = names(sizes, 12)\n") -> dict[str, Any]:
    place = {"line": 0, "character": 0}
    edits = [{"range": {"start": place, "end": place}, "newText": text}]
    changes = [{"textDocument": {"uri": URI, "version": version}, "edits": edits}]
    return {"label": "edit", "edit": {"documentChanges": changes}}


async def hear(url: str) -> str:
    parts = []
    async with connect(url, compression=None) as socket:
        await socket.send(json.dumps({"type": "response.create", "model": "m", "input": "?"}))
        async for message in socket:
            event = json.loads(message)
            if event["type"] == "response.completed":
                break
            parts.append(event.get("delta", ""))
    return "".join(parts)


async def main() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 26)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    out, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, sys.stdout.buffer)

    def send(message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        out.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)

    version = left = command = 0
    while line := await reader.readline():
        await reader.readexactly(2)
        message = json.loads(await reader.readexactly(int(line.partition(b":")[2])))
        match message.get("method"):
            case "initialize":
                send({"id": message["id"], "result": {"capabilities": {}}})
            case "textDocument/didOpen" | "textDocument/didChange":
                version = message["params"]["textDocument"]["version"]
            case "workspace/executeCommand" if MODEL:
                command, text = message["id"], await hear(MODEL)
                send({"id": 1, "method": "workspace/applyEdit", "params": edit(version, text)})
            case "workspace/executeCommand":
                command, left = message["id"], EDITS
                send({"id": left, "method": "workspace/applyEdit", "params": edit(version)})
            case None if left > 1:
                left -= 1
                send({"id": left, "method": "workspace/applyEdit", "params": edit(version)})
            case None:
                send({"id": command, "result": None})


asyncio.run(main())
