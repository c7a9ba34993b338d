"""`midstream bench MODEL...`: your own code on several models side by side."""

import argparse
import asyncio
import contextlib
import json
import os
import sys
import time
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median

from lsp_server.cli.bench_cases import Hole, built_in, in_folder
from lsp_server.cli.bench_page import page
from lsp_server.cli.compose import ConfiguredModels
from lsp_server.cli.headless import HeadlessEditor
from lsp_server.core.prompt import Chat, Fill, Prompt, completion_prompt
from lsp_server.core.reply import ReplyFilter
from lsp_server.core.syntax.tree import parses
from lsp_server.core.text import Span
from lsp_server.engine.errors import MidstreamError
from lsp_server.engine.masking import masked_prompt
from lsp_server.engine.ports import Backend, Delta, Finish, Request, Usage
from lsp_server.engine.prices import NANO, cost, expected, is_fast, prices_of
from lsp_server.settings import Edit, Model, Settings, load_user
from lsp_server.texts import commands as texts

EDITS = 3
EMPTY = Fill("", "", "plain", True, "", "")
INSTRUCTION = "Add a documentation comment. Change nothing else."


@dataclass(slots=True)
class Row:
    """What one model did. Times are milliseconds; None where nothing came.

    `set_up` is the time to a connection, or to loaded weights. A useful line is the first one that has
    more than blanks, or all of a shorter answer.
    """

    model: str
    set_up: float | None = None
    first_token: list[float] = field(default_factory=list)
    useful_line: list[float] = field(default_factory=list)
    tokens_per_second: list[float] = field(default_factory=list)
    answered: int = 0
    asked: int = 0
    edits_applied: int = 0
    edits_parsing: int = 0
    edits_asked: int = 0
    cost_per_thousand: float | None = None
    trouble: str = ""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("bench", help=texts.BENCH)
    parser.add_argument("models", nargs="+", metavar="MODEL", help=texts.BENCH_MODELS)
    parser.add_argument("--folder", type=Path, help=texts.BENCH_FOLDER)
    parser.add_argument("--holes", type=int, default=12, help=texts.BENCH_HOLES)
    parser.add_argument("--html", type=Path, metavar="FILE", help=texts.BENCH_HTML)
    parser.add_argument("--json", action="store_true", help=texts.ONE_JSON_OBJECT)


def run(arguments: argparse.Namespace) -> int:
    settings, _ = load_user(os.environ)
    unknown = [name for name in arguments.models if name not in settings.models]
    if unknown:
        known = ", ".join(sorted(settings.models))
        raise MidstreamError(texts.NO_SUCH_MODEL.format(name=unknown[0], known=known))
    cases = in_folder(arguments.folder, arguments.holes) if arguments.folder else built_in()
    cases = cases[: arguments.holes]
    if not cases:
        raise MidstreamError(texts.NOTHING_TO_COMPLETE)
    rows = asyncio.run(measure(settings, arguments.models, cases))
    if arguments.html:
        arguments.html.write_text(page(rows, len(cases)), encoding="utf-8")
        print(f"midstream: {texts.WROTE.format(file=arguments.html)}", file=sys.stderr)
    if arguments.json:
        print(json.dumps({"rows": [asdict(row) for row in rows]}))
    else:
        print("\n".join(table(rows)))
    return 0 if any(row.answered for row in rows) else 1


async def measure(settings: Settings, names: list[str], cases: list[Hole]) -> list[Row]:
    """Every model on every case, the models in turn, so that a slow minute hits all of them."""
    models = ConfiguredModels(os.environ)
    # A model that stands in for another one would be measured under that one's name.
    alone = {name: replace(model, fallback="") for name, model in settings.models.items()}
    settings = replace(settings, models=alone)
    models.configure(settings, lambda status: None)
    rows = [Row(name) for name in names]
    spent = dict.fromkeys(names, 0)
    # Loading the detectors of secrets is no part of any model's time.
    await asyncio.to_thread(masked_prompt, EMPTY)
    try:
        for row in rows:
            backend = models.backend("complete", row.model)
            # Asking for the style loads the adapter, which is no part of it either.
            prompt: Prompt = Chat("", "", "") if backend.style.kind == "chat" else EMPTY
            started = time.perf_counter()
            await backend.warm(Request("complete", prompt, max_tokens=1))
            row.set_up = (time.perf_counter() - started) * 1000
        for number, hole in enumerate(cases):
            for row in rows:
                if row.trouble:
                    continue
                progress(f"{number + 1} of {len(cases)}: {row.model}")
                try:
                    backend = models.backend("complete", row.model)
                    spent[row.model] += await complete(hole, backend, settings.models[row.model], row)
                except MidstreamError as error:
                    row.trouble = str(error)
        for row in rows:
            for hole in cases[:EDITS] if not row.trouble else ():
                await edit(hole, settings, models, row)
    finally:
        progress("")
        await models.close()
    for row in rows:
        priced = prices_of(settings.models[row.model]) is not None and row.asked
        row.cost_per_thousand = spent[row.model] * 1000 / row.asked / NANO if priced else None
    return rows


def progress(words: str) -> None:
    """One line of a terminal, written over."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{words}", end="", file=sys.stderr, flush=True)


async def complete(hole: Hole, backend: Backend, model: Model, row: Row) -> int:
    """Ask for one completion; what it cost, in billionths."""
    document = hole.document()
    prompt = completion_prompt(document, len(hole.before), backend.style)
    stop = () if backend.style.kind == "chat" else ("\n",)
    request = Request("complete", prompt, max_tokens=64, stop=stop, cache_key=document.uri)
    started = time.perf_counter()
    first: float | None = None
    line: float | None = None
    pieces, text, usage = 0, "", Usage()
    cleaner = ReplyFilter("completion")
    async with contextlib.aclosing(backend.stream(request)) as stream:
        async for event in stream:
            match event:
                case Delta(text=piece) if piece:
                    first = first or time.perf_counter()
                    pieces += 1
                    text += cleaner.push(piece)
                    if line is None and "\n" in text.lstrip():
                        line = time.perf_counter()
                case Finish(usage=counted):
                    usage = counted
    ended = time.perf_counter()
    row.asked += 1
    if first is None:
        return 0
    row.answered += 1
    row.first_token.append((first - started) * 1000)
    row.useful_line.append(((line or ended) - started) * 1000)
    if pieces > 2 and ended > first:
        row.tokens_per_second.append((pieces - 1) / (ended - first))
    if usage.input_tokens + usage.output_tokens == 0:
        usage = replace(expected(request), output_tokens=pieces)
    prices = prices_of(model)
    return 0 if prices is None else cost(prices, usage, fast=is_fast(model))


async def edit(hole: Hole, settings: Settings, models: ConfiguredModels, row: Row) -> None:
    """One streamed edit of the function around a hole: does it land, and does the result parse?"""
    editor = HeadlessEditor(Settings(models=settings.models, edit=Edit(delivery="atomic")), models)
    uri = f"untitled:{hole.path}"
    editor.assistant.document_opened(uri, hole.language, 1, hole.before + hole.wanted + hole.after)
    try:
        place = Span(len(hole.before), len(hole.before))
        generation = editor.assistant.edit(uri, place, INSTRUCTION, model=row.model)
        result = await generation.result
        document = editor.workspace.get(uri)
        row.edits_asked += 1
        row.edits_applied += result.outcome == "done"
        row.edits_parsing += bool(
            result.outcome == "done" and document and parses(document.text, hole.language)
        )
    except MidstreamError as error:
        row.trouble = row.trouble or str(error)
    finally:
        await editor.assistant.shutdown()


def table(rows: list[Row]) -> list[str]:
    """The figures as the terminal shows them: medians."""
    width = max(5, *(len(row.model) for row in rows))
    head = f"{'model':{width}} {'set-up':>9} {'token':>9} {'line':>9} {'tok/s':>6}"
    lines = [f"{head} {'answered':>9} {'applied':>7} {'parsing':>7} {'per 1,000':>9}"]
    for row in rows:
        if row.trouble:
            lines.append(f"{row.model:{width}} {row.trouble}")
            continue
        price = "-" if row.cost_per_thousand is None else f"{row.cost_per_thousand:.2f}"
        lines.append(
            f"{row.model:{width}} {shown(row.set_up)} {shown(middle(row.first_token))} "
            f"{shown(middle(row.useful_line))} {middle(row.tokens_per_second) or 0:6.0f} "
            f"{of(row.answered, row.asked):>9} {of(row.edits_applied, row.edits_asked):>7} "
            f"{of(row.edits_parsing, row.edits_asked):>7} {price:>9}"
        )
    lines.append(texts.BENCH_LEGEND)
    return lines


def middle(values: list[float]) -> float | None:
    """The median, where there is anything."""
    return median(values) if values else None


def of(some: int, all_of_them: int) -> str:
    return f"{some}/{all_of_them}"


def shown(value: float | None) -> str:
    return f"{'-':>6} ms" if value is None else f"{value:6.0f} ms"
