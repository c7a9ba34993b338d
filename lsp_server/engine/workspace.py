"""The open documents, and the one patch that may be under way to each.

Every mutation is synchronous: a handler sees the state exactly as the last message left it. The
client's own reports (didChange) are the only proof that a patch landed; its answers are hints.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from lsp_server.core.document import Change, Document
from lsp_server.core.echo import classify
from lsp_server.core.edits import Edit, Patch, inverse
from lsp_server.core.syntax.tree import SyntaxTree
from lsp_server.core.text import Encoding, Range, Span
from lsp_server.engine.entry import Entry, tree_for, under_way, wake
from lsp_server.engine.patches import Found, Landing, Misplaced, Outstanding, Region, find, follow, follow_all
from lsp_server.engine.ports import ApplyReply

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Changed:
    """What one didChange meant: our own patch, the user's edits, or both.

    `misplaced` is a patch that landed on a text that had changed; `edits` are all of it, whosever they are.
    """

    before: Document
    after: Document
    echo: bool
    typing: tuple[Edit, ...]
    misplaced: Misplaced | None = None
    edits: tuple[Edit, ...] = ()


Send = Callable[[Patch], Awaitable[ApplyReply]]


class Workspace:
    """Owns every open document; nobody else replaces one."""

    def __init__(self, encoding: Encoding = Encoding.UTF16) -> None:
        self.encoding = encoding
        self._entries: dict[str, Entry] = {}
        self._closed: dict[str, Entry] = {}
        self._replies: set[asyncio.Task[None]] = set()
        self._unknown: set[str] = set()

    def open(self, uri: str, language: str, version: int, text: str) -> Document:
        """Take a document in; an open one under the same URI is replaced.

        A patch that the client owes an answer for since before can still land in it.
        """
        if uri in self._entries:
            self.close(uri)
        document = Document.open(uri, language, version, text)
        self._unknown.discard(uri)
        entry = self._entries[uri] = Entry(document, tree_for(language))
        if (closed := self._closed.pop(uri, None)) is not None:
            entry.suspect, entry.reply = closed.suspect, closed.reply
        return document

    def change(self, uri: str, changes: Sequence[Change], version: int) -> Changed | None:
        """Apply one didChange, and settle the outstanding patch by what it shows.

        None for a document that is not open.
        """
        entry = self._entries.get(uri)
        if entry is None:
            if uri not in self._unknown:
                self._unknown.add(uri)
                logger.warning("ignored a change to a document that is not open: %s", uri)
            return None
        before = entry.document
        after, edits = before.apply(changes, version, self.encoding)
        if entry.tree is not None:
            for edit in edits:
                entry.tree.note(edit, before)
        entry.document = after
        patch = entry.outstanding or entry.suspect
        found = None if patch is None else find(patch, before, after, edits, self.encoding)
        if (
            found
            and patch
            and patch is entry.suspect
            and patch.was_reported
            and (found.earlier or found.later)
        ):
            # A patch that a report has settled is believed to land only when nothing else is reported.
            found = None
        if patch is None:
            typing = tuple(edits)
        else:
            typing = found.typing if found else classify(before, after, edits, None).typing
        misplaced = self._settle(entry, patch, found, typing) if patch is not None else None
        if entry.regions:
            follow_all(entry.regions, before, found, typing)
        wake(entry)
        return Changed(before, after, found is not None, typing, misplaced, edits)

    def close(self, uri: str) -> None:
        """Forget a document; a patch under way to it counts as closed."""
        entry = self._entries.pop(uri, None)
        if entry is None:
            return
        if (patch := entry.outstanding or entry.suspect) is not None:
            edit = patch.patch.edit
            watched = is_no_key(patch) or edit.end - edit.start > 1
            patch.intended, entry.suspect = None, patch if watched else None
            self._resolve(entry, patch, Landing.CLOSED)
        if entry.reply is not None and not entry.reply.done():
            self._closed[uri] = entry
        wake(entry)

    def get(self, uri: str) -> Document | None:
        """The document as last reported, or None when it is not open."""
        entry = self._entries.get(uri)
        return None if entry is None else entry.document

    def tree(self, uri: str) -> SyntaxTree | None:
        """The syntax tree that follows the document, where its language has a grammar."""
        entry = self._entries.get(uri)
        return None if entry is None else entry.tree

    def uris(self) -> list[str]:
        """The open documents, the one opened first before the others."""
        return list(self._entries)

    def region(self, uri: str, owner: str, span: Span) -> Region:
        """Follow `span` from now on. Raises KeyError when the document is not open."""
        entry = self._entries[uri]
        region = Region(owner, span, entry.document.slice(span.start, span.end))
        entry.regions.append(region)
        return region

    def release(self, uri: str, region: Region) -> None:
        """Stop following a region."""
        entry = self._entries.get(uri)
        if entry is not None and region in entry.regions:
            entry.regions.remove(region)

    def follows(self, uri: str, region: Region) -> bool:
        """True while the region moves with its document."""
        entry = self._entries.get(uri)
        return entry is not None and region in entry.regions

    def hand_over(self, uri: str, region: Region, owner: str, span: Span) -> None:
        """Make another generation the owner of a region, and of the patch that is under way to it.

        `span` is the region, or more than it.
        """
        document = self._entries[uri].document
        region.produced = (
            document.slice(span.start, region.span.start)
            + region.produced
            + document.slice(region.span.end, span.end)
        )
        region.span = span
        outstanding = self.outstanding(uri)
        if outstanding is not None and outstanding.owner == region.owner:
            outstanding.owner = owner
        region.owner = owner
        region.touched = False

    def expected_text(self, uri: str, region: Region) -> str:
        """The text of a region as it will be once the outstanding patch has landed."""
        entry = self._entries[uri]
        text = entry.document.slice(region.span.start, region.span.end)
        outstanding = entry.outstanding
        if outstanding is None or outstanding.owner != region.owner:
            return text
        if (edit := outstanding.intended) is None:
            return text
        start = region.span.start
        return text[: edit.start - start] + edit.text + text[edit.end - start :]

    def outstanding(self, uri: str) -> Outstanding | None:
        """The patch under way to a document."""
        entry = self._entries.get(uri)
        return None if entry is None else entry.outstanding

    def busy(self, uri: str) -> bool:
        """True while a patch is under way, or while the client still owes the answer to one.

        VS Code drops an edit that comes before it has answered the one before.
        """
        entry = self._entries.get(uri)
        return entry is not None and bool(under_way(entry))

    async def settled(self, uri: str, patience: float) -> bool:
        """Wait until the document is not busy; False after `patience` seconds.

        Of several that wait, the first to go on may send, and the others wait for that patch too.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience
        while (entry := self._entries.get(uri)) is not None and (waiting := under_way(entry)):
            if (left := deadline - loop.time()) <= 0:
                return False
            await asyncio.wait(waiting, timeout=left, return_when=asyncio.ALL_COMPLETED)
        return True

    async def changed(self, uri: str, since: int, patience: float) -> bool:
        """Wait for another version than `since`, or the close; False after `patience` seconds."""
        entry = self._entries.get(uri)
        if entry is None or entry.document.version != since:
            return True
        if entry.next_change is None:
            entry.next_change = asyncio.get_running_loop().create_future()
        done, _ = await asyncio.wait([entry.next_change], timeout=patience)
        return bool(done)

    def send(self, uri: str, edit: Edit, owner: str, *, blind: bool, send: Send) -> Outstanding:
        """Send one edit as the document's only outstanding patch.

        It outlives the caller: cancelling whoever waits for `landing` forgets nothing. Raises
        RuntimeError when another patch is under way.
        """
        entry = self._entries[uri]
        if under_way(entry):
            raise RuntimeError(f"a patch is already under way to {uri}")
        document = entry.document
        patch = Patch(uri, document.version, edit)
        outstanding = Outstanding(
            patch=patch,
            owner=owner,
            blind=blind,
            coordinates=Range(
                document.position(edit.start, self.encoding), document.position(edit.end, self.encoding)
            ),
            intended=edit,
            landing=asyncio.get_running_loop().create_future(),
        )
        entry.outstanding, entry.suspect = outstanding, None
        task = asyncio.create_task(self._reply(entry, outstanding, send), name=f"apply {uri}")
        entry.reply = task
        self._replies.add(task)
        task.add_done_callback(self._replies.discard)
        return outstanding

    async def shutdown(self) -> None:
        """Close every document and end what still waits for the client."""
        for uri in self.uris():
            self.close(uri)
        for task in list(self._replies):
            task.cancel()
        await asyncio.gather(*self._replies, return_exceptions=True)

    def _settle(
        self, entry: Entry, patch: Outstanding, found: Found | None, typing: tuple[Edit, ...]
    ) -> Misplaced | None:
        """Decide what became of a patch; what has to be taken back when it is where it does not belong."""
        if found is None:
            patch.intended = patch.follows(typing)
            if patch is entry.outstanding and not patch.blind:
                self._resolve(entry, patch, Landing.LOST)
                entry.suspect = patch if is_no_key(patch) else None
            return None
        entry.suspect = None
        if found.in_place:
            self._resolve(entry, patch, Landing.LANDED)
            if patch.blind and entry.reply is not None and not entry.reply.done():
                patch.intended, entry.suspect = None, patch
            return None
        self._resolve(entry, patch, Landing.MISPLACED)
        landed = found.landed
        undo = inverse(landed, found.on.slice(landed.start, landed.end))
        return Misplaced(follow(undo, found.later), landed.text)

    def _resolve(self, entry: Entry, outstanding: Outstanding, landing: Landing) -> None:
        if entry.outstanding is outstanding:
            entry.outstanding = None
        if not outstanding.landing.done():
            outstanding.landing.set_result(landing)

    async def _reply(self, entry: Entry, outstanding: Outstanding, send: Send) -> None:
        """Wait for the client's answer; only a refusal means anything.

        A change or a close that came in the turn of the loop before this one keeps the patch here.
        """
        stale = outstanding.landing.done() or entry.document.version != outstanding.patch.version
        refused = stale or await send(outstanding.patch) == "refused"
        if refused:
            self._resolve(entry, outstanding, Landing.REFUSED)
        uri = outstanding.patch.uri
        if self._closed.get(uri) is entry:
            del self._closed[uri]
        now = self._entries.get(uri)
        answered = outstanding.blind and outstanding.was_reported
        if now is not None and now.suspect is outstanding and (refused or answered):
            now.suspect = None


def is_no_key(patch: Outstanding) -> bool:
    """True for a patch that no single key does: any other is not watched for, the user may well do it."""
    return len(patch.patch.edit.text.strip()) > 1
