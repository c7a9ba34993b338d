"""Ending an answer before a given text, for hosts that cannot do it themselves."""

from collections.abc import Sequence


class StopCutter:
    """Passes text on until a stop text begins; `stopped` is True from then on.

    Text that could be the beginning of a stop text is held back until the next piece decides.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self.stopped = False
        self._stops = [stop for stop in stops if stop]
        self._held = ""

    def push(self, text: str) -> str:
        if self.stopped:
            return ""
        if not self._stops:
            return text
        text = self._held + text
        found = [place for stop in self._stops if (place := text.find(stop)) >= 0]
        if found:
            self.stopped = True
            self._held = ""
            return text[: min(found)]
        keep = max(_overlap(text, stop) for stop in self._stops)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def finish(self) -> str:
        """What was held back for a stop text that did not come."""
        held, self._held = self._held, ""
        return held


def _overlap(text: str, stop: str) -> int:
    """The length of the longest end of the text that begins the stop text."""
    longest = min(len(text), len(stop) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(stop[:size])), 0)
