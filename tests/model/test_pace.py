"""Back-off and pace, as pure state."""

import pytest

from lsp_server.engine.errors import RateLimited, Unauthorized, Unreachable
from lsp_server.model.pace import Backoff, Pace, jitter


def test_back_off_doubles_to_its_longest_and_starts_again() -> None:
    backoff, now, waits = Backoff(lambda: 1.0), 0.0, []
    for _ in range(7):
        backoff.failed(now, Unreachable("x"))
        waits.append(backoff.wait(now))
        now += backoff.wait(now)
    assert waits == [1, 2, 4, 8, 16, 30, 30]
    backoff.succeeded()
    assert backoff.wait(now) == 0
    assert backoff.error is None


def test_what_only_a_change_can_cure_is_tried_once_a_minute() -> None:
    backoff = Backoff(lambda: 1.0)
    backoff.failed(0, Unauthorized("x"))
    assert backoff.wait(0) == 60


def test_a_rate_limit_at_the_door_is_honoured_but_never_at_once() -> None:
    backoff = Backoff(lambda: 1.0)
    backoff.failed(0, RateLimited("x", retry_after=7))
    assert backoff.wait(0) == 7
    backoff.failed(0, RateLimited("x", retry_after=0))
    assert backoff.wait(0) == 1


def test_the_jitter_stays_near_one() -> None:
    assert all(0.75 <= jitter() <= 1.0 for _ in range(100))


@pytest.mark.parametrize("after", [0.0, 2.0, None])
def test_B95_a_limited_model_gets_few_requests(after: float | None) -> None:
    """50 keystrokes over 10 seconds, all of them refused by the provider."""
    pace, sent = Pace(lambda: 1.0), 0
    for key in range(50):
        now = key * 0.2
        try:
            pace.check(now)
        except RateLimited:
            continue
        pace.sent(now)
        sent += 1
        pace.limited(now, RateLimited("x", retry_after=after))
    assert 1 < sent <= 6
    pace.check(100.0)
    pace.succeeded()
    for _ in range(20):
        pace.check(100.0)
        pace.sent(100.0)


def test_without_a_limit_there_is_no_pace() -> None:
    pace = Pace(lambda: 1.0)
    for _ in range(1000):
        pace.check(0)
        pace.sent(0)
        pace.succeeded()
