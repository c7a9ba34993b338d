"""Shared by all tests: no test leaves a task behind, and where everything is required none is skipped."""

import asyncio
import os
from collections.abc import AsyncIterator, Generator
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

# A build is judged on the same examples each time; at a desk new ones are tried with every run. A machine
# may be slow: no example has a deadline.
settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
REQUIRED = bool(os.environ.get("MIDSTREAM_REQUIRE"))
settings.load_profile("ci" if REQUIRED or os.environ.get("CI") else "desk")


@pytest.fixture(autouse=True)
async def no_leaked_tasks(request: pytest.FixtureRequest) -> AsyncIterator[None]:
    """Fail a test whose tasks outlive it, once cancelled ones had a few turns to unwind."""
    before = asyncio.all_tasks()
    yield
    for _ in range(10):
        left = asyncio.all_tasks() - before - {asyncio.current_task()}
        if not left:
            return
        await asyncio.sleep(0)
    pytest.fail(f"tasks left behind: {sorted(task.get_name() for task in left)}")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Every test that drives a real editor is marked as one."""
    if "/tests/editors" in item.path.as_posix():
        item.add_marker(pytest.mark.editor)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes too long or brings too much for every run runs where it is asked for: `-m nightly`."""
    if "nightly" not in str(config.getoption("markexpr")):
        items[:] = [item for item in items if item.get_closest_marker("nightly") is None]


class OneDesk(LoadScopeScheduling):
    """Spreads files over the workers; the real editors, which are large, stay together on one."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "editors" if file.startswith("tests/editors") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneDesk:
    """How `scripts/test` shares the work between its two workers."""
    return OneDesk(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where everything is required, a skipped test has failed."""
    report = yield
    if REQUIRED and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, but everything is required here: {_reason(report.longrepr)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a whole file that skips itself."""
    report = yield
    if REQUIRED and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, but everything is required here: {_reason(report.longrepr)}"
    return report


def _reason(longrepr: object) -> object:
    return longrepr[2] if isinstance(longrepr, tuple) else longrepr
