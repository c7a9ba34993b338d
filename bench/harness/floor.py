"""The least server that streams ghost text: the floor to compare with, not a product.

No debounce, no cache, no checks, whole documents as lists of lines. A change or a cancel closes the HTTP
connection of the request at once. Started with the URL of a `/v1/completions` host.
"""

import asyncio
import json
import sys
from typing import Any
from urllib.parse import urlsplit

URL = urlsplit(sys.argv[1])
DOCUMENTS: dict[str, list[str]] = {}
JOBS: dict[int, "asyncio.Task[None]"] = {}


def send(out: asyncio.WriteTransport, message: dict[str, Any]) -> None:
    data = json.dumps({"jsonrpc": "2.0", **message}).encode()
    out.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)


def index(line: str, character: int) -> int:
    if line.isascii():
        return character
    return len(line.encode("utf-16-le")[: 2 * character].decode("utf-16-le", "ignore"))


def change(lines: list[str], change: dict[str, Any]) -> None:
    start, end = change["range"]["start"], change["range"]["end"]
    head, tail = lines[start["line"]], lines[end["line"]]
    text = head[: index(head, start["character"])] + change["text"] + tail[index(tail, end["character"]) :]
    lines[start["line"] : end["line"] + 1] = text.split("\n")


async def complete(out: asyncio.WriteTransport, number: int, params: dict[str, Any]) -> None:
    writer = None
    try:
        lines, place = DOCUMENTS[params["textDocument"]["uri"]], params["position"]
        line = lines[place["line"]]
        cut = index(line, place["character"])
        prefix = "\n".join([*lines[max(0, place["line"] - 60) : place["line"]], line[:cut]])
        suffix = "\n".join([line[cut:], *lines[place["line"] + 1 : place["line"] + 20]])
        body = json.dumps({"model": "m", "stream": True, "prompt": prefix, "suffix": suffix}).encode()
        reader, writer = await asyncio.open_connection(URL.hostname, URL.port, limit=1 << 20)
        writer.write(
            b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )
        text, token = "", params.get("partialResultToken")
        while (raw := await reader.readline()) != b"data: [DONE]\n":
            if raw.startswith(b"data: "):
                text += json.loads(raw[6:])["choices"][0]["text"]
                if token is not None:
                    value = {"items": [{"insertText": text}]}
                    send(out, {"method": "$/progress", "params": {"token": token, "value": value}})
        send(out, {"id": number, "result": {"items": [{"insertText": text}]}})
    except asyncio.CancelledError:
        send(out, {"id": number, "error": {"code": -32800, "message": "cancelled"}})
    finally:
        JOBS.pop(number, None)
        if writer is not None:
            writer.transport.abort()


def handle(out: asyncio.WriteTransport, message: dict[str, Any]) -> None:
    params = message.get("params") or {}
    match message.get("method"):
        case "initialize":
            capabilities = {"textDocumentSync": {"openClose": True, "change": 2}}
            send(out, {"id": message["id"], "result": {"capabilities": capabilities}})
        case "textDocument/didOpen":
            DOCUMENTS[params["textDocument"]["uri"]] = params["textDocument"]["text"].split("\n")
        case "textDocument/didChange":
            for job in list(JOBS.values()):
                job.cancel()
            for each in params["contentChanges"]:
                change(DOCUMENTS[params["textDocument"]["uri"]], each)
        case "textDocument/inlineCompletion":
            JOBS[message["id"]] = asyncio.ensure_future(complete(out, message["id"], params))
        case "$/cancelRequest":
            if params["id"] in JOBS:
                JOBS[params["id"]].cancel()
        case "exit":
            sys.exit(0)
        case _ if "id" in message:
            send(out, {"id": message["id"], "result": None})


async def main() -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 26)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    out, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, sys.stdout.buffer)
    while line := await reader.readline():
        size = int(line.partition(b":")[2])
        await reader.readexactly(2)
        handle(out, json.loads(await reader.readexactly(size)))


asyncio.run(main())
