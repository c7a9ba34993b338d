"""`midstream usage`: what the models were used for, and what it cost."""

import argparse
import json
import os
import sqlite3
import sys
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
    "first token p50/p95",
    "tokens/s",
    "lead",
    "to fix",
)


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
        print("\n".join(shown(report)))
    return 0


def shown(report: UsageReport) -> Iterator[str]:
    """The report as the terminal shows it."""
    if not report.week:
        yield texts.NOTHING_USED
    else:
        yield from _table(texts.TODAY.format(date=report.date), report.today)
        yield ""
        yield from _table(texts.LAST_SEVEN_DAYS, report.week)
        yield ""
        if any(line.estimated for line in report.week):
            yield texts.ESTIMATED
        yield texts.WHOSE_PRICES.format(currency=report.currency, price_date=report.price_date)
    for limit in report.limits:
        yield _limit(limit)


def _table(title: str, lines: Sequence[UsageLine]) -> Iterator[str]:
    yield title
    rows = [HEAD, *(_row(line) for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    if not lines:
        yield "  nothing"
        return
    for number, row in enumerate(rows):
        if number == len(rows) - 1:
            yield "  " + "─" * (sum(widths) + 2 * (len(widths) - 1))
        names = (cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True))
        numbers = (cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True))
        yield "  " + "  ".join((*names, *numbers))


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
