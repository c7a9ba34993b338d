"""`midstream edit FILE:LINE "instruction"`: a streamed edit, drawn in the terminal."""

import argparse
import asyncio
import difflib
import json
import os
import sys
from pathlib import Path

from lsp_server.cli.compose import ConfiguredModels
from lsp_server.cli.headless import HeadlessEditor, offset_of, place, read_source
from lsp_server.cli.live import LiveView
from lsp_server.core.document import Document
from lsp_server.core.text import Span, split_lines
from lsp_server.engine.errors import EditRefused
from lsp_server.engine.ports import Result
from lsp_server.lsp.protocol import result_message
from lsp_server.settings import Settings, load_user
from lsp_server.texts import commands as texts


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "edit",
        help=texts.EDIT,
        description=texts.EDIT_PLACES,
    )
    parser.add_argument("place", metavar="FILE:LINE")
    parser.add_argument("instruction")
    parser.add_argument("--model", default="", help=texts.EDIT_MODEL)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--diff", action="store_true", help=texts.EDIT_DIFF)
    form.add_argument("--write", action="store_true", help=texts.EDIT_WRITE)
    parser.add_argument("--json", action="store_true", help=texts.EDIT_JSON)


def run(arguments: argparse.Namespace) -> int:
    settings, problems = load_user(os.environ)
    for problem in problems:
        print(f"midstream: {problem}", file=sys.stderr)
    return asyncio.run(edit(arguments, settings))


async def edit(arguments: argparse.Namespace, settings: Settings) -> int:
    path, line, _ = place(arguments.place, column=False)
    models = ConfiguredModels(os.environ)
    models.configure(settings, lambda status: None)
    view = LiveView(sys.stderr)
    editor = HeadlessEditor(settings, models, view.draw)
    try:
        before = editor.open(path)
        offset = offset_of(before, line, 1)
        generation = editor.assistant.edit(
            before.uri, Span(offset, offset), arguments.instruction, model=arguments.model
        )
        result = await generation.result
        after = editor.workspace.get(before.uri)
    finally:
        view.close()
        await editor.assistant.shutdown()
        await models.close()
    assert after is not None
    return finish(arguments, path, before, after, result)


def finish(
    arguments: argparse.Namespace, path: Path, before: Document, after: Document, result: Result
) -> int:
    """Show or write what came out. An edit that failed is never written."""
    complete = result.outcome in ("done", "unchanged")
    if arguments.json:
        print(json.dumps({**result_message(result), "text": after.text}, ensure_ascii=False))
    elif result.outcome == "unchanged":
        print(f"midstream: {texts.UNCHANGED}", file=sys.stderr)
    elif not arguments.write:
        print(diff(path, before.text, after.text), end="")
    if arguments.write and result.outcome == "done":
        write(path, before.text, after.text)
    if result.message:
        print(f"midstream: {result.message}", file=sys.stderr)
    return 0 if complete else 1


def write(path: Path, before: str, after: str) -> None:
    """Replace the file's text. Raises EditRefused when it is not what was edited any more."""
    if read_source(path) != before:
        raise EditRefused(texts.CHANGED_MEANWHILE.format(file=path))
    temporary = path.with_name(f".{path.name}.midstream")
    temporary.write_bytes(after.encode("utf-8"))
    temporary.chmod(path.stat().st_mode)
    temporary.replace(path)


def diff(path: Path, before: str, after: str) -> str:
    """A unified diff."""
    lines = difflib.unified_diff(
        split_lines(before), split_lines(after), f"a/{path.name}", f"b/{path.name}", lineterm="\n"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
