"""What the models were used for, as data that `midstream usage` and the editors show."""

import math
import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lsp_server.engine.ledger import Cap, Ledger, day_of
from lsp_server.engine.prices import CURRENCY, DATE, NANO, SOURCE


@dataclass(frozen=True, slots=True)
class UsageLine:
    """One model and task, or a total. Money is in units of the currency, times are milliseconds.

    `estimated` counts the requests whose cost nobody reported: those that were cancelled, mostly.
    """

    model: str
    task: str
    requests: int
    estimated: int
    cancelled: int
    failed: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    wasted_tokens: int
    cost: float
    accepted: int
    cost_per_accepted: float | None
    first_token_p50: float | None
    first_token_p95: float | None
    tokens_per_second: float | None
    lead_ms: float | None
    fix_lead_ms: float | None


@dataclass(frozen=True, slots=True)
class LimitLine:
    """How much of one limit is used; money in units of the currency."""

    period: str
    model: str | None
    unit: str
    limit: float
    used: float


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Usage of today and of the last seven days, the last line of each being its total."""

    date: str
    today: tuple[UsageLine, ...]
    week: tuple[UsageLine, ...]
    limits: tuple[LimitLine, ...]
    currency: str = CURRENCY
    price_date: str = DATE
    price_source: str = SOURCE


def usage_report(ledger: Ledger, caps: Iterable[Cap], now: float) -> UsageReport:
    """Read the ledger. Days are local calendar days."""
    today = day_of(now)
    # Noon, so that the change of the clocks cannot skip a day.
    noon = time.mktime((*time.localtime(now)[:3], 12, 0, 0, 0, 0, -1))
    week = day_of(noon - 6 * 86400)
    requests, accepted = ledger.requests_since(week), ledger.accepted_since(week)
    return UsageReport(
        today,
        _lines(
            [row for row in requests if row["day"] == today], [row for row in accepted if row["day"] == today]
        ),
        _lines(requests, accepted),
        tuple(_limit_line(cap, ledger.used(cap, today)) for cap in caps),
    )


def percentile(values: Sequence[float], share: float) -> float | None:
    """The value that `share` of all values do not exceed; None without values."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _lines(requests: Sequence[sqlite3.Row], accepted: Sequence[sqlite3.Row]) -> tuple[UsageLine, ...]:
    keys = sorted({(row["model"], row["task"]) for row in [*requests, *accepted]})
    lines = [
        _line(model, task, [row for row in requests if (row["model"], row["task"]) == (model, task)],
              [row for row in accepted if (row["model"], row["task"]) == (model, task)])
        for model, task in keys
    ]  # fmt: skip
    return (*lines, _line("", "", requests, accepted)) if lines else ()


def _line(
    model: str, task: str, requests: Sequence[sqlite3.Row], accepted: Sequence[sqlite3.Row]
) -> UsageLine:
    cost = sum(row["nano"] for row in requests) / NANO
    firsts = [row["first_ms"] for row in requests if row["first_ms"] is not None]
    timed = [row for row in requests if row["state"] == "done" and row["first_ms"] is not None]
    seconds = sum(row["total_ms"] - row["first_ms"] for row in timed) / 1000
    return UsageLine(
        model=model,
        task=task,
        requests=len(requests),
        estimated=sum(row["estimated"] for row in requests),
        cancelled=sum(row["state"] == "cancelled" for row in requests),
        failed=sum(row["state"] == "failed" for row in requests),
        input_tokens=sum(row["input"] for row in requests),
        cached_tokens=sum(row["cached"] for row in requests),
        output_tokens=sum(row["output"] for row in requests),
        wasted_tokens=sum(row["wasted"] for row in requests),
        cost=cost,
        accepted=len(accepted),
        cost_per_accepted=cost / len(accepted) if accepted else None,
        first_token_p50=percentile(firsts, 0.5),
        first_token_p95=percentile(firsts, 0.95),
        tokens_per_second=sum(row["output"] for row in timed) / seconds if seconds > 0 else None,
        lead_ms=_lead(accepted, "request"),
        fix_lead_ms=_lead(accepted, "diagnostic"),
    )


def _lead(accepted: Sequence[sqlite3.Row], since: str) -> float | None:
    times = [row["lead_ms"] for row in accepted if row["since"] == since and row["lead_ms"] is not None]
    return percentile(times, 0.5)


def _limit_line(cap: Cap, used: int) -> LimitLine:
    unit = NANO if cap.unit == "money" else 1
    return LimitLine(cap.period, cap.model, cap.unit, cap.limit / unit, used / unit)


def as_data(report: UsageReport) -> dict[str, Any]:
    """The report as JSON holds it; `total` beside the lines of each period."""
    return {
        "date": report.date,
        "currency": report.currency,
        "prices": {"date": report.price_date, "source": report.price_source},
        "today": _period_data(report.today),
        "week": _period_data(report.week),
        "limits": [_camel(line) for line in report.limits],
    }


def _period_data(lines: Sequence[UsageLine]) -> dict[str, Any]:
    return {"lines": [_camel(line) for line in lines[:-1]], "total": _camel(lines[-1]) if lines else None}


def _camel(line: UsageLine | LimitLine) -> dict[str, Any]:
    return {_key(name): getattr(line, name) for name in line.__slots__}


def _key(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
