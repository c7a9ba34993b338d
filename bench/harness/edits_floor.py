"""A server that always has an edit ready: what a round trip of an edit takes with the bench's client."""

import asyncio
import json
import sys
from typing import Any

URI, EDITS = sys.argv[1], 50


def edit(version: int) -> dict[str, Any]:
    place = {"line": 0, "character": 0}
    edits = [{"range": {"start": place, "end": place}, "newText": "rows_1 = names(sizes, 12)\n"}]
    changes = [{"textDocument": {"uri": URI, "version": version}, "edits": edits}]
    return {"label": "edit", "edit": {"documentChanges": changes}}


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
            case "workspace/executeCommand":
                command, left = message["id"], EDITS
                send({"id": left, "method": "workspace/applyEdit", "params": edit(version)})
            case None if left > 1:
                left -= 1
                send({"id": left, "method": "workspace/applyEdit", "params": edit(version)})
            case None:
                send({"id": command, "result": None})


asyncio.run(main())
