"""When to try again: back-off between connection attempts, and the pace while rate-limited.

Pure state; times are seconds of one monotonic clock, passed in.
"""

import random
from collections import deque
from collections.abc import Callable

from lsp_server.engine.errors import BackendError, RateLimited

LONGEST = 30.0
"""Seconds of the longest back-off."""

PERMANENT = 60.0
"""Seconds between attempts where trying again cannot help until somebody changes something."""


def jitter() -> float:
    """A factor near 1 that keeps many clients from coming back at the same moment."""
    return random.uniform(0.75, 1.0)


class Backoff:
    """Back-off after failed attempts: 1, 2, 4 ... seconds up to the longest, times the jitter.

    `jitter` gives a factor, near 1, for each delay.
    """

    def __init__(self, jitter: Callable[[], float]) -> None:
        self._jitter = jitter
        self._failures = 0
        self._not_before = float("-inf")
        self.error: BackendError | None = None

    def failed(self, now: float, error: BackendError) -> None:
        self.error = error
        if isinstance(error, RateLimited) and error.retry_after is not None:
            delay = max(error.retry_after, 1.0)
        elif not error.retryable:
            delay = PERMANENT
        else:
            delay = min(2.0**self._failures, LONGEST) * self._jitter()
        self._failures += 1
        self._not_before = now + delay

    def succeeded(self) -> None:
        self._failures = 0
        self._not_before = float("-inf")
        self.error = None

    def wait(self, now: float) -> float:
        """Seconds until the next attempt may be made."""
        return max(self._not_before - now, 0.0)


class Pace:
    """What a rate limit leaves: `retry-after` or back-off, and never more than 3 requests in 10 seconds.

    The limit is over with the first answer that ends well.
    """

    WINDOW = 10.0
    REQUESTS = 3

    def __init__(self, jitter: Callable[[], float]) -> None:
        self._jitter = jitter
        self._limits = 0
        self._not_before = float("-inf")
        self._sent: deque[float] = deque(maxlen=self.REQUESTS)
        self.error: RateLimited | None = None

    def sent(self, now: float) -> None:
        self._sent.append(now)

    def limited(self, now: float, error: RateLimited) -> None:
        self.error = error
        delay = error.retry_after
        if delay is None:
            delay = min(2.0**self._limits, LONGEST) * self._jitter()
        self._limits += 1
        self._not_before = max(self._not_before, now + delay)

    def succeeded(self) -> None:
        if self.error is not None:
            self._limits = 0
            self._not_before = float("-inf")
            self.error = None

    def check(self, now: float) -> None:
        """Raise the last RateLimited while the next request must not go out yet."""
        if self.error is None:
            return
        full = len(self._sent) == self.REQUESTS and now < self._sent[0] + self.WINDOW
        if full or now < self._not_before:
            raise self.error
