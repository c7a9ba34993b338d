"""`midstream host`: the process that holds the embedded model."""

import argparse
import json
import sys
from typing import Any

Subparsers = Any


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "host",
        help="the embedded model's process: status, stop",
        description="The model host is one process per user that all editor windows share. "
        "It starts when it is needed and ends after ten minutes without a client.",
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    status = actions.add_parser("status", help="what runs, for whom, and since when")
    stop = actions.add_parser("stop", help="end it; the next editor that needs it starts it again")
    for action in (status, stop):
        action.add_argument("--json", action="store_true", help="print one JSON object")
    run_here = actions.add_parser("run", help="be the host, in the foreground")
    run_here.add_argument("--model", default="", help="what to load first: a catalogue name or a GGUF file")
    run_here.add_argument("--idle", type=float, default=None, help="seconds without a client until it ends")


def run(arguments: argparse.Namespace) -> int:
    actions = {"status": _status, "stop": _stop, "run": _run}
    return actions[arguments.action](arguments)


def _status(arguments: argparse.Namespace) -> int:
    from lsp_server.local.launcher import host_status

    status = host_status()
    if arguments.json:
        print(json.dumps({"running": status is not None, **(status or {})}))
    elif status is None:
        print("No model host is running; an editor that needs it starts it.")
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
        print("The model host has ended." if stopped else "No model host was running.")
    return 0


def _run(arguments: argparse.Namespace) -> int:
    from lsp_server.local import host

    if sys.stderr.isatty():
        print("The model host runs in this terminal; Ctrl-C ends it.", file=sys.stderr)
    host.run(arguments.model, idle=host.IDLE if arguments.idle is None else arguments.idle)
    return 0


def duration(seconds: float) -> str:
    """A time in words, with two units at most."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"
