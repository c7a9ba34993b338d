"""Patches under way and the regions they grow: what a report of the client says about both."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from lsp_server.core.document import Document
from lsp_server.core.echo import classify
from lsp_server.core.edits import Edit, Patch, grown_span, moved, moved_span
from lsp_server.core.text import Encoding, Range, Span


class Landing(Enum):
    """What became of a patch."""

    LANDED = "landed"
    MISPLACED = "misplaced"  # A version-blind client put it on a text that had moved.
    LOST = "lost"  # The next didChange came without it, so the client dropped it.
    REFUSED = "refused"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Misplaced:
    """A patch that landed where it does not belong, as `text`; `undo` takes it back."""

    undo: Edit
    text: str


class Region:
    """A span that follows its text. `owner` names the generation whose patches grow it.

    `produced` is its text as the owner's patches left it; `touched` says that somebody else changed
    one of its lines.
    """

    __slots__ = ("owner", "produced", "span", "touched")

    def __init__(self, owner: str, span: Span, text: str) -> None:
        self.owner = owner
        self.span = span
        self.produced = text
        self.touched = False

    def own(self, edit: Edit) -> None:
        """Follow a patch of the owner."""
        start = self.span.start
        self.produced = self.produced[: edit.start - start] + edit.text + self.produced[edit.end - start :]
        self.span = grown_span(self.span, edit)

    def foreign(self, edit: Edit, before: Document) -> None:
        """Follow anybody else's edit of `before`, and remember when it fell on one of the lines."""
        self.touched = self.touched or touches(edit, self.span, before)
        self.span = moved_span(self.span, edit)


@dataclass(slots=True)
class Outstanding:
    """A patch that was sent and is neither reported, lost nor refused.

    `blind`: the client does not compare versions, so the patch lands wherever its coordinates point
    by then. `intended` is where it belongs in the text as it is now; None once the user has changed what
    it would replace.
    """

    patch: Patch
    owner: str
    blind: bool
    coordinates: Range
    intended: Edit | None
    landing: asyncio.Future[Landing]

    @property
    def was_reported(self) -> bool:
        """True once a report has settled it, rather than the close of its document."""
        return self.landing.done() and self.landing.result() is not Landing.CLOSED

    def follows(self, others: Sequence[Edit]) -> Edit | None:
        """Where the patch belongs after edits of the user; None when one fell into what it replaces."""
        intended = self.intended
        for other in others:
            if intended is None or (other.start < intended.end and intended.start < other.end):
                return None
            intended = follow(intended, [other])
        return intended


@dataclass(frozen=True, slots=True)
class Found:
    """Where a report shows a patch: `landed`, relative to `on`, between the user's edits.

    `intended` is where it belongs in `on`, None for nowhere.
    """

    landed: Edit
    on: Document
    earlier: tuple[Edit, ...]
    later: tuple[Edit, ...]
    owner: str
    intended: Edit | None

    @property
    def typing(self) -> tuple[Edit, ...]:
        """All that the user did."""
        return self.earlier + self.later

    @property
    def in_place(self) -> bool:
        """False on a client that put the patch on a text that had changed."""
        return self.landed == self.intended


def find(
    patch: Outstanding, before: Document, after: Document, edits: Sequence[Edit], encoding: Encoding
) -> Found | None:
    """Look for the patch in a report: as all of it, as one of several changes, or among the user's.

    A blind patch can have landed on a key of the same report, so that the whole does not show the key. One
    that is misplaced is a change of its own: with typing around it, a report of one change is all typing.
    """
    expected = arriving(patch, before, encoding)
    whole = classify(before, after, edits, expected)
    if len(edits) > 1 and (patch.blind or not whole.echo or whole.typing):
        text = before
        for number, edit in enumerate(edits):
            here = arriving(patch, text, encoding)
            following = text.edited(edit, after.version)
            verdict = classify(text, following, [edit], here)
            if verdict.echo and not verdict.typing:
                earlier, later = tuple(edits[:number]), tuple(edits[number + 1 :])
                return Found(here, text, earlier, later, patch.owner, patch.follows(earlier))
            text = following
    if not whole.echo or (patch.blind and whole.typing and expected != patch.intended):
        return None
    return Found(expected, before, (), whole.typing, patch.owner, patch.intended)


def arriving(patch: Outstanding, text: Document, encoding: Encoding) -> Edit:
    """The patch in offsets of `text`: by its coordinates, because that is what the client applies."""
    where = patch.coordinates
    return Edit(text.offset(where.start, encoding), text.offset(where.end, encoding), patch.patch.edit.text)


def follow_all(
    regions: Sequence[Region], before: Document, found: Found | None, typing: Sequence[Edit]
) -> None:
    """Move regions through a report of `before`: the user's edits, and the patch where it landed."""
    document = before
    steps = [(edit, False) for edit in typing]
    if found is not None:
        steps.insert(len(found.earlier), (found.landed, found.in_place))
    for edit, own in steps:
        for region in regions:
            if own and found is not None and region.owner == found.owner:
                region.own(edit)
            else:
                region.foreign(edit, document)
        document = document.edited(edit, document.version)


def follow(edit: Edit, others: Sequence[Edit]) -> Edit:
    """Where an edit belongs after others that did not touch it."""
    for other in others:
        start = moved(edit.start, other, after_insert=True)
        edit = Edit(start, max(start, moved(edit.end, other)), edit.text)
    return edit


def touches(edit: Edit, span: Span, document: Document) -> bool:
    """True when an edit of `document` changes one of the lines of the span.

    Whole lines that are inserted or removed at its border are outside.
    """
    first = document.line_start(document.line_at(span.start))
    last_line = document.line_at(span.end)
    last = document.line_start(last_line) + len(document.line(last_line).rstrip("\r\n"))
    if edit.start > last or edit.end < first:
        return False
    if edit.start == edit.end == last and edit.text.startswith(("\n", "\r")):
        return False
    if edit.end == first:
        whole_start = edit.start == document.line_start(document.line_at(edit.start))
        return not (edit.text.endswith(("\n", "\r")) or (whole_start and not edit.text))
    return True
