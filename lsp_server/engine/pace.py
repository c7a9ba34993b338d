"""When the next patch may go, and as how many edits: what undo and the client's quirks ask for."""

import asyncio
from collections.abc import Sequence

from lsp_server.core.edits import Edit, apply, hull, replacement

PATCH_INTERVAL = 0.04
"""Seconds between patches where the client joins them into one undo step: 25 a second."""

FIRST_STEP, STEPS = 0.1, 7
"""Where each patch is an undo step: intervals double from 0.1 s, with at most 7 steps and the last."""

SPARING = 1.1
"""Edits are joined to one that touches at most so many times their characters."""


class Pace:
    """When the next patch may go (times on the running loop's clock)."""

    def __init__(self, *, grouped: bool, atomic: bool) -> None:
        self._grouped = grouped
        self._left = 0 if atomic else STEPS
        self._interval = FIRST_STEP
        self._last = -PATCH_INTERVAL

    def next(self) -> float | None:
        """The earliest moment for the next patch; None when it must wait for the end of the reply."""
        now = asyncio.get_running_loop().time()
        if self._grouped and self._left:
            self._last = max(now, self._last + PATCH_INTERVAL)
            return self._last
        if not self._left:
            return None
        self._left -= 1
        moment = now + self._interval
        self._interval *= 2
        return moment


def safe_parts(edit: Edit, before: str) -> list[Edit]:
    """An edit as VS Code can apply it without damage.

    It reduces workspace edits to what differs in UTF-16 units, and of two characters that share half of
    a surrogate pair it loses the other half; a deletion and an insertion share nothing.
    """
    removed = before[edit.start : edit.end]
    if not (has_pairs(removed) and has_pairs(edit.text)):
        return [edit]
    return [Edit(edit.start, edit.end, ""), Edit(edit.start, edit.start, edit.text)]


def has_pairs(text: str) -> bool:
    """True when UTF-16 needs a surrogate pair for one of the characters."""
    return not text.isascii() and max(text) > "\uffff"


def joined(before: str, edits: Sequence[Edit]) -> list[Edit]:
    """The same change in fewer edits, because each costs a round trip to the client.

    Edits that follow each other become one as long as that touches hardly more characters than they do.
    """
    found: list[Edit] = []
    last: list[Edit] = []
    touched = 0
    for edit in edits:
        touched += edit.size
        both = merged(before, [*last, edit])
        if last and sum(each.size for each in both) > SPARING * touched:
            found += last
            before, both, touched = apply(before, last), [edit], edit.size
        last = both
    return found + last


def merged(before: str, edits: Sequence[Edit]) -> list[Edit]:
    """The same change as at most one edit."""
    old, new = hull(edits)
    after = apply(before, edits)
    edit = replacement(before[old.start : old.end], after[new.start : new.end], old.start)
    return [] if edit is None else [edit]
