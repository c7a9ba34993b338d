"""`midstream model`: the weights of the embedded model."""

import argparse
import asyncio
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, TextIO

from lsp_server.cli.toml_edit import CannotEdit, with_string
from lsp_server.engine.errors import MidstreamError
from lsp_server.local import catalogue, weights
from lsp_server.local.transfer import megabytes
from lsp_server.settings import load_user, user_file
from lsp_server.settings.folders import named_path
from lsp_server.texts import commands as texts

BAR = 24


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("model", help=texts.MODEL)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help=texts.MODEL_LIST)
    listing.add_argument("--json", action="store_true", help=texts.ONE_JSON_LIST)
    pull = actions.add_parser("pull", help=texts.MODEL_PULL)
    pull.add_argument("name", nargs="?", help=texts.MODEL_NAME)
    use = actions.add_parser("use", help=texts.MODEL_USE)
    use.add_argument("name", help=texts.MODEL_OR_FILE)
    path = actions.add_parser("path", help=texts.MODEL_PATH)
    path.add_argument("name", nargs="?", help=texts.MODEL_NAME)


def run(arguments: argparse.Namespace) -> int:
    actions = {"list": _list, "pull": _pull, "use": _use, "path": _path}
    return actions[arguments.action](arguments)


async def pull_with_bar(name: str) -> Path:
    """Fetch weights of the catalogue with a progress bar on stderr. Raises ModelMissing with a sentence."""
    entry = catalogue.known(name)
    bar = Bar(entry.name, sys.stderr)
    try:
        return await weights.pull_in_thread(entry, bar.show)
    finally:
        bar.end()


def _list(arguments: argparse.Namespace) -> int:
    used = _configured()
    rows = [
        {
            "name": entry.name,
            "title": entry.title,
            "bytes": entry.size,
            "sha256": entry.sha256,
            "license": entry.license,
            "edits": entry.edits,
            "present": weights.is_present(entry.name),
            "used": weights.entry_of(used) == entry,
            "path": str(entry.path),
        }
        for entry in weights.CATALOGUE
    ]
    if arguments.json:
        print(json.dumps(rows))
        return 0
    for row in rows:
        mark = "*" if row["used"] else " "
        here = "here" if row["present"] else ""
        does = texts.COMPLETES_AND_EDITS if row["edits"] else texts.ONLY_COMPLETES
        size = megabytes(int(str(row["bytes"])))
        print(f"{mark} {row['name']:<20} {size:>8}  {row['license']:<11} {does:<22} {here}".rstrip())
    if weights.entry_of(used) is None:
        print(f"* {used}")
    print(f"\n{texts.MODEL_LEGEND}")
    return 0


def _pull(arguments: argparse.Namespace) -> int:
    print(asyncio.run(pull_with_bar(arguments.name or _configured())))
    return 0


def _path(arguments: argparse.Namespace) -> int:
    print(weights.find(arguments.name or _configured()).path)
    return 0


def _use(arguments: argparse.Namespace) -> int:
    entry = weights.entry_of(arguments.name)
    if entry is None:
        if not arguments.name.endswith(".gguf"):
            catalogue.known(arguments.name)
        chosen = str(weights.find(str(named_path(arguments.name).absolute())).path)
    else:
        chosen = entry.name
    file = user_file()
    before = file.read_text("utf-8") if file.exists() else ""
    try:
        after = with_string(before, "models.local", "model", chosen)
    except CannotEdit as error:
        raise MidstreamError(texts.SETTINGS_LEFT.format(file=file, reason=error, model=chosen)) from error
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f"{file.name}.{os.getpid()}.new")
    fresh.write_text(after, "utf-8")
    if file.exists():
        shutil.copymode(file, fresh)
    fresh.replace(file.resolve())
    print(texts.SETTINGS_CHANGED.format(file=file, model=chosen))
    if not weights.is_present(chosen):
        print(texts.WEIGHTS_TO_PULL.format(model=chosen))
    return 0


def _configured() -> str:
    """The weights that the settings name for the embedded model."""
    settings, _ = load_user(os.environ)
    local = settings.models.get("local")
    return weights.DEFAULT.name if local is None or not local.model else local.model


class Bar:
    """A progress bar; on a file or a pipe, a line for each tenth."""

    def __init__(self, title: str, out: TextIO) -> None:
        self._title = title
        self._out = out
        self._live = out.isatty()
        self._shown: tuple[str, int] | None = None

    def show(self, step: weights.Progress) -> None:
        line = f"{self._title}  {_words(step)}"
        if self._live:
            width = shutil.get_terminal_size().columns - 1
            self._out.write(f"\r\x1b[K{line[:width]}")
        elif (tenth := (step.phase, step.percent // 10)) != self._shown:
            self._shown = tenth
            self._out.write(line + "\n")
        self._out.flush()

    def end(self) -> None:
        if self._live:
            self._out.write("\r\x1b[K")
            self._out.flush()


def _words(step: weights.Progress) -> str:
    full = step.percent * BAR // 100
    bar = f"[{'#' * full}{'.' * (BAR - full)}] {step.percent:>3} %"
    if step.phase == "verifying":
        return f"{bar}  {texts.CHECKING_DIGEST}"
    amount = f"{step.done / 1e6:.0f} of {megabytes(step.total)}"
    left = "" if step.left is None or step.percent == 100 else f"  {_clock(step.left)} left"
    return f"{bar}  {amount}  {step.rate / 1e6:.1f} MB/s{left}  from {step.source}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
