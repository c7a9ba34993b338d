"""A model whose host says that nothing is left rests before it is refused, and comes back by itself."""

from collections.abc import AsyncGenerator

import pytest

from lsp_server.engine.health import Health
from lsp_server.engine.ports import Delta, Event, Finish, Quota, Request
from tests.engine.test_router import Routes, Troubled

SPENT = Quota(0, 40.0)


class Counted(Troubled):
    """Says with each answer how much is left."""

    quota: Quota | None = None

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        self.asked.append(0.0)
        yield Delta("ok", quota=self.quota)
        yield Delta("!")
        yield Finish("stop")


def routes_with(quota: Quota | None, *, fallback: bool = True) -> tuple[Routes, Counted]:
    routes = Routes(fallback=fallback)
    fast = Counted("fast")
    fast.quota = quota
    others, routes.fast = routes.router.backend_of, fast
    routes.router.backend_of = lambda name: fast if name == "fast" else others(name)
    return routes, fast


async def test_with_nothing_left_another_model_takes_over_until_the_reset() -> None:
    routes, fast = routes_with(SPENT)
    assert await routes.ask() == "ok!."
    assert routes.router.backend("edit").name == "spare"
    assert await routes.ask(after=39) == "ok."
    fast.quota = Quota(100, 60.0)
    assert await routes.ask(after=1) == "ok!."
    assert routes.router.backend("edit").name == "fast"
    assert routes.asked == (2, 1, 0)
    assert routes.router.health("fast").quota == Quota(100, 60.0)
    assert routes.told == [
        "fast has used up what its host allows; spare takes over until that starts again, in 40 s."
    ]


async def test_a_limit_that_is_used_up_each_minute_is_told_once_in_a_while() -> None:
    routes, _ = routes_with(SPENT)
    for _ in range(10):
        await routes.ask(after=41)
    assert len(routes.told) == 1
    await routes.ask(after=1000)
    assert len(routes.told) == 2


@pytest.mark.parametrize("quota", [Quota(1, 40.0), None])
async def test_a_model_with_something_left_goes_on(quota: Quota | None) -> None:
    routes, _ = routes_with(quota)
    await routes.ask()
    assert routes.router.backend("edit").name == "fast"
    assert routes.told == []


async def test_an_answer_that_began_earlier_does_not_end_the_rest() -> None:
    """Two answers at once: the later one used the last request up, then the earlier one begins."""
    health = Health().told(SPENT, now=10.0).answered(0.5).told(Quota(1, 41.0), now=11.0)
    assert health.rests(49.0)
    assert not health.rests(50.0)


async def test_without_a_fallback_the_host_decides() -> None:
    """Nothing left may mean less than a thousand tokens, and refusing is the host's to do."""
    routes, _ = routes_with(SPENT, fallback=False)
    assert [await routes.ask() for _ in range(2)] == ["ok!.", "ok!."]
    assert routes.told == []
