"""`midstream config`: what the settings are, where they came from, and what is wrong with them."""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lsp_server.settings import Problem, load, load_user, user_file
from lsp_server.settings.reference import page
from lsp_server.settings.schema import contributed, json_schema
from lsp_server.settings.shapes import plain
from lsp_server.texts import commands as texts


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("config", help=texts.CONFIG)
    commands = parser.add_subparsers(dest="config_command", required=True)
    show = commands.add_parser("show", help=texts.CONFIG_SHOW)
    show.add_argument("--json", action="store_true", help=texts.ONE_JSON_OBJECT)
    check = commands.add_parser("check", help=texts.CONFIG_CHECK)
    check.add_argument("file", nargs="?", type=Path, help=texts.CONFIG_FILE)
    schema = commands.add_parser("schema", help=texts.CONFIG_SCHEMA)
    form = schema.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help=texts.CONFIG_MARKDOWN)
    form.add_argument("--vscode", action="store_true", help=texts.CONFIG_VSCODE)


def run(arguments: argparse.Namespace) -> int:
    if arguments.config_command == "show":
        return _show(as_json=arguments.json)
    if arguments.config_command == "check":
        return _check(arguments.file or user_file())
    if arguments.markdown:
        print(page(), end="")
    else:
        print(json.dumps(contributed() if arguments.vscode else json_schema(), indent=2, ensure_ascii=False))
    return 0


def _show(*, as_json: bool) -> int:
    settings, problems = load_user(os.environ)
    if as_json:
        report = {
            "file": str(user_file()),
            "settings": plain(settings),
            "origins": settings.origins,
            "problems": [_problem_data(problem) for problem in problems],
        }
        print(json.dumps(report, indent=2, ensure_ascii=False))
        return 0
    file = user_file()
    print(f"# {file}{'' if file.exists() else ' ' + texts.DOES_NOT_EXIST}")
    lines = [
        (f"{path} = {json.dumps(value, ensure_ascii=False)}", settings.origins[path])
        for path, value in _leaves(plain(settings), "")
    ]
    width = min(60, max(len(line) for line, _ in lines))
    for line, origin in lines:
        print(f"{line:<{width}}  # {origin}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 0


def _leaves(tree: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _check(file: Path) -> int:
    try:
        toml = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        print(texts.CANNOT_BE_READ.format(file=file, reason=error.strerror), file=sys.stderr)
        return 2
    except UnicodeDecodeError:
        print(texts.NOT_UTF8.format(file=file), file=sys.stderr)
        return 2
    _, problems = load(toml, {}, None, None, file=str(file))
    for problem in problems:
        print(problem)
    if not problems:
        print(texts.NOTHING_WRONG.format(file=file))
    return 1 if problems else 0


def _problem_data(problem: Problem) -> dict[str, str | int | None]:
    return {
        "path": problem.path,
        "source": problem.source,
        "sentence": problem.sentence,
        "line": problem.line,
        "column": problem.column,
    }
