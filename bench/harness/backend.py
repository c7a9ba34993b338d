"""A model that costs nothing: it answers at a set pace, and notes when each request came and went.

It speaks the Responses WebSocket (with `response.cancel` and `stream_id`) for our server and streamed
`/v1/completions` for the floor. Orders come as JSON lines on stdin and are answered on stdout. Times are
`time.monotonic_ns()`, which on Linux is one clock for every process.

With a certificate and a number it lies behind TLS and so many milliseconds of round trip.
"""

import asyncio
import base64
import hashlib
import json
import ssl
import sys
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, replace
from time import monotonic_ns as now
from typing import Any

from bench.harness.distance import distant

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


@dataclass(frozen=True, slots=True)
class Pace:
    """Milliseconds to the first piece and between pieces, and what is said: "" for a numbered call."""

    first: float = 30.0
    between: float = 10.0
    pieces: int = 8
    text: str = ""

    def words(self, number: int) -> list[str]:
        if self.text:
            size = -(-len(self.text) // self.pieces)
            return [self.text[at : at + size] for at in range(0, len(self.text), size)]
        words = [f"zq{number}_", "total", "(items", ", key", "=None", ", limit", "=42", ")"]
        return words[: self.pieces] + [f", a{n}=1" for n in range(self.pieces - len(words))]


@dataclass(slots=True)
class Record:
    """One request: `asked` is when all of it was read, `freed` when it was cancelled or cut off, `line` when
    the first line of the answer was complete."""

    number: int
    size: int
    asked: int
    first: int | None = None
    line: int | None = None
    last: int | None = None
    freed: int | None = None
    pieces: int = 0
    done: bool = False


class Backend:
    def __init__(self) -> None:
        self.pace = Pace()
        self.records: list[Record] = []
        self._number = 0

    def record(self, size: int) -> Record:
        self._number += 1
        record = Record(self._number, size, now())
        self.records.append(record)
        return record

    async def answer(self, record: Record) -> AsyncIterator[str]:
        """The pieces, as a token stream brings them: due at fixed times, late ones at once."""
        loop = asyncio.get_running_loop()
        pace, start = self.pace, loop.time()
        try:
            for index, word in enumerate(pace.words(record.number)):
                due = start + (pace.first + index * pace.between) / 1000
                if (wait := due - loop.time()) > 0 or index % 50 == 0:
                    await asyncio.sleep(max(0, wait))
                record.last = now()
                record.first = record.first or record.last
                record.line = record.line or (record.last if "\n" in word else None)
                record.pieces += 1
                yield word
            record.done = True
        finally:
            if not record.done:
                record.freed = record.freed or now()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            fields = {
                name.strip().lower(): value.strip()
                for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:])
            }
            if "sec-websocket-key" in fields:
                await self.websocket(fields["sec-websocket-key"], reader, writer)
            else:
                body = await reader.readexactly(int(fields["content-length"]))
                await self.completions(len(body), reader, writer)
                if fields.get("connection") == "keep-alive":
                    await self.serve(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def completions(
        self, size: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        record = self.record(size)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")

        async def speak() -> None:
            async for word in self.answer(record):
                writer.write(b"data: " + compact({"choices": [{"index": 0, "text": word}]}) + b"\n\n")
            writer.write(b"data: [DONE]\n\n")
            await writer.drain()

        speaking = asyncio.create_task(speak())
        gone = asyncio.create_task(reader.read(1))
        await asyncio.wait([speaking, gone], return_when=asyncio.FIRST_COMPLETED)
        if not record.done:
            record.freed = now()
        speaking.cancel()
        gone.cancel()
        await asyncio.gather(speaking, gone, return_exceptions=True)

    async def websocket(self, key: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        token = base64.b64encode(hashlib.sha1(key.encode() + GUID).digest())
        writer.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + token + b"\r\n\r\n"
        )
        running: dict[str | None, tuple[asyncio.Task[None], Record]] = {}
        try:
            async for opcode, payload in frames(reader):
                if opcode == 8:
                    return
                if opcode == 9:
                    writer.write(frame(payload, 10))
                if opcode != 1:
                    continue
                message = json.loads(payload)
                lane = message.get("stream_id")
                if message["type"] == "response.create":
                    record = self.record(len(payload))
                    silent = message.get("generate") is False
                    answering = asyncio.create_task(self.respond(record, lane, writer, silent=silent))
                    running[lane] = answering, record
                elif lane in running:
                    task, record = running.pop(lane)
                    if not record.done:
                        record.freed = now()
                        task.cancel()
                        reason = {"status": "incomplete", "incomplete_details": {"reason": "cancelled"}}
                        send(writer, lane, "response.incomplete", response={"id": "r", **reason})
        finally:
            for task, record in running.values():
                if not record.done:
                    record.freed = record.freed or now()
                    task.cancel()

    async def respond(
        self, record: Record, lane: str | None, writer: asyncio.StreamWriter, *, silent: bool
    ) -> None:
        about = {"id": f"r{record.number}"}
        send(writer, lane, "response.created", response=about | {"status": "in_progress"})
        async for word in nothing() if silent else self.answer(record):
            send(writer, lane, "response.output_text.delta", delta=word, item_id="m", output_index=0)
        usage = {"input_tokens": record.size // 4, "output_tokens": record.pieces}
        send(writer, lane, "response.completed", response=about | {"status": "completed", "usage": usage})


async def nothing() -> AsyncIterator[str]:
    """The answer to a warm-up."""
    words: tuple[str, ...] = ()
    for word in words:
        yield word


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def send(writer: asyncio.StreamWriter, lane: str | None, kind: str, **fields: Any) -> None:
    named = {} if lane is None else {"stream_id": lane}
    writer.write(frame(compact({"type": kind, **named, **fields}), 1))


def frame(payload: bytes, opcode: int) -> bytes:
    size = len(payload)
    if size < 126:
        return bytes([128 | opcode, size]) + payload
    if size < 65536:
        return bytes([128 | opcode, 126]) + size.to_bytes(2, "big") + payload
    return bytes([128 | opcode, 127]) + size.to_bytes(8, "big") + payload


async def frames(reader: asyncio.StreamReader) -> AsyncIterator[tuple[int, bytes]]:
    """Whole messages of a client, unmasked."""
    message = b""
    while True:
        head = await reader.readexactly(2)
        size = head[1] & 127
        if size > 125:
            size = int.from_bytes(await reader.readexactly(2 if size == 126 else 8), "big")
        mask = await reader.readexactly(4)
        raw = await reader.readexactly(size)
        pad = (mask * (size // 4 + 1))[:size]
        message += (int.from_bytes(raw, "big") ^ int.from_bytes(pad, "big")).to_bytes(size, "big")
        if head[0] & 128:
            yield (head[0] & 15) or 1, message
            message = b""


async def main() -> None:
    backend = Backend()
    loop = asyncio.get_running_loop()
    context = None
    if len(sys.argv) > 1:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(sys.argv[1])
    server = await asyncio.start_server(backend.serve, "127.0.0.1", 0, limit=1 << 24, ssl=context)
    port = server.sockets[0].getsockname()[1]
    print(await distant(port, float(sys.argv[2])) if context else port, flush=True)
    orders = asyncio.StreamReader(limit=1 << 24)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    while line := await orders.readline():
        order = json.loads(line)
        if "pace" in order:
            backend.pace = replace(Pace(), **order["pace"])
            backend.records.clear()
        print(json.dumps([asdict(record) for record in backend.records]), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
