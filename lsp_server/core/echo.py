"""Was that us? Telling our own patch from the user's keys in what the client reports.

Clients differ. Some report the very edit that we sent. Some report the smallest difference instead,
or the whole text, and merge our patch with the user's keys into one change. Some report late, some
drop a patch and say that they applied it. So nothing but the reported text is believed.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lsp_server.core.document import Document
from lsp_server.core.edits import Edit, inverse, moved, replacement
from lsp_server.core.text import Span, split_lines


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one notification holds: our patch, the user's typing, or both.

    `typing` is the user's part, in as small pieces as can be told, each relative to what the one
    before left. It starts from the text in which the patch has landed, or from the text before the
    notification when `echo` is False; `()` means that the user did nothing.
    """

    echo: bool
    typing: tuple[Edit, ...]


def classify(before: Document, after: Document, edits: Sequence[Edit], expected: Edit | None) -> Verdict:
    """Judge the notification that turned `before` into `after` by `edits`.

    `expected` is the outstanding patch, relative to `before`; None when there is none.

    There are two stories: the patch has landed and the user typed the rest, or the user typed it all.
    The one in which the user did less is believed.

    - When the patch explains everything, it is an echo and nothing else.
    - When one of several edits is the patch, moved by those before it, it is an echo, even if the
      others took it back.
    - When both stories cost the user the same, it is typing: to miss an echo ends a generation, to
      imagine one would leave it writing into a text that is not there.

    What cannot be told apart goes to the cheaper story: a user who types just what the patch brings,
    at its place, has written the patch. Either way `typing` leads to `after`, so no key is lost.

    The work follows the size of the edits, not that of the document, and any input gives a verdict.
    """
    if expected is None:
        return Verdict(False, _difference(before, after, _hunks(edits)))
    expected = _within(expected, before)
    landed = before.edited(expected, before.version)
    undone = inverse(expected, before.slice(expected.start, expected.end))
    beside = _difference(landed, after, _bridged(_hunks([undone, *edits])))
    if not beside:
        # Nearly always, and the other story of a large patch would take long to tell.
        return Verdict(True, ())
    typing = _difference(before, after, _hunks(edits))
    patch = Span(expected.start, expected.start + len(expected.text))
    less = _size(beside) + _spread(beside, patch) < _size(typing)
    echo = _reported(expected, edits) or less
    return Verdict(True, beside) if echo else Verdict(False, typing)


def _within(edit: Edit, document: Document) -> Edit:
    start = max(0, min(edit.start, document.length))
    return Edit(start, max(start, min(edit.end, document.length)), edit.text)


def _reported(expected: Edit, edits: Sequence[Edit]) -> bool:
    """True when one of the edits is the expected one, before or behind what was typed at its place."""
    before = behind = expected.start
    for edit in edits:
        same = edit.text == expected.text and edit.end - edit.start == expected.end - expected.start
        if same and edit.start in (before, behind) and not edit.is_noop:
            return True
        before, behind = moved(before, edit), moved(behind, edit, after_insert=True)
    return False


def _size(typing: Sequence[Edit]) -> int:
    return sum(edit.end - edit.start + len(edit.text) for edit in typing)


def _spread(typing: Sequence[Edit], patch: Span) -> int:
    """What it adds to count several changes within the patch as one, from the first to the last.

    In a patch that landed just now the user has changed one place at most; without this, a line typed
    in the shape of the patch would pass for it. `typing` goes from the bottom up.
    """
    inside = [edit for edit in typing if edit.start < patch.end and patch.start < edit.end]
    return 2 * sum(below.start - above.end for below, above in pairwise(inside))


@dataclass(frozen=True, slots=True)
class _Hunk:
    """A place that changed: its span in the old and in the new text."""

    old: Span
    new: Span


# Beyond this many edits the hull of all of them is one hunk, which keeps the work linear.
_MOST_EDITS = 64
# A difference may be reported elsewhere in repeated text, so hunks this close are judged together.
_BRIDGE = 4096
# From this many differing lines, or words, two texts count as different throughout.
_MOST_DIFFERENCES = 100


def _hunks(edits: Sequence[Edit]) -> list[_Hunk]:
    """The places that successive edits changed: ascending, and apart from one another."""
    hunks: list[_Hunk] = []
    for edit in edits:
        left = [hunk for hunk in hunks if hunk.new.end < edit.start]
        right = [hunk for hunk in hunks if edit.end < hunk.new.start]
        touched = hunks[len(left) : len(hunks) - len(right)]
        if len(edits) > _MOST_EDITS:
            left, right, touched = [], [], hunks
        start = min([edit.start, *(hunk.new.start for hunk in touched)])
        end = max([edit.end, *(hunk.new.end for hunk in touched)])
        old = Span(start - _growth(left), end - _growth(left + touched))
        moved_right = [
            _Hunk(hunk.old, Span(hunk.new.start + edit.delta, hunk.new.end + edit.delta)) for hunk in right
        ]
        hunks = [*left, _Hunk(old, Span(start, end + edit.delta)), *moved_right]
    return hunks


def _growth(hunks: Sequence[_Hunk]) -> int:
    """How much further right a place behind these hunks is in the new text."""
    return hunks[-1].new.end - hunks[-1].old.end if hunks else 0


def _bridged(hunks: Sequence[_Hunk]) -> list[_Hunk]:
    joined = list(hunks[:1])
    for hunk in hunks[1:]:
        last = joined[-1]
        if hunk.old.start - last.old.end > _BRIDGE:
            joined.append(hunk)
        else:
            joined[-1] = _Hunk(Span(last.old.start, hunk.old.end), Span(last.new.start, hunk.new.end))
    return joined


def _difference(old: Document, new: Document, hunks: Sequence[_Hunk]) -> tuple[Edit, ...]:
    """The pieces in which the hunks differ, the last one first, so that none moves another."""
    return tuple(
        edit
        for hunk in reversed(hunks)
        for edit in _pieces(
            old.slice(hunk.old.start, hunk.old.end), new.slice(hunk.new.start, hunk.new.end), hunk.old.start
        )
    )


def _words(text: str) -> list[str]:
    return re.findall(r"\w+|\s|[^\w\s]", text)


_Splitter = Callable[[str], list[str]]


def _pieces(
    old: str, new: str, at: int, splitters: Sequence[_Splitter] = (split_lines, _words, list)
) -> Iterator[Edit]:
    """Where `old`, which starts at offset `at`, differs from `new`: by lines, and within them by words."""
    whole = replacement(old, new, at)
    if whole is None:
        return
    removed = old[whole.start - at : whole.end - at]
    if not splitters or not removed or not whole.text:
        yield whole
        return
    split, *finer = splitters
    olds, news = split(removed), split(whole.text)
    runs = _common_runs(olds, news)
    if runs is None:
        yield whole
        return
    old_end, new_end, end = len(olds), len(news), whole.end
    for old_start, new_start, length in [*reversed(runs), (0, 0, 0)]:
        changed = "".join(olds[old_start + length : old_end])
        end -= len(changed)
        yield from _pieces(changed, "".join(news[new_start + length : new_end]), end, finer)
        end -= sum(map(len, olds[old_start : old_start + length]))
        old_end, new_end = old_start, new_start


def _common_runs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int]] | None:
    """The longest common subsequence, as runs of (index in old, index in new, length), ascending.

    This is Myers' greedy algorithm; None when the two differ in more than `_MOST_DIFFERENCES` places.
    """
    furthest = {1: 0}
    history = []
    for distance in range(min(_MOST_DIFFERENCES, len(old) + len(new)) + 1):
        history.append(furthest.copy())
        for diagonal in range(-distance, distance + 1, 2):
            x = furthest[source := _source(furthest, distance, diagonal)] + (source < diagonal)
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(old) and y >= len(new):
                return _runs(history, x, diagonal)
    return None


def _source(furthest: Mapping[int, int], distance: int, diagonal: int) -> int:
    """The diagonal from which a path enters this one: the one above by insertion, below by deletion."""
    below, above = diagonal - 1, diagonal + 1
    inserts = diagonal == -distance or (diagonal != distance and furthest[below] < furthest[above])
    return above if inserts else below


def _runs(history: Sequence[Mapping[int, int]], x: int, diagonal: int) -> list[tuple[int, int, int]]:
    """The matches on the path that ends at `x` on `diagonal`, read back from what each distance reached."""
    runs = []
    for distance in reversed(range(len(history))):
        source = _source(history[distance], distance, diagonal)
        start = history[distance][source] + (source < diagonal)
        if start < x:
            runs.append((start, start - diagonal, x - start))
        x, diagonal = history[distance][source], source
    return runs[::-1]
