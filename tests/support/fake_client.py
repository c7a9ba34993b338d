"""A fake LSP client, without a protocol and without time: it owns the true text, and does one thing a step.

Each mode behaves as one real client does; tests/editors/test_conformance.py holds both side by side.
Three queues make every interleaving reachable: `incoming` (edits on their way from the server), the
client's own tasks, and `outgoing` (what is on its way to the server, in wire order). A test calls
`work()`, `flush()` and takes from `outgoing` when it likes, and types in between.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from lsp_server.core.document import Change
from lsp_server.core.text import Encoding
from tests.support.fake_buffer import (
    SERVER,
    Buffer,
    Landed,
    hull_of,
    minimized,
    neovim_range,
    offset_of,
    range_of,
)
from tests.support.fake_modes import (
    MODES,
    Changed,
    Closed,
    EditRequest,
    Landing,
    Message,
    Opened,
    Reply,
    Verdict,
)


@dataclass(slots=True)
class _Open:
    buffer: Buffer
    language: str
    version: int
    held: list[Change] = field(default_factory=list)
    rested: bool = False
    has_reported: bool = False
    inserting: bool = False


class FakeClient:
    """See the module. `landings` and `strokes` tell a test what happened to whose text."""

    def __init__(self, mode: str, encoding: Encoding = Encoding.UTF16) -> None:
        self.mode = MODES[mode]
        self.encoding = encoding
        self.incoming: deque[EditRequest] = deque()
        self.outgoing: deque[Message] = deque()
        self.landings: list[Landing] = []
        self.strokes = 0
        self.refusals_ahead = 0
        self.ends_step_after_keys = False
        self._tasks: deque[Callable[[], object]] = deque()
        self._documents: dict[str, _Open] = {}

    # What a test looks at.

    def text(self, uri: str) -> str:
        """The true text."""
        return self._documents[uri].buffer.text

    def buffer(self, uri: str) -> Buffer:
        """The true buffer, with its cursor, its authors and its undo steps."""
        return self._documents[uri].buffer

    def version(self, uri: str) -> int:
        """The version that the client is at, reported or not."""
        return self._documents[uri].version

    def is_open(self, uri: str) -> bool:
        """True for a document that is open in the editor."""
        return uri in self._documents

    @property
    def holding(self) -> bool:
        """True while changes wait for `flush`."""
        return any(document.held for document in self._documents.values())

    # What a user does.

    def open(self, uri: str, text: str, language: str = "python", cursor: int = 0) -> None:
        """Open a document."""
        if not self.mode.keeps_line_ends:
            text = text.replace("\r\n", "\n")
        document = _Open(Buffer(text), language, self.mode.first_version)
        document.buffer.cursor = cursor
        self._documents[uri] = document
        self.outgoing.append(Opened(uri, language, document.version, text))
        self.wake()

    def close(self, uri: str) -> None:
        """Close it; what was held back goes out first."""
        self.flush(uri)
        del self._documents[uri]
        self.outgoing.append(Closed(uri))
        self.wake()

    def put_cursor(self, uri: str, offset: int) -> None:
        """Go somewhere else, which ends insert mode."""
        document = self._documents[uri]
        document.buffer.cursor, document.inserting = offset, False

    def type(self, uri: str, text: str) -> None:
        """Keys at the cursor, each a change of its own."""
        document = self._documents[uri]
        for key in text:
            cursor = document.buffer.cursor
            self._change_by_user(uri, cursor, cursor, key, joins=document.inserting)
            document.inserting = self.mode.modal

    def replace(self, uri: str, start: int, end: int, text: str) -> None:
        """Paste, delete or overwrite: one change by the user."""
        self._documents[uri].inserting = False
        self._change_by_user(uri, start, end, text, joins=False)

    def undo(self, uri: str) -> list[Landed]:
        """Take back the last undo step, whoever made it; empty when there is none."""
        document = self._documents[uri]
        self.strokes += 1
        self._hold_for_user(document)
        document.inserting = False
        landed = document.buffer.undo(self.strokes)
        reports = [[one] for one in landed] if self.mode.splits_undone else [landed]
        for report in reports if landed else ():
            self._report(uri, [hull_of(report)] if self.mode.merges_undone else report, by_user=True)
        return landed

    # What the program does, a step a call.

    def work(self) -> bool:
        """The client takes the next edit, and does what is next in its queue; False when there is nothing."""
        self.take()
        return self.run()

    def take(self) -> bool:
        """The client reads the next edit from the wire, and queues it."""
        if not self.incoming:
            return False
        request = self.incoming.popleft()
        self._tasks.append(lambda: self._take(request))
        return True

    def run(self) -> bool:
        """The client does what is next in its queue."""
        if not self._tasks:
            return False
        self._tasks.popleft()()
        return True

    def flush(self, uri: str | None = None) -> bool:
        """Report what was held back, as a timer or a request of the client's own does."""
        held = [
            (name, document)
            for name, document in self._documents.items()
            if document.held and uri in (None, name)
        ]
        for name, document in held:
            document.rested = self.mode.rested == "replies first"
            self._send(name, document, document.buffer.text)
        return bool(held)

    def rest(self) -> None:
        """Let more time pass than the client ever waits: everything is reported."""
        self.flush()
        for document in self._documents.values():
            document.rested = self.mode.rested == "replies first" or (
                self.mode.rested == "reports first" and document.has_reported
            )

    def refuse_next(self, count: int = 1) -> None:
        """Refuse the edits that come next, whatever their version, in the client's own way."""
        self.refusals_ahead += count

    def wake(self) -> None:
        """Called after everything that the user does; for faces that run by themselves."""

    def is_late(self) -> bool:
        """True where what the next edit did is told only after what else is to be done."""
        return False

    def _take(self, request: EditRequest) -> None:
        document = self._documents.get(request.uri)
        if self.refusals_ahead or document is None or not self._accepts(document, request):
            self.refusals_ahead = max(0, self.refusals_ahead - 1)
            return self._refuse(request)
        if self.mode.two_steps:
            seen = document.version
            return self._tasks.append(lambda: self._land_if_unchanged(request, seen))
        return self._land(request, document)

    def _accepts(self, document: _Open, request: EditRequest) -> bool:
        if request.version is None or self.mode.checks == "none":
            return True
        if self.mode.zero_is_unknown and request.version <= 0:
            return True
        if self.mode.checks == "older":
            return request.version >= document.version
        return request.version == document.version

    def _land_if_unchanged(self, request: EditRequest, seen: int) -> None:
        document = self._documents.get(request.uri)
        if document is None or document.version != seen:
            return self._refuse(request)
        return self._land(request, document)

    def _land(self, request: EditRequest, document: _Open) -> None:
        text = document.buffer.text
        places = [
            (
                offset_of(text, edit.range.start, self.encoding),
                offset_of(text, edit.range.end, self.encoding),
                edit.text,
            )
            for edit in request.edits
        ]
        if self.mode.minimizes:
            places = [
                (start + first, start + last, new)
                for start, end, text_of_edit in places
                for first, last, new in minimized(text[start:end], text_of_edit)
            ]
        landed = []
        for number, (start, end, new) in enumerate(sorted(places, key=lambda place: place[:2], reverse=True)):
            joins = not request.first if self.mode.groups_undo else document.inserting
            joins = joins or number > 0 or self._joins_last_step(document)
            landed.append(document.buffer.replace(start, end, new, SERVER, joins=joins))
        for one in landed:
            foreign = tuple(author for author in one.removed_authors if author > 0)
            self.landings.append(Landing(request.uri, one, foreign))
        late = self.is_late()
        self._report(request.uri, landed, by_user=False, late=late)
        reply = Reply(request.token, "applied")
        if late:
            self._tasks.append(lambda: self.outgoing.append(reply))
        else:
            self.outgoing.append(reply)

    def _joins_last_step(self, document: _Open) -> bool:
        if not self.mode.joins_undo or not document.buffer.steps:
            return False
        return not self.ends_step_after_keys or document.buffer.steps[-1][-1].author == SERVER

    def _refuse(self, request: EditRequest) -> None:
        verdicts: dict[str, Verdict] = {"reply": "refused", "error": "error", "lie": "applied"}
        self.outgoing.append(Reply(request.token, verdicts[self.mode.refuses]))

    def _report(self, uri: str, landed: list[Landed], *, by_user: bool, late: bool = False) -> None:
        document = self._documents[uri]
        document.version += 1
        document.held += [self._change(one) for one in landed]
        if document.rested and self.mode.rested == "reports first":
            document.rested = False
            self._send(uri, document, document.buffer.text)
        elif late or document.rested or (self.mode.replies_first and not by_user):
            self._tasks.append(lambda: self.flush(uri))
        elif not self.mode.delay:
            self._send(uri, document, landed[-1].after)
        self.wake()

    def _change_by_user(self, uri: str, start: int, end: int, text: str, *, joins: bool) -> None:
        document = self._documents[uri]
        self.strokes += 1
        self._hold_for_user(document)
        landed = document.buffer.replace(start, end, text, self.strokes, joins=joins)
        self._report(uri, [landed], by_user=True)

    def _hold_for_user(self, document: _Open) -> None:
        if self.mode.rested == "replies first":
            document.rested = False

    def _change(self, landed: Landed) -> Change:
        start, end, text = (
            neovim_range(landed) if self.mode.line_diff else (landed.start, landed.end, landed.text)
        )
        return Change(range_of(landed.before, start, end, self.encoding), text)

    def _send(self, uri: str, document: _Open, text: str) -> None:
        changes = (Change(None, text),) if self.mode.full_text else tuple(document.held)
        document.held, document.has_reported = [], True
        self.outgoing.append(Changed(uri, document.version, changes, text))
