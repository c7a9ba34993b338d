"""`midstream host`: the process that holds the embedded model."""

import argparse
import json
import sys
from typing import Any

from lsp_server.texts import commands as texts

Subparsers = Any


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "host",
        help=texts.HOST,
        description=texts.HOST_IS,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    status = actions.add_parser("status", help=texts.HOST_STATUS)
    stop = actions.add_parser("stop", help=texts.HOST_STOP)
    for action in (status, stop):
        action.add_argument("--json", action="store_true", help=texts.ONE_JSON_OBJECT)
    run_here = actions.add_parser("run", help=texts.HOST_RUN)
    run_here.add_argument("--model", default="", help=texts.HOST_MODEL)
    run_here.add_argument("--idle", type=float, default=None, help=texts.HOST_IDLE)


def run(arguments: argparse.Namespace) -> int:
    actions = {"status": _status, "stop": _stop, "run": _run}
    return actions[arguments.action](arguments)


def _status(arguments: argparse.Namespace) -> int:
    from lsp_server.local.launcher import host_status

    status = host_status()
    if arguments.json:
        print(json.dumps({"running": status is not None, **(status or {})}))
    elif status is None:
        print(texts.NO_HOST)
    else:
        for name in ("pid", "url", "token_file", "model", "sha256", "state", "clients"):
            print(f"{name:<11}{status[name]}")
        print(f"{'uptime':<11}{duration(status['uptime'])}")
    return 0 if status is not None else 1


def _stop(arguments: argparse.Namespace) -> int:
    from lsp_server.local.launcher import stop_host

    stopped = stop_host()
    if arguments.json:
        print(json.dumps({"stopped": stopped}))
    else:
        print(texts.HOST_ENDED if stopped else texts.NO_HOST_RAN)
    return 0


def _run(arguments: argparse.Namespace) -> int:
    from lsp_server.local import host

    if sys.stderr.isatty():
        print(texts.HOST_HERE, file=sys.stderr)
    host.run(arguments.model, idle=host.IDLE if arguments.idle is None else arguments.idle)
    return 0


def duration(seconds: float) -> str:
    """A time in words, with two units at most."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
