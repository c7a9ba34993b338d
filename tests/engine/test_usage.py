"""What a request costs, and how usage is shown."""

import argparse
import json
import time
from pathlib import Path

import pytest

from lsp_server.cli.usage import HEAD, add_parser, run
from lsp_server.core.prompt import Chat, Fill
from lsp_server.engine.ledger import Entry, Ledger, Settlement
from lsp_server.engine.ports import Request, Usage
from lsp_server.engine.prices import (
    DATE,
    NANO,
    TABLE,
    at_most,
    cost,
    expected,
    highest_cost,
    is_fast,
    prices_of,
)
from lsp_server.engine.usage import percentile
from lsp_server.settings import Model, Prices

GPT = Model(protocol="responses-ws", model="gpt-5.4-mini")


@pytest.mark.parametrize(
    ("model", "price"),
    [
        (GPT, 0.75),
        (Model(protocol="responses-ws", model="gpt-5.4-mini-2026-03-17"), 0.75),
        (Model(protocol="anthropic-http", model="claude-haiku-4-5-20251001"), 1),
        (Model(protocol="anthropic-http", model="claude-opus-5-5"), 4),
        (Model(protocol="fim-http", model="codestral-latest", url="https://codestral.mistral.ai/v1"), 0.3),
        (Model(protocol="chat-http", model="gpt-oss-120b", url="https://api.cerebras.ai/v1"), 0.35),
        (
            Model(protocol="chat-http", model="openai/gpt-oss-120b", url="https://api.groq.com/openai/v1"),
            0.15,
        ),
        (Model(protocol="local", model="qwen"), 0),
        (Model(protocol="fim-http", model="any", url="http://127.0.0.1:8080"), 0),
        (Model(protocol="chat-http", model="any", url="http://localhost:11434/v1"), 0),
        (Model(protocol="responses-ws", model="gpt-5.3-codex-spark"), None),
        (Model(protocol="chat-http", model="gpt-5.4-mini", url="https://gateway.example/v1"), None),
        (Model(protocol="responses-ws", model="gpt-5.4-mini", prices=Prices(input=9)), 9),
    ],
)
def test_prices(model: Model, price: float | None) -> None:
    prices = prices_of(model)
    assert (None if prices is None else prices.input) == price


def test_the_table_can_be_read_and_says_when_and_where() -> None:
    lines = [line.split() for line in TABLE.strip().splitlines()]
    assert len({tuple(line[:2]) for line in lines}) == len(lines)
    prices = prices_of(Model(protocol="responses-ws", model="gpt-5.5"))
    assert prices is not None
    assert prices.date == DATE
    assert prices.source


@pytest.mark.parametrize(
    ("prices", "usage", "fast", "money"),
    [
        (Prices(1, 0.1, 10), Usage(1_000_000, 0, 0), False, 1.0),
        (Prices(1, 0.1, 10), Usage(1_000_000, 1_000_000, 0), False, 0.1),
        (Prices(1, None, 10), Usage(1_000_000, 1_000_000, 0), False, 1.0),
        (Prices(1, 0.1, 10, 2.5), Usage(0, 0, 1_000_000), True, 25.0),
        (Prices(0.1, 0.01, 0.5), Usage(3, 1, 7), False, 0.00000371),
        (Prices(1, 0.1, 10, written=1.25), Usage(1_000_000, 0, 0, written_tokens=800_000), False, 1.2),
        (Prices(1, 0.1, 10), Usage(1_000_000, 200_000, 0, written_tokens=800_000), False, 0.82),
        (Prices(1, 0.1, 10, 2.0, 1.25), Usage(1_000_000, written_tokens=1_000_000), True, 2.5),
    ],
)
def test_cost(prices: Prices, usage: Usage, fast: bool, money: float) -> None:
    assert cost(prices, usage, fast=fast) == round(money * NANO)


def test_putting_into_the_cache_costs_more_where_the_provider_says_so() -> None:
    priced = [prices_of(Model(protocol="anthropic-http", model="claude-haiku-4-5")), prices_of(GPT)]
    assert [prices and prices.written for prices in priced] == [1.25, 0.75]


def test_what_is_booked_covers_the_dearest_case() -> None:
    bound = Usage(input_tokens=1_000_000, output_tokens=100_000)
    assert highest_cost(Prices(1, 0.1, 10, written=1.25), bound, fast=False) == round(2.25 * NANO)
    assert highest_cost(Prices(1, 0.1, 10, written=0.0), bound, fast=False) == round(2.0 * NANO)


def test_fast_is_asked_for_by_speed_or_tier() -> None:
    assert is_fast(Model(speed="fast"))
    assert is_fast(Model(tier="priority"))
    assert not is_fast(Model(tier="flex"))


@pytest.mark.parametrize(
    "prompt", [Chat("a", "b", "测" * 50), Fill("def f(", ")", "fim", True, "a.py", "python")]
)
def test_what_is_booked_is_more_than_what_is_expected(prompt: Chat | Fill) -> None:
    request = Request("edit", prompt, 10)
    assert expected(request).input_tokens < at_most(request).input_tokens
    assert at_most(request).output_tokens == 10


def test_percentiles_are_values_that_were_seen() -> None:
    assert percentile([], 0.5) is None
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile([*range(1, 101)], 0.95) == 95
    assert percentile([7], 0.95) == 7


@pytest.fixture
def used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A usage file with requests of today and of three days ago."""
    path = tmp_path / "usage.sqlite3"
    monkeypatch.setenv("MIDSTREAM_USAGE_FILE", str(path))
    monkeypatch.setenv("MIDSTREAM_CONFIG", str(tmp_path / "config.toml"))
    (tmp_path / "config.toml").write_text(
        "[budget]\nperDay = { money = 2, models = { spark = { tokens = 5000 } } }\n"
    )
    ledger = Ledger(path)
    now = time.time()
    for at, state, output in ((now, "done", 50), (now, "cancelled", 20), (now - 3 * 86400, "done", 50)):
        booked = ledger.reserve(Entry("spark", "complete", True), Usage(1000, 0, 100), NANO, [], at)
        usage = Usage(800, 400, output, estimated=state == "cancelled")
        wasted = output if state == "cancelled" else 0
        ledger.settle(booked.id, Settlement(state, usage, NANO // 4, wasted, 100.0, 600.0))  # type: ignore[arg-type]
    ledger.accept("spark", "complete", "request", 1500.0, now)
    ledger.accept("spark", "complete", "diagnostic", 9000.0, now)
    ledger.close()
    return path


def usage(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    return run(parser.parse_args(["usage", *arguments]))


def test_usage_as_data(used: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert usage("--json") == 0
    data = json.loads(capsys.readouterr().out)
    (line,) = data["today"]["lines"]
    assert line == {
        "model": "spark", "task": "complete", "requests": 2, "estimated": 1, "cancelled": 1, "failed": 0,
        "inputTokens": 1600, "cachedTokens": 800, "outputTokens": 70, "wastedTokens": 20, "cost": 0.5,
        "accepted": 2, "costPerAccepted": 0.25, "firstTokenP50": 100.0, "firstTokenP95": 100.0,
        "tokensPerSecond": 100.0, "leadMs": 1500.0, "fixLeadMs": 9000.0,
    }  # fmt: skip
    assert data["week"]["total"]["requests"] == 3
    assert data["limits"] == [
        {"period": "day", "model": None, "unit": "money", "limit": 2.0, "used": 0.5},
        {"period": "day", "model": "spark", "unit": "tokens", "limit": 5000.0, "used": 1670.0},
    ]


def test_usage_on_screen(used: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert usage() == 0
    shown = capsys.readouterr().out
    assert "spark  complete         2      1,600     800   70      20  ~0.5000" in shown
    assert "Limit per day, all models: 0.50 of 2.00 used (25%)." in shown
    assert "Limit per day, spark: 1,670 of 5,000 tokens used (33%)." in shown
    assert "~ in part estimated" in shown


def test_usage_on_a_narrow_screen(
    used: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every column is there, and no line is longer than the screen."""
    monkeypatch.setenv("COLUMNS", "80")
    assert usage() == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    spent, gained = [line for line in lines if line.startswith("  model")][:2]
    assert [*spent.split(), *gained.split()[2:]] == " ".join(HEAD).split()


def test_nothing_used_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MIDSTREAM_USAGE_FILE", str(tmp_path / "absent"))
    monkeypatch.setenv("MIDSTREAM_CONFIG", str(tmp_path / "config.toml"))
    assert usage() == 0
    assert capsys.readouterr().out == "Nothing has been used in the last seven days.\n"
    assert not (tmp_path / "absent").exists()
