"""How a model has been answering, and whether to ask it now. Pure: the caller brings the clock."""

from dataclasses import dataclass, replace

from lsp_server.engine.errors import BackendError, Overloaded, RateLimited, Rejected
from lsp_server.engine.ports import Quota

LONGEST_REST = 30.0
"""Seconds between tries, at most, while the provider does not say how long to wait."""

WINDOW, WINDOW_REQUESTS = 10.0, 3
"""While a model refuses, at most so many requests in any so many seconds."""

REMEMBERED = 20


@dataclass(frozen=True, slots=True)
class Health:
    """One model's state; times are seconds of a monotonic clock.

    `error` is the trouble it is in, None when it is well. `sent` are the requests since the trouble began.
    `latencies` are the last times to the first token, in seconds. `quota` is what its host told last of
    its limits, `spent_until` when the one that is used up starts again.
    """

    error: BackendError | None = None
    failures: int = 0
    rest_until: float = 0.0
    sent: tuple[float, ...] = ()
    latencies: tuple[float, ...] = ()
    quota: Quota | None = None
    spent_until: float = float("-inf")

    @property
    def latency(self) -> float | None:
        """The median of the recent times to the first token; None before the first answer."""
        ordered = sorted(self.latencies)
        return ordered[len(ordered) // 2] if ordered else None

    @property
    def refuses(self) -> bool:
        """True while asking again does harm: the provider said that there are too many requests."""
        return isinstance(self.error, RateLimited | Overloaded)

    def rests(self, now: float) -> bool:
        """True while another model should be asked."""
        if now < self.spent_until:
            return True
        if self.error is None:
            return False
        recent = sum(now - at < WINDOW for at in self.sent)
        return now < self.rest_until or (self.refuses and recent >= WINDOW_REQUESTS)

    def asked(self, now: float) -> "Health":
        """A request goes out."""
        if self.error is None:
            return self
        return replace(self, sent=(*self.sent[-WINDOW_REQUESTS:], now))

    def answered(self, first_token: float) -> "Health":
        """The first token came after so many seconds: all is well."""
        latencies = (*self.latencies[1 - REMEMBERED :], first_token)
        return Health(latencies=latencies, quota=self.quota, spent_until=self.spent_until)

    def told(self, quota: Quota, now: float) -> "Health":
        """The host told how much it still takes. With nothing left the next request would be refused."""
        spent = now + quota.reset if quota.remaining == 0 else self.spent_until
        return replace(self, quota=quota, spent_until=max(spent, self.spent_until))

    def failed(self, error: BackendError, asked: float, now: float) -> "Health":
        """A request of the time `asked` failed. What is wrong with one request says nothing of the next."""
        if isinstance(error, Rejected):
            return self
        failures = self.failures + 1
        wait = error.retry_after if isinstance(error, RateLimited) else None
        if wait is None:
            wait = min(LONGEST_REST, 2.0 ** min(failures - 1, 10))
        sent = self.sent if asked in self.sent else (*self.sent[-WINDOW_REQUESTS:], asked)
        return replace(self, error=error, failures=failures, rest_until=now + wait, sent=sent)
