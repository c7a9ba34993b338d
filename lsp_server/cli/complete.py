"""`midstream complete FILE:LINE:COLUMN`: what the editor would show there."""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from lsp_server.cli.compose import ConfiguredModels
from lsp_server.cli.headless import HeadlessEditor, offset_of, place
from lsp_server.core.document import Document
from lsp_server.core.prompt import Style
from lsp_server.core.text import Encoding, Span
from lsp_server.engine.ports import Backend, Delta, Event, Finish, Request, Task
from lsp_server.engine.suggestion import Ask, Item
from lsp_server.settings import Model, Settings, load_user
from lsp_server.texts import commands as texts


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "complete",
        help=texts.COMPLETE,
        description=texts.COMPLETE_PLACES,
    )
    parser.add_argument("place", metavar="FILE:LINE:COLUMN")
    parser.add_argument("--json", action="store_true", help=texts.COMPLETE_JSON)
    parser.add_argument("--show-prompt", action="store_true", help=texts.COMPLETE_PROMPT)
    parser.add_argument(
        "--open", action="append", type=Path, default=[], metavar="FILE", help=texts.COMPLETE_OPEN
    )


def run(arguments: argparse.Namespace) -> int:
    settings, problems = load_user(os.environ)
    for problem in problems:
        print(f"midstream: {problem}", file=sys.stderr)
    return asyncio.run(complete(arguments, settings))


async def complete(arguments: argparse.Namespace, settings: Settings) -> int:
    path, line, column = place(arguments.place, column=True)
    models = MeasuredModels(os.environ)
    models.configure(settings, lambda status: None)
    editor = HeadlessEditor(settings, models)
    try:
        for other in arguments.open:
            editor.open(other)
        document = editor.open(path)
        editor.assistant.context.catch_up(document)
        cursor = offset_of(document, line, column)
        if arguments.show_prompt:
            shown = editor.assistant.show_prompt(document.uri, Span(cursor, cursor), "")
            print(json.dumps(shown, indent=2, ensure_ascii=False))
            return 0
        if (reason := editor.assistant.presence.silence(document)) is not None:
            print(f"midstream: {reason}", file=sys.stderr)
            return 1
        items = await editor.assistant.complete(Ask(document, cursor, invoked=True))
        trouble = editor.assistant.presence.trouble
    finally:
        await editor.assistant.shutdown()
        await models.close()
    if arguments.json:
        report: dict[str, Any] = {
            "items": [item_data(document, item) for item in items],
            "model": models.name_of("complete"),
            "timings": models.timings,
        }
        if trouble is not None:
            report["error"] = trouble
        print(json.dumps(report, ensure_ascii=False))
    elif items:
        print(items[0].text)
    elif trouble is None:
        print(f"midstream: {texts.NO_SUGGESTION}", file=sys.stderr)
    return 0 if trouble is None else 1


def item_data(document: Document, item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "text": item.text,
        "range": {"start": place_data(document, item.span.start), "end": place_data(document, item.span.end)},
    }


def place_data(document: Document, offset: int) -> dict[str, int]:
    position = document.position(offset, Encoding.UTF32)
    return {"line": position.line + 1, "column": position.character + 1}


class MeasuredModels(ConfiguredModels):
    """Remembers how long the last answer took, by our own clock and by the host's.

    `hostStartMs` is the wait for the embedded model's host and its weights, part of `firstTokenMs` and
    `totalMs`; `prefillMs` is what the host needed to read the prompt.
    """

    def __init__(self, environment: Any) -> None:
        super().__init__(environment)
        self.timings: dict[str, float] = {}

    def backend(self, task: Task, name: str = "") -> Backend:
        return MeasuredBackend(super().backend(task, name), self.timings)

    async def _local_address(self, model: Model) -> Any:
        started = time.perf_counter()
        address = await super()._local_address(model)
        self.timings["hostStartMs"] = milliseconds(started)
        return address


class MeasuredBackend:
    """A backend that notes first token and total in milliseconds beside what the host says itself."""

    def __init__(self, backend: Backend, timings: dict[str, float]) -> None:
        self._backend = backend
        self._timings = timings

    @property
    def name(self) -> str:
        return self._backend.name

    @property
    def style(self) -> Style:
        return self._backend.style

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        started = time.perf_counter()
        stream = self._backend.stream(request)
        try:
            async for event in stream:
                if isinstance(event, Delta) and event.text:
                    self._timings.setdefault("firstTokenMs", milliseconds(started))
                self._note(event)
                yield event
        finally:
            self._timings["totalMs"] = milliseconds(started)
            await stream.aclose()

    def _note(self, event: Event) -> None:
        """The first delta tells the most: a completed line ends the stream before its end comes."""
        told, noted = event.timings, self._timings
        if "load_ms" in told and "prefillMs" not in noted:
            noted["hostStartMs"] = round(noted.get("hostStartMs", 0.0) + told["load_ms"], 1)
        if "prefill_ms" in told:
            noted["prefillMs"] = round(told["prefill_ms"], 1)
        if "evaluated_tokens" in told:
            noted["promptTokensCached"] = int(told["cached_tokens"])
            noted["promptTokensEvaluated"] = int(told["evaluated_tokens"])
        elif isinstance(event, Finish) and event.usage.input_tokens and "prefillMs" not in noted:
            noted["promptTokensCached"] = event.usage.cached_tokens
            noted["promptTokensEvaluated"] = event.usage.input_tokens - event.usage.cached_tokens

    async def warm(self, request: Request) -> None:
        await self._backend.warm(request)

    async def close(self) -> None:
        await self._backend.close()


def milliseconds(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 1)
