"""Shared fixtures: no test may leave a task behind."""

import asyncio
from collections.abc import AsyncIterator

import pytest


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
