"""Taking an edit back without taking the user's own later changes with it."""

from dataclasses import dataclass
from difflib import SequenceMatcher

from lsp_server.core.text import split_lines


@dataclass(frozen=True, slots=True)
class Revert:
    """The text after the revert. `kept` counts lines of the edit that the user changed since."""

    text: str
    kept: int


def revert(original: str, produced: str, current: str) -> Revert:
    """Turn what an edit changed from `original` to `produced` back, in a text that is `current` by now.

    Line by line: a change of the edit is taken back where its lines still read as it wrote them; where
    the user changed one of them since, that whole change stays.
    """
    if current == produced:
        return Revert(original, 0)
    before, written, now = split_lines(original), split_lines(produced), split_lines(current)
    place = _places(written, now)
    text: list[str] = []
    kept, done = 0, 0
    for tag, old_start, old_end, start, end in SequenceMatcher(
        None, before, written, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            continue
        first, last = place[start], place[end]
        untouched = first is not None and last is not None and now[first:last] == written[start:end]
        if not untouched or first is None or last is None or first < done:
            kept += max(1, end - start)
            continue
        text += now[done:first] + before[old_start:old_end]
        done = last
    text += now[done:]
    return Revert("".join(text), kept)


def _places(written: list[str], now: list[str]) -> list[int | None]:
    """For each border between two written lines: the border of the current lines that it became."""
    place: list[int | None] = [None] * (len(written) + 1)
    for a, b, size in SequenceMatcher(None, written, now, autojunk=False).get_matching_blocks():
        for step in range(size + 1):
            place[a + step] = b + step
    return place
