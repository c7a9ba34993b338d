"""A model in a loop, noticed while it streams."""

from collections import deque

REPEATS = 5
LONGEST_BLOCK = 4


class Runaway:
    """Push machine that notices the same line, or block of up to 4 lines, 5 times in a row.

    `found` says so; `keep` is then how many characters of the stream come before the second of the
    repeats. Only complete lines count. Repeats that `original` has as well are the code's own.
    """

    def __init__(self, original: str = "") -> None:
        self._original = original.replace("\r\n", "\n")
        self._line = ""
        self._length = 0
        self._lines = deque[tuple[int, str]](maxlen=REPEATS * LONGEST_BLOCK)
        self._equal = [0] * (LONGEST_BLOCK + 1)
        self.found = False
        self.keep = 0

    def push(self, text: str) -> bool:
        """Take the next piece; true once a loop was found."""
        *complete, self._line = (self._line + text).split("\n")
        for line in complete:
            if not self.found:
                self._take(line + "\n")
        return self.found

    def _take(self, line: str) -> None:
        start = self._length
        self._length += len(line)
        for period in range(1, LONGEST_BLOCK + 1):
            repeated = len(self._lines) >= period and _same(self._lines[-period][1], line)
            self._equal[period] = self._equal[period] + 1 if repeated else 0
        self._lines.append((start, line))
        for period in range(1, LONGEST_BLOCK + 1):
            if self._equal[period] >= period * (REPEATS - 1) and not self._is_original(period):
                self.found = True
                self.keep = self._lines[-period * (REPEATS - 1)][0]
                return

    def _is_original(self, period: int) -> bool:
        tail = list(self._lines)[-period * REPEATS :]
        return "".join(line for _, line in tail).replace("\r\n", "\n") in self._original


def _same(a: str, b: str) -> bool:
    return a.rstrip() == b.rstrip()
