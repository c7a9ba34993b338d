"""Every request is booked, and no limit is ever crossed."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lsp_server.core.prompt import Chat
from lsp_server.engine.errors import BackendError, BudgetExceeded, RateLimited, Stalled
from lsp_server.engine.meter import Meter, Metered, usage_file
from lsp_server.engine.ports import Request, Task
from lsp_server.engine.usage import UsageLine
from lsp_server.settings import Budget, Model, Prices, load
from tests.support.scripted_model import ScriptedModel

NOON = 1_796_040_000.0
DAY = 86400
PRICES = Prices(input=1.0, cached=0.1, output=10.0)
PAID = Model(name="paid", protocol="responses-ws", model="m", prices=PRICES)
LOCAL = Model(name="local", protocol="local", model="m")


def request(task: Task = "edit", text: str = "x" * 300, max_tokens: int = 100) -> Request:
    return Request(task, Chat("", "", text), max_tokens)


def budget(**keys: object) -> Budget:
    settings, problems = load(None, {}, {"budget": keys}, None)
    assert problems == []
    return settings.budget


class Bench:
    """A meter whose days are the test's, and what it told the user."""

    def __init__(self, path: Path | None = None) -> None:
        self.now = NOON
        self.budget = Budget()
        self.told: list[str] = []
        self.meter = Meter(path, lambda: self.budget, self.told.append, clock=lambda: self.now)

    async def ask(
        self, model: Model = PAID, backend: ScriptedModel | None = None, **kind: Any
    ) -> ScriptedModel:
        """Run one request to its end; by default the model answers with one delta of ten tokens."""
        backend = backend or ScriptedModel([["y" * 30]])
        async with aclosing(Metered(backend, model, self.meter).stream(request(**kind))) as stream:
            async for _ in stream:
                pass
        return backend

    async def refused(self, model: Model = PAID, **kind: Any) -> str:
        """The sentence with which a request is refused; nothing of it may reach the model."""
        backend = ScriptedModel([["y"]])
        with pytest.raises(BudgetExceeded) as refusal:
            await self.ask(model, backend, **kind)
        assert backend.calls == []
        return str(refusal.value)

    async def total(self) -> UsageLine:
        return (await self.meter.report()).today[-1]


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    bench = Bench()
    yield bench
    await bench.meter.close()


async def test_what_the_provider_counts_is_booked(bench: Bench) -> None:
    await bench.ask()
    line = await bench.total()
    assert (line.requests, line.input_tokens, line.output_tokens, line.estimated) == (1, 10, 1, 0)
    assert line.cost == pytest.approx(10 * 1e-6 + 1 * 10e-6)
    assert line.first_token_p50 is not None


@pytest.mark.parametrize(("cancel", "output"), [("auto", 100), ("lane", 100), ("close", 10), ("event", 10)])
async def test_a_cancelled_request_is_estimated_and_marked(bench: Bench, cancel: Any, output: int) -> None:
    backend = ScriptedModel()
    seen = asyncio.Event()

    async def read() -> None:
        stream = Metered(backend, replace(PAID, cancel=cancel), bench.meter).stream(request())
        async with aclosing(stream):
            async for _ in stream:
                seen.set()

    reading = asyncio.create_task(read())
    while not backend.calls:
        await asyncio.sleep(0)
    backend.calls[0].say("y" * 30)
    await seen.wait()
    reading.cancel()
    await asyncio.wait([reading])
    line = await bench.total()
    assert (line.cancelled, line.estimated) == (1, 1)
    assert (line.input_tokens, line.output_tokens, line.wasted_tokens) == (100, output, output)


@pytest.mark.parametrize(
    ("error", "said", "tokens"),
    [
        (RateLimited("slow down"), (), 0),
        (Stalled("nothing came"), (), 100),
        (BackendError("broke"), ("y" * 30,), 110),
    ],
)
async def test_a_failed_request_costs_what_the_provider_may_have_done(
    bench: Bench, error: BackendError, said: tuple[str, ...], tokens: int
) -> None:
    backend = ScriptedModel()
    model = replace(PAID, cancel="close")
    asking = asyncio.create_task(bench.ask(model, backend))
    while not backend.calls:
        await asyncio.sleep(0)
    backend.calls[0].say(*said)
    backend.calls[0].fail(error)
    with pytest.raises(type(error)):
        await asking
    line = await bench.total()
    assert (line.failed, line.input_tokens + line.output_tokens) == (1, tokens)


@pytest.mark.parametrize("zero", [{"perDay": 0}, {"perMonth": 0}, {"perDay": {"tokens": 0}}])
@pytest.mark.parametrize("prices", [PRICES, None, Prices()])
async def test_a_budget_of_zero_sends_nothing(bench: Bench, zero: Any, prices: Prices | None) -> None:
    bench.budget = budget(**zero)
    model = replace(PAID, prices=prices)
    assert "is 0, so nothing is sent" in await bench.refused(model)
    backend = ScriptedModel()
    await Metered(backend, model, bench.meter).warm(request())
    assert backend.warmed == []
    assert len((await bench.ask(LOCAL)).calls) == 1


async def test_a_model_of_its_own_budget_of_zero_sends_nothing_even_here(bench: Bench) -> None:
    bench.budget = budget(perDay={"models": {"local": 0}})
    assert "budget per day of local is 0" in await bench.refused(LOCAL)
    assert len((await bench.ask(PAID)).calls) == 1


async def test_a_request_that_would_cross_a_limit_is_not_sent(bench: Bench) -> None:
    bench.budget = budget(perDay={"tokens": 1000})
    await bench.ask(max_tokens=500)
    assert await bench.refused(max_tokens=990) == (
        "The budget per day (1000 tokens) would be crossed, 11 tokens are used; raise budget.perDay to go on."
    )
    await bench.ask(max_tokens=500)


async def test_a_new_day_is_a_new_budget_and_a_month_is_not(bench: Bench) -> None:
    bench.budget = budget(perDay={"tokens": 800}, perMonth={"tokens": 810})
    await bench.ask(max_tokens=500)
    await bench.refused(max_tokens=590)
    bench.now -= DAY
    assert "per month" in await bench.refused(max_tokens=586)
    bench.budget = budget(perDay={"tokens": 800})
    await bench.ask(max_tokens=500)


async def test_the_user_is_warned_once_at_80_percent(bench: Bench) -> None:
    bench.budget = budget(perDay={"money": 0.01, "models": {"paid": {"tokens": 100_000}}})
    for _ in range(3):
        await bench.ask(max_tokens=790)
    assert bench.told == ["More than 80 % of the budget per day (0.01) is used."]
    bench.now += DAY
    await bench.ask(max_tokens=790)
    assert len(bench.told) == 2


async def test_a_model_without_a_price_cannot_keep_a_money_limit(bench: Bench) -> None:
    bench.budget = budget(perDay=1)
    unknown = Model(name="new", protocol="chat-http", model="x", url="https://host.example/v1")
    assert "set models.new.prices" in await bench.refused(unknown)
    bench.budget = budget(perDay={"tokens": 10_000})
    await bench.ask(unknown)


async def test_a_request_cancelled_while_it_is_booked_costs_nothing(bench: Bench) -> None:
    bench.budget = budget(perDay={"tokens": 10_000})
    backend = ScriptedModel()
    asking = asyncio.create_task(bench.ask(backend=backend))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait([asking])
    assert backend.calls == []
    report = await bench.meter.report()
    assert report.limits[0].used == 0


async def test_without_limits_a_request_does_not_wait_for_the_disk(bench: Bench) -> None:
    backend = ScriptedModel()
    asking = asyncio.create_task(bench.ask(backend=backend))
    for _ in range(3):
        await asyncio.sleep(0)
    assert len(backend.calls) == 1
    backend.calls[0].finish("y")
    await asking


async def test_what_is_read_ahead_is_booked(bench: Bench) -> None:
    backend = ScriptedModel()
    await Metered(backend, PAID, bench.meter).warm(request())
    line = (await bench.meter.report()).today[0]
    assert (len(backend.warmed), line.task, line.input_tokens, line.output_tokens) == (1, "warm", 100, 0)


async def test_a_file_that_cannot_be_used_refuses_what_is_limited_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    bench = Bench(tmp_path / "file" / "usage.sqlite3")
    await bench.ask()
    bench.budget = budget(perDay=1)
    assert "cannot be used" in await bench.refused()
    assert (await bench.total()).requests == 1
    await bench.meter.close()


async def test_a_damaged_file_is_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "usage.sqlite3"
    path.write_bytes(b"no database" * 1000)
    bench = Bench(path)
    await bench.ask()
    assert (await bench.total()).requests == 1
    assert path.with_name("usage.sqlite3.damaged").exists()
    await bench.meter.close()


async def test_usage_outlives_the_process(tmp_path: Path) -> None:
    for count in (1, 2):
        bench = Bench(tmp_path / "deep" / "usage.sqlite3")
        await bench.ask()
        assert (await bench.total()).requests == count
        await bench.meter.close()


SPENDER = """
import sys
from pathlib import Path
from lsp_server.engine.errors import BudgetExceeded
from lsp_server.engine.ledger import Cap, Entry, Ledger, Settlement
from lsp_server.engine.ports import Usage

ledger = Ledger(Path(sys.argv[1]))
sent = 0
try:
    while True:
        caps = [Cap("day", "tokens", 10_000)]
        booked = ledger.reserve(Entry("m", "edit", True), Usage(40, 0, 60), 1000, caps, 1e9)
        sent += 1
        # Settled at less than was booked, so that the others may use the rest.
        ledger.settle(booked.id, Settlement("done", Usage(30, 0, 20), 500))
except BudgetExceeded:
    print(sent)
"""


def test_several_editors_together_keep_a_limit_exactly(tmp_path: Path) -> None:
    path = tmp_path / "usage.sqlite3"
    spenders = [
        subprocess.Popen([sys.executable, "-c", SPENDER, str(path)], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    sent = [int(spender.communicate()[0]) for spender in spenders]
    assert [spender.returncode for spender in spenders] == [0] * 4
    # 50 tokens each, and at the end 100 must be free to book one more.
    assert 10_000 - 4 * 50 - 50 <= sum(sent) * 50 <= 10_000


def test_the_file_can_be_named(tmp_path: Path) -> None:
    assert usage_file({"MIDSTREAM_USAGE_FILE": str(tmp_path / "x")}) == tmp_path / "x"
    assert usage_file({}).name == "usage.sqlite3"
