"""`midstream usage`: what the models were used for, and what it cost."""

import argparse
import json
import os
import shutil
import sqlite3
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence

from lsp_server.engine.ledger import Ledger, open_ledger
from lsp_server.engine.meter import all_caps, usage_file
from lsp_server.engine.usage import LimitLine, UsageLine, UsageReport, as_data, usage_report
from lsp_server.settings import load_user
from lsp_server.texts import commands as texts

HEAD = (
    "model",
    "task",
    "requests",
    "tokens in",
    "cached",
    "out",
    "wasted",
    "cost",
    "accepted",
    "each",
    "first p50/p95",
    "tokens/s",
    "lead",
    "to fix",
)
NAMES, SPENT = 2, 8
"""Columns up to which a row holds names, and what was spent."""

PER_LINE = 1000
"""Characters where there is no terminal to fit."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("usage", help=texts.USAGE)
    parser.add_argument("--json", action="store_true", help=texts.ONE_JSON_OBJECT)


def run(arguments: argparse.Namespace) -> int:
    settings, _ = load_user(os.environ)
    path = usage_file()
    try:
        ledger = open_ledger(path) if path.exists() else Ledger(None)
    except (OSError, sqlite3.Error) as error:
        print(texts.USAGE_UNREADABLE.format(file=path, reason=error), file=sys.stderr)
        return 1
    try:
        report = usage_report(ledger, all_caps(settings.budget), time.time())
    finally:
        ledger.close()
    if arguments.json:
        print(json.dumps({"file": str(path), **as_data(report)}, indent=2))
    else:
        print("\n".join(shown(report, shutil.get_terminal_size((PER_LINE, 24)).columns)))
    return 0


def shown(report: UsageReport, width: int = PER_LINE) -> Iterator[str]:
    """The report as a terminal of so many columns shows it."""
    if not report.week:
        yield texts.NOTHING_USED
    else:
        yield from _table(texts.TODAY.format(date=report.date), report.today, width)
        yield ""
        yield from _table(texts.LAST_SEVEN_DAYS, report.week, width)
        yield ""
        yield from textwrap.wrap(texts.WHAT_COLUMNS_SAY, width)
        if any(line.estimated for line in report.week):
            yield texts.ESTIMATED
        yield texts.WHOSE_PRICES.format(currency=report.currency, price_date=report.price_date)
    for limit in report.limits:
        yield _limit(limit)


def _table(title: str, lines: Sequence[UsageLine], width: int) -> Iterator[str]:
    """In one piece where it fits, else what was spent above what came of it."""
    yield title
    if not lines:
        yield "  nothing"
        return
    rows = [HEAD, *(_row(line) for line in lines)]
    whole = list(_aligned(rows))
    if max(map(len, whole)) <= width:
        yield from whole
        return
    yield from _aligned([row[:SPENT] for row in rows])
    yield ""
    yield from _aligned([(*row[:NAMES], *row[SPENT:]) for row in rows])


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Names to the left, numbers to the right, and a line above the last row."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        if number == len(rows) - 1:
            yield "  " + "─" * (sum(widths) + 2 * (len(widths) - 1))
        names = (cell.ljust(width) for cell, width in zip(row[:NAMES], widths, strict=False))
        numbers = (cell.rjust(width) for cell, width in zip(row[NAMES:], widths[NAMES:], strict=True))
        yield ("  " + "  ".join((*names, *numbers))).rstrip()


def _row(line: UsageLine) -> tuple[str, ...]:
    about = "~" if line.estimated else ""
    return (
        line.model or "total",
        line.task,
        str(line.requests),
        f"{line.input_tokens:,}",
        f"{line.cached_tokens:,}",
        f"{line.output_tokens:,}",
        f"{line.wasted_tokens:,}",
        f"{about}{line.cost:.4f}",
        str(line.accepted),
        "" if line.cost_per_accepted is None else f"{line.cost_per_accepted:.4f}",
        _pair(line.first_token_p50, line.first_token_p95),
        "" if line.tokens_per_second is None else f"{line.tokens_per_second:.0f}",
        _seconds(line.lead_ms),
        _seconds(line.fix_lead_ms),
    )


def _pair(p50: float | None, p95: float | None) -> str:
    return "" if p50 is None or p95 is None else f"{p50:.0f}/{p95:.0f} ms"


def _seconds(milliseconds: float | None) -> str:
    return "" if milliseconds is None else f"{milliseconds / 1000:.1f} s"


def _limit(line: LimitLine) -> str:
    whose = texts.ALL_MODELS if line.model is None else line.model
    used, limit = (
        (f"{line.used:.2f}", f"{line.limit:.2f}")
        if line.unit == "money"
        else (f"{line.used:,.0f}", f"{line.limit:,.0f} tokens")
    )
    share = f" ({line.used / line.limit:.0%})" if line.limit else ""
    return texts.LIMIT.format(period=line.period, whose=whose, used=used, limit=limit, share=share)
