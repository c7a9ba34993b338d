"""Shared by all tests: no test leaves a task behind, and where everything is required none is skipped."""

import asyncio
import os
from collections.abc import AsyncIterator, Generator

import pytest
from hypothesis import settings

# A build is judged on the same examples each time; at a desk new ones are tried with every run.
settings.register_profile("ci", derandomize=True, print_blob=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

REQUIRED = bool(os.environ.get("MIDSTREAM_REQUIRE"))


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
    """Editors and models are large: at most one of each kind runs at a time."""
    if "/tests/editors" in item.path.as_posix():
        item.add_marker(pytest.mark.editor)
    for kind in ("editor", "model"):
        if item.get_closest_marker(kind):
            item.add_marker(pytest.mark.xdist_group(kind))


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
