"""A rewrite that arrives piece by piece, as edits that touch only what it changes.

New lines are aligned with old lines, never characters with characters: that is cheap enough for the
fastest model, and a change stays where a reader would see it.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from lsp_server.core.edits import Edit, common_prefix, common_suffix, replacement
from lsp_server.core.text import complete_lines, split_lines

# Old lines are skipped for lines that match beyond them and weigh more than this part of the skipped.
EVIDENCE = 1 / 3
# Of the inserted characters, this part may turn out to be in the old text too.
WASTE = 1 / 10
# The changed form of a line shares at least this part of its characters with it, at both ends.
SIMILAR = 0.6
# Of all places where an old line occurs, only the nearest so many are tried.
NEAREST = 8


class StreamingDiff:
    """Turns `old` into the text that is pushed, as far as the pushed text shows how.

    At any time the text consists of new lines that are final, then of the old lines that the stream has
    not reached. An old line goes only when a later one has come, or its changed form, or the end. The
    offsets of an edit are code points in the text that the edits before it left.

    New lines wait until it is clear what they replace: `_chains` are the ways to match them with old
    lines. The most plausible one is settled as soon as it keeps enough for what it skips. Where new
    lines match next to nothing they are inserted one by one, before the old line that comes next.
    """

    def __init__(self, old: str) -> None:
        self._old = _whole_lines(old)
        self._weights = list(accumulate(map(_weight, self._old), initial=0))
        self._rows: dict[str, list[int]] = defaultdict(list)
        for row, line in enumerate(self._old):
            self._rows[line].append(row)
        # The old lines from `_row` to `_end` are not reached; they start at `_at` in the text of now.
        self._row, self._end, self._at = 0, len(self._old), 0
        self._final: list[str] = []
        self._head = 0  # So many final lines are the unchanged start.
        self._partial: list[str] = []
        self._hunk, self._inserted, self._wasted = 0, 0, 0  # Characters since the last match.
        self._restart([])

    def push(self, text: str) -> list[Edit]:
        """The edits that follow from more of the new text; a line counts when its end has come."""
        self._partial.append(text)
        if "\n" not in text and "\r" not in text and not self._partial[0].endswith("\r"):
            return []
        lines, rest = complete_lines("".join(self._partial))
        self._partial = [rest]
        return [edit for line in lines for edit in self._push_line(line)]

    def finish(self) -> list[Edit]:
        """The edits that remain when the new text is complete."""
        rest = [*self._pending, *_whole_lines("".join(self._partial))]
        tail = _common_tail(rest, self._old[self._row :])
        self._end -= tail
        self._restart(rest[: len(rest) - tail])
        edits = self._settle(self._chains[-1]) if self._chains else []
        return edits + self._rewrite(self._end, self._pending)

    def _push_line(self, line: str) -> list[Edit]:
        self._extend(line)
        self._hunk += len(line)
        tip = self._tip
        if tip and not tip.exact and tip.new == len(self._pending) - 1:
            # A changed form is believed once the next line does not belie it.
            tip = tip.before
        most = self._chains[-1].kept if self._chains else 0
        if tip and tip.score + self._weights[self._row] > most - tip.kept:
            return self._settle(tip)
        if self._row == self._end:
            return self._insert(len(self._pending))
        # Inserting now gives up what the chains keep, and what the first line shares.
        wasted = self._wasted + 2 * most
        if not self._inserted:
            wasted += 2 * common_prefix(self._pending[0], self._old[self._row])
        # The last line waits on, because it may share its end with the old line that it replaces.
        if len(self._pending) > 1 and wasted <= WASTE * (self._hunk - len(line)):
            self._wasted = wasted
            return self._insert(len(self._pending) - 1)
        return []

    def _settle(self, tip: "_Match") -> list[Edit]:
        """Do what a chain says: rewrite what lies between its matches, and the matches themselves."""
        edits, done, pending = list[Edit](), 0, self._pending
        for match in tip.chain():
            edits += self._rewrite(match.old, pending[done : match.new])
            edits += self._rewrite(match.old + 1, [pending[match.new]])
            done = match.new + 1
        self._restart(pending[done:])
        self._hunk, self._inserted, self._wasted = sum(map(len, self._pending)), 0, 0
        return edits

    def _insert(self, count: int) -> list[Edit]:
        lines = self._pending[:count]
        self._inserted += count
        self._restart(self._pending[count:])
        return self._rewrite(self._row, lines)

    def _rewrite(self, row: int, lines: Sequence[str]) -> list[Edit]:
        """Replace the old lines up to `row` by `lines`, which are final then."""
        gone, text = self._old[self._row : row], "".join(lines)
        edit = replacement("".join(gone), text, self._at)
        if edit and not text:
            # Of equal lines the first ones go, so that an unchanged end is never touched.
            again = _common_tail(self._final[self._head :], gone)
            shift = sum(map(len, gone[len(gone) - again :]))
            edit = Edit(edit.start - shift, edit.end - shift, "")
        if not edit and self._head == len(self._final):
            self._head += len(lines)
        self._final += lines
        self._row, self._at = row, self._at + len(text)
        return [edit] if edit else []

    def _restart(self, lines: Sequence[str]) -> None:
        self._pending: list[str] = []
        self._chains: list[_Match] = []
        self._tip: _Match | None = None
        for line in lines:
            self._extend(line)

    def _extend(self, line: str) -> None:
        """Let a line wait, and extend the chains by the old lines that it may be.

        Of two chains the one that reaches further is kept only when it keeps more, so the last one
        keeps most. `_tip` is the most plausible one.
        """
        new = len(self._pending)
        self._pending.append(line)
        for old, kept in self._candidates(line, new):
            index = bisect_left(self._chains, old, key=lambda match: match.old)
            before = self._chains[index - 1] if index else None
            kept += before.kept if before else 0
            score = round(kept / EVIDENCE) + kept - self._weights[old + 1]
            match = _Match(old, new, line == self._old[old], kept, score, before)
            beaten = index
            while beaten < len(self._chains) and self._chains[beaten].kept <= kept:
                beaten += 1
            if beaten > index or index == len(self._chains) or self._chains[index].old > old:
                self._chains[index:beaten] = [match]
            if not self._tip or self._tip.score < score:
                self._tip = match

    def _candidates(self, line: str, new: int) -> list[tuple[int, int]]:
        """The old lines that may be `line`, the last one first, and what of it they keep."""
        rows = self._rows.get(line, [])
        first = bisect_left(rows, self._row)
        exact = [(row, _weight(line)) for row in rows[first : first + NEAREST] if row < self._end]
        if exact:
            return exact[::-1]
        anchors = {(self._row - 1, -1)} | ({(self._tip.old, self._tip.new)} if self._tip else set())
        # A changed form is looked for only where line follows line, give or take two.
        near = {
            row for old, at in anchors for row in range(max(old + 1, old + new - at - 2), old + new - at + 1)
        }
        shared = [
            (row, _shared(self._old[row], line)) for row in sorted(near, reverse=True) if row < self._end
        ]
        return [(row, kept) for row, kept in shared if kept]


@dataclass(frozen=True, slots=True)
class _Match:
    """An old line that goes on as a new line, and the chain of matches before it.

    `kept` is the weight of what the chain keeps. Once the weight of the old lines before the chain is
    added, `score` is above zero for a chain that keeps enough for what it skips.
    """

    old: int
    new: int
    exact: bool
    kept: int
    score: int
    before: "_Match | None"

    def chain(self) -> "list[_Match]":
        """The matches up to this one, in order."""
        chain = [self]
        while chain[-1].before:
            chain.append(chain[-1].before)
        return chain[::-1]


def _weight(line: str) -> int:
    """What a line counts as evidence; its indentation tells little."""
    return len(line.strip()) + 1


def _shared(old: str, new: str) -> int:
    """What the changed form of a line keeps of it; 0 for another line."""
    old, new = old.strip(), new.strip()
    start = common_prefix(old, new)
    kept = start + common_suffix(old[start:], new[start:])
    return kept if kept >= SIMILAR * max(len(old), len(new)) else 0


def _whole_lines(text: str) -> list[str]:
    lines = split_lines(text)
    return lines if lines[-1] else lines[:-1]


def _common_tail(a: Sequence[str], b: Sequence[str]) -> int:
    """How many lines `a` and `b` share at their end."""
    count = 0
    while count < min(len(a), len(b)) and a[-1 - count] == b[-1 - count]:
        count += 1
    return count
