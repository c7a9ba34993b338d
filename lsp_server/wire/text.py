"""Text that arrives in pieces."""

import re

_HALVES = re.compile("[\ud800-\udfff]")
_LONE = "\N{REPLACEMENT CHARACTER}"


class SurrogateJoiner:
    """Joins a character whose two halves came in two deltas, so that no lone half ever leaves.

    JSON can spell a character beyond the basic plane as two escapes, and a provider may cut
    between them. A half that never finds its partner becomes U+FFFD.
    """

    def __init__(self) -> None:
        self._held = ""

    def push(self, text: str) -> str:
        if not self._held and not _HALVES.search(text):
            return text
        text = self._held + text
        self._held = ""
        if "\ud800" <= text[-1:] <= "\udbff":
            self._held = text[-1]
            text = text[:-1]
        return _joined(text)

    def finish(self) -> str:
        held, self._held = self._held, ""
        return _LONE if held else ""


def _joined(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
