"""Characters that a provider cut in two."""

import re

_LONE = re.compile("[\ud800-\udfff]")


class Surrogates:
    """Joins the halves of a surrogate pair, across deltas too; a half without the other is dropped."""

    def __init__(self) -> None:
        self._half = ""

    def push(self, text: str) -> str:
        """The text that is complete."""
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return _joined(text[: len(text) - len(self._half)])

    def finish(self) -> str:
        """Nothing: a half that is left has no other."""
        self._half = ""
        return ""


def _joined(text: str) -> str:
    if not _LONE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
