"""The page that `midstream bench --html` writes: one file, no scripts, nothing from elsewhere."""

from collections.abc import Sequence
from html import escape
from statistics import median
from typing import Protocol

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --faint: #6a737d; --bar: #3b82f6; --paper: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --faint: #8b949e; --paper: #0d1117; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 56rem; margin: 3rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; } th, td { padding: .35rem .6rem; text-align: right; }
td { white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } tr + tr td { border-top: 1px solid #8884; }
figure { margin: 2rem 0; } figcaption { color: var(--faint); } text { fill: var(--ink); font-size: 13px; }
rect { fill: var(--bar); } .trouble { text-align: left; white-space: normal; color: var(--faint); }
"""
WIDTH, BAR, LABEL = 760, 26, 160


class Figures(Protocol):
    """What the page shows of one model; times are milliseconds."""

    model: str
    set_up: float | None
    first_token: list[float]
    useful_line: list[float]
    tokens_per_second: list[float]
    answered: int
    asked: int
    edits_applied: int
    edits_parsing: int
    edits_asked: int
    cost_per_thousand: float | None
    trouble: str


def page(rows: Sequence[Figures], cases: int) -> str:
    """The whole page as HTML."""
    plots = [
        plot("Connection set-up, ms (shorter is better)", [(row.model, set_up(row)) for row in rows]),
        plot(
            "First token, median ms (shorter is better)",
            [(row.model, middle(row.first_token)) for row in rows],
        ),
        plot(
            "First useful line, median ms (shorter is better)",
            [(row.model, middle(row.useful_line)) for row in rows],
        ),
        plot("Tokens a second, median", [(row.model, middle(row.tokens_per_second)) for row in rows]),
        plot("Cost of 1,000 completions, USD", [(row.model, row.cost_per_thousand) for row in rows]),
    ]
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>Midstream bench</title>"
        f"<style>{STYLE}</style>"
        f"<h1>Midstream bench</h1><p>{cases} completions a model, the models in turn.</p>"
        f"{figures(rows)}{''.join(plots)}</html>\n"
    )


def figures(rows: Sequence[Figures]) -> str:
    """The table."""
    heads = (
        *("model", "set-up", "first token", "useful line", "tokens/s"),
        *("answered", "edits applied", "edits parsing", "per 1,000"),
    )
    body = ""
    for row in rows:
        if row.trouble:
            body += f"<tr><td>{escape(row.model)}<td colspan=8 class=trouble>{escape(row.trouble)}"
            continue
        cells = (
            number(row.set_up, " ms"),
            number(middle(row.first_token), " ms"),
            number(middle(row.useful_line), " ms"),
            number(middle(row.tokens_per_second)),
            f"{row.answered} of {row.asked}",
            f"{row.edits_applied} of {row.edits_asked}",
            f"{row.edits_parsing} of {row.edits_asked}",
            number(row.cost_per_thousand, digits=2),
        )
        body += f"<tr><td>{escape(row.model)}" + "".join(f"<td>{cell}" for cell in cells)
    return f"<table><tr>{''.join(f'<th>{head}' for head in heads)}{body}</table>"


def plot(title: str, bars: Sequence[tuple[str, float | None]]) -> str:
    """A bar chart as SVG, with its numbers as text."""
    longest = max((value for _, value in bars if value), default=0) or 1
    drawn = ""
    for index, (name, value) in enumerate(bars):
        top = index * BAR
        width = (WIDTH - LABEL - 90) * (value or 0) / longest
        drawn += (
            f"<text x=0 y={top + 17}>{escape(name)}</text>"
            f"<rect x={LABEL} y={top + 4} width={width:.1f} height={BAR - 8} rx=3 />"
            f"<text x={LABEL + width + 6:.1f} y={top + 17}>"
            f"{number(value, digits=2 if longest < 10 else 0)}</text>"
        )
    height = len(bars) * BAR
    return (
        f"<figure><svg viewBox='0 0 {WIDTH} {height}' role=img aria-label='{escape(title)}'>{drawn}</svg>"
        f"<figcaption>{escape(title)}</figcaption></figure>"
    )


def set_up(row: Figures) -> float | None:
    """None for a model that could not be reached: what was waited for it says nothing."""
    return None if row.trouble else row.set_up


def middle(values: Sequence[float]) -> float | None:
    """The median, where there is anything."""
    return median(values) if values else None


def number(value: float | None, unit: str = "", digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}{unit}"
