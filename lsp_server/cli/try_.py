"""`midstream try`: a guided minute in the terminal, with the real model and real code."""

import argparse
import asyncio
import contextlib
import os
import sys
import time
from dataclasses import dataclass

from lsp_server.cli.compose import ConfiguredModels, weights_are_here
from lsp_server.cli.headless import HeadlessEditor
from lsp_server.cli.model import pull_with_bar
from lsp_server.core.document import Document
from lsp_server.engine.ports import Delta
from lsp_server.engine.suggestion import Ask
from lsp_server.settings import Settings, load_user
from lsp_server.texts import commands as texts

DIM, GREEN, BOLD, PLAIN = "\x1b[2m", "\x1b[32m", "\x1b[1m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Sample:
    """A file as it stands in the middle of being written; `|` in the code marks the cursor."""

    name: str
    language: str
    code: str


SAMPLES = (
    Sample(
        "temperature.py",
        "python",
        '''def celsius_to_fahrenheit(celsius: float) -> float:
    """Convert a temperature."""
    return celsius * 9 / 5 + 32


def fahrenheit_to_celsius(fahrenheit: float) -> float:
    """Convert a temperature."""
    return |
''',
    ),
    Sample(
        "cart.ts",
        "typescript",
        """interface Item {
  name: string;
  price: number;
  quantity: number;
}

export function total(items: Item[]): number {
  let sum = 0;
  for (const item of items) {
    sum += |
  }
  return sum;
}
""",
    ),
    Sample(
        "words.py",
        "python",
        """from collections import Counter


def most_common_word(text: str) -> str:
    words = text.lower().split()
    counts = Counter(|)
    return counts.most_common(1)[0][0]
""",
    ),
)


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    subparsers.add_parser("try", help=texts.TRY)


def run(arguments: argparse.Namespace) -> int:
    settings, problems = load_user(os.environ)
    for problem in problems:
        print(f"midstream: {problem}", file=sys.stderr)
    return asyncio.run(tour(settings))


async def tour(settings: Settings) -> int:
    """Weights, three completions, one cancel, and where to go from here."""
    model = settings.model_for("complete")
    if model.protocol == "local" and not weights_are_here(model):
        say(texts.TRY_FETCHES.format(model=model.model))
        await pull_with_bar(model.model)
    models = ConfiguredModels(os.environ)
    models.configure(settings, lambda status: None)
    editor = HeadlessEditor(settings, models)
    shown = 0
    try:
        say(texts.TRY_COMPLETES.format(model=model.name, weights=model.model or model.protocol))
        for sample in SAMPLES:
            shown += await complete(editor, sample)
        if editor.assistant.presence.trouble is None:
            await cancel(models)
    finally:
        await editor.assistant.shutdown()
        await models.close()
    if editor.assistant.presence.trouble is not None:
        return 1
    say(texts.TRY_NEXT)
    return 0 if shown else 1


async def complete(editor: HeadlessEditor, sample: Sample) -> int:
    """Show one completion in its code; 1 when there was one."""
    before, after = sample.code.split("|")
    uri = f"untitled:{sample.name}"
    editor.assistant.document_opened(uri, sample.language, 1, before + after)
    document = editor.workspace.get(uri)
    assert isinstance(document, Document)
    started = time.perf_counter()
    items = await editor.assistant.complete(Ask(document, len(before), invoked=True))
    elapsed = (time.perf_counter() - started) * 1000
    text = items[0].text if items else ""
    print(f"\n{BOLD}{sample.name}{PLAIN} {DIM}({elapsed:.0f} ms){PLAIN}")
    line_start, line_end = (
        before.rfind("\n", 0, before.rfind("\n")) + 1,
        after.find("\n", after.find("\n") + 1),
    )
    print(f"{before[line_start:]}{GREEN}{text}{PLAIN}{after[: line_end if line_end >= 0 else None]}")
    if not items and editor.assistant.presence.trouble is None:
        print(f"{DIM}{texts.TRY_UNSURE}{PLAIN}")
    editor.assistant.document_closed(uri)
    return len(items)


async def cancel(models: ConfiguredModels) -> None:
    """Start a long answer and let go of it, as a keystroke does."""
    from lsp_server.cli.checkup import question

    backend = models.backend("complete")
    request = question(backend.style)
    async with contextlib.aclosing(backend.stream(request)) as stream:
        async for event in stream:
            if isinstance(event, Delta):
                started = time.perf_counter()
                break
        else:
            return
    elapsed = (time.perf_counter() - started) * 1000
    print("\n" + texts.TRY_CANCEL.format(elapsed=elapsed))


def say(sentence: str) -> None:
    print(f"\n{BOLD}{sentence}{PLAIN}", flush=True)
