"""How long to wait after a key before asking a model: from the typing rhythm and the model's latency."""

from collections import deque
from statistics import median

PAUSE = 1.0
"""Gaps of this many seconds or more are thinking, not typing; they say nothing about the rhythm."""

SHORTEST, LONGEST = 0.02, 0.4
UNKNOWN = 0.075
"""Seconds: the bounds, and the wait while no rhythm is known."""


class Rhythm:
    """Learns from keys and answers; every time is in seconds on one clock of the caller's."""

    def __init__(self) -> None:
        self._gaps: deque[float] = deque(maxlen=12)
        self._last: float | None = None
        self._latency: float | None = None

    def key(self, now: float) -> None:
        """A key was pressed."""
        if self._last is not None and now - self._last < PAUSE:
            self._gaps.append(now - self._last)
        self._last = now

    def answered(self, latency: float) -> None:
        """A model took `latency` to its first useful text."""
        self._latency = latency if self._latency is None else 0.7 * self._latency + 0.3 * latency

    def delay(self) -> float:
        """The wait that lets steady typing go on without a request for each key.

        A model that answers well within a gap is asked between two keys; a slower one is asked once
        the user has paused for longer than usual.
        """
        if len(self._gaps) < 3:
            return UNKNOWN
        gap = median(self._gaps)
        quick = self._latency is not None and self._latency < gap / 2
        return min(LONGEST, max(SHORTEST, gap * (0.3 if quick else 1.3)))
