"""The `midstream` command: the composition root, where adapters and engine are put together."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Any

from lsp_server import __version__
from lsp_server.engine.errors import MidstreamError
from lsp_server.texts import commands as texts
from lsp_server.texts import doctor

COMMANDS = {
    "serve": ("lsp_server.cli.serve", texts.SERVE),
    "complete": ("lsp_server.cli.complete", texts.COMPLETE),
    "edit": ("lsp_server.cli.edit", texts.EDIT),
    "try": ("lsp_server.cli.try_", texts.TRY),
    "host": ("lsp_server.cli.host", texts.HOST),
    "model": ("lsp_server.cli.model", texts.MODEL),
    "config": ("lsp_server.cli.config", texts.CONFIG),
    "doctor": ("lsp_server.cli.doctor", doctor.DOCTOR),
    "usage": ("lsp_server.cli.usage", texts.USAGE),
    "bench": ("lsp_server.cli.bench", texts.BENCH),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is 0, 1 for a failure told on stderr, 2 for wrong usage."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        arguments = parse(words)
        return int(module_of(arguments.command).run(arguments))
    except MidstreamError as error:
        print(f"midstream: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        from lsp_server.cli.crash import note

        print(f"midstream: {note(error)}", file=sys.stderr)
        return 1


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The arguments of one command. Exits with usage for wrong ones."""
    parser = argparse.ArgumentParser(prog="midstream", description=texts.MIDSTREAM)
    parser.add_argument("--version", action="version", version=f"midstream {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    chosen = words[0] if words and words[0] in COMMANDS else None
    # Only the chosen command's module is imported, so that `serve` starts as quickly as it can.
    for name, (_, purpose) in COMMANDS.items():
        if name == chosen:
            module_of(name).add_parser(subparsers)
        elif chosen is None:
            subparsers.add_parser(name, help=purpose, add_help=False)
    return parser.parse_args(words)


def module_of(command: str) -> Any:
    """The module that serves a command: it has `add_parser` and `run`."""
    return importlib.import_module(COMMANDS[command][0])
