"""One persistent WebSocket against one HTTPS request a completion, at a round trip of 30 ms.

The product's own client beside the least HTTPS client that reads a streamed answer, which opens a connection
for each request or keeps one. All go through TLS and a proxy that delays; opening a connection costs one
round trip, as TCP does. Bytes are those of a request's body, without headers and framing.
"""

import asyncio
import json
import ssl
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from bench.harness.client import source
from bench.harness.measure import Model as Fake
from bench.harness.measure import model, ratio, spread, table
from lsp_server.core.document import Document
from lsp_server.core.prompt import Chat, Snippet, completion_prompt, edit_prompt
from lsp_server.core.text import Span
from lsp_server.engine.ports import Delta, Request
from lsp_server.model.hosting import REMOTE_CHAT
from lsp_server.model.responses import body
from lsp_server.model.responses_ws import ResponsesBackend
from lsp_server.settings import Model

ROUND_TRIP = 30.0
ROUNDS, DELTAS = 15, 200


@dataclass(frozen=True, slots=True)
class Target:
    span: Span


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds to the first piece of the answer, and of processor time of the client until its end."""

    first: float
    used: float


class Https:
    """The least client: one request on a connection, which it keeps or not."""

    def __init__(self, port: int, context: ssl.SSLContext, *, keeps: bool) -> None:
        self._port, self._context, self._keeps = port, context, keeps
        self._connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, settings: Model, request: Request) -> Cost:
        began, used = perf_counter(), process_time()
        data = json.dumps(body(settings, request, continued=False) | {"stream": True}).encode()
        reader, writer = self._connection or await asyncio.open_connection(
            "localhost", self._port, ssl=self._context, limit=1 << 20
        )
        keep = "keep-alive" if self._keeps else "close"
        head = f"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nConnection: {keep}\r\n"
        writer.write(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
        first = 0.0
        while (line := await reader.readline()) != b"data: [DONE]\n":
            if not line:
                raise RuntimeError("the answer has no end")
            if line.startswith(b"data: ") and json.loads(line[6:])["choices"][0]["text"]:
                first = first or perf_counter()
        await reader.readline()
        cost = Cost(1000 * (first - began), 1000 * (process_time() - used))
        self._connection = (reader, writer) if self._keeps else None
        if not self._keeps:
            writer.close()
            with suppress(ssl.SSLError, ConnectionError):
                await writer.wait_closed()
        return cost

    async def close(self) -> None:
        if self._connection is not None:
            self._connection[1].close()
            with suppress(ssl.SSLError, ConnectionError):
                await self._connection[1].wait_closed()


async def over_socket(backend: ResponsesBackend, request: Request) -> Cost:
    began, used, first = perf_counter(), process_time(), 0.0
    async with aclosing(backend.stream(request)) as events:
        async for event in events:
            if isinstance(event, Delta):
                first = first or perf_counter()
    return Cost(1000 * (first - began), 1000 * (process_time() - used))


def prompts() -> dict[str, Callable[[int], Chat]]:
    """What is asked, each a little different every time: another key was typed, another order given
    for the same code."""
    lines = source(300)

    def document(number: int) -> Document:
        return Document.open(
            "file:///bench/table.py",
            "python",
            number,
            "\n".join([*lines[:150], f"value_{number}", *lines[150:]]),
        )

    def snippets() -> tuple[Snippet, ...]:
        return tuple(Snippet(f"other_{number}.py", "\n".join(source(60))) for number in range(4))

    def completion(number: int, others: tuple[Snippet, ...]) -> Chat:
        opened = document(number)
        prompt = completion_prompt(opened, opened.text.index(f"value_{number}") + 6, REMOTE_CHAT, others)
        assert isinstance(prompt, Chat)
        return prompt

    def edit(number: int) -> Chat:
        opened = document(0)
        scope = Target(Span(opened.line_start(11), opened.line_start(17)))
        return edit_prompt(opened, scope, f"Count the rows {number} times.", snippets=snippets())

    return {
        "a completion, no other file open": lambda number: completion(number, ()),
        "a completion, pieces of 4 other files": lambda number: completion(number, snippets()),
        "a prepared edit from Enter on, pieces of 4 other files": edit,
    }


async def sizes(fake: Fake, settings: Model) -> list[tuple[str, ...]]:
    """Bytes of a request that continues, beside the same as a whole.

    A file is read ahead once, when it is opened; the code of an edit each time, while the user types what to
    change.
    """
    rows = list[tuple[str, ...]]()
    for name, make in prompts().items():
        full, sent = list[float | None](), list[float | None]()
        backend = ResponsesBackend(settings)
        try:
            for number in range(1, 5):
                request = request_for(make(number), name)
                if number == 1 or request.task == "edit":
                    await backend.warm(request)
                full.append(len(json.dumps(body(settings, request, continued=False) | {"stream": True})))
                await over_socket(backend, request)
                sent.append((await fake.requests())[-1]["size"])
        finally:
            await backend.close()
        rows.append((f"bytes of {name}", spread(sent), spread(full), "", ratio(sent, full), "<= 0.2"))
    return rows


def request_for(prompt: Chat, name: str) -> Request:
    task: Any = "edit" if "edit" in name else "complete"
    return Request(task=task, prompt=prompt, max_tokens=48, cache_key="bench")


async def measure(fake: Fake, settings: Model, context: ssl.SSLContext) -> None:
    make = next(iter(prompts().values()))
    backend = ResponsesBackend(settings)
    fresh, kept = (Https(fake.port, context, keeps=keeps) for keeps in (False, True))
    ways: dict[str, Callable[[Request], Awaitable[Cost]]] = {
        "midstream": lambda request: over_socket(backend, request),
        "kept": lambda request: kept.ask(settings, request),
        "new": lambda request: fresh.ask(settings, request),
    }
    costs: dict[tuple[str, int], list[Cost]] = {}
    try:
        opening = {name: [await ask(request_for(make(0), ""))] for name, ask in ways.items()}
        for pieces in (1, DELTAS):
            await fake.set(first=0, between=0, pieces=pieces)
            for number in range(ROUNDS):
                for name, ask in ways.items():
                    costs.setdefault((name, pieces), []).append(await ask(request_for(make(number), "")))
        rows = [
            line("round trips to the first byte, first request", trips(opening), ""),
            line("round trips to the first byte, each further one", trips(of(costs, 1)), "1 : 3"),
            line("CPU of the client, a request, ms", used(of(costs, 1)), ""),
            line("CPU of the client, a delta, µs", deltas(of(costs, 1), of(costs, DELTAS)), ""),
        ]
    finally:
        await backend.close()
        await kept.close()
    rows += await sizes(fake, settings)
    head = ("median (middle half)", "midstream", "HTTPS, kept alive", "HTTPS, new", "ratio", "target")
    table(f"One socket against HTTPS requests, round trip {ROUND_TRIP:.0f} ms", head, rows)


def of(costs: dict[tuple[str, int], list[Cost]], pieces: int) -> dict[str, list[Cost]]:
    return {name: found for (name, count), found in costs.items() if count == pieces}


def trips(costs: dict[str, list[Cost]]) -> dict[str, list[float | None]]:
    return {name: [cost.first / ROUND_TRIP for cost in found] for name, found in costs.items()}


def used(costs: dict[str, list[Cost]]) -> dict[str, list[float | None]]:
    return {name: [cost.used for cost in found] for name, found in costs.items()}


def deltas(one: dict[str, list[Cost]], many: dict[str, list[Cost]]) -> dict[str, list[float | None]]:
    return {
        name: [
            1000 * (more.used - less.used) / (DELTAS - 1)
            for less, more in zip(one[name], many[name], strict=True)
        ]
        for name in one
    }


def line(name: str, values: dict[str, list[float | None]], target: str) -> tuple[str, ...]:
    """The ratio is to a request on a connection of its own."""
    shown = (spread(values[way]) for way in ("midstream", "kept", "new"))
    return (name, *shown, ratio(values["midstream"], values["new"]), target)


async def main() -> None:
    try:
        import trustme
    except ImportError:
        print("Skipped: this makes certificates with trustme, which the extra `dev` installs.")
        return
    with tempfile.TemporaryDirectory(prefix="midstream-bench-") as name:
        authority, folder = trustme.CA(), Path(name)
        certificate, trusted = folder / "server.pem", folder / "authority.pem"
        authority.issue_cert("localhost", "127.0.0.1").private_key_and_cert_chain_pem.write_to_path(
            certificate
        )
        authority.cert_pem.write_to_path(trusted)
        context = ssl.create_default_context(cafile=str(trusted))
        async with model(str(certificate), str(ROUND_TRIP)) as fake:
            await fake.set(first=0, between=0, pieces=1)
            url = f"wss://localhost:{fake.port}/v1"
            settings = Model(name="far", protocol="responses-ws", url=url, model="m", ca_file=str(trusted))
            await measure(fake, settings, context)


if __name__ == "__main__":
    asyncio.run(main())
