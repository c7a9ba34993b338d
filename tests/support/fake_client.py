"""A fake LSP client, without a protocol and without time: it owns the true text, and does one thing a step.

Each mode behaves as one real client does; tests/editors/test_conformance.py holds both side by side.
Three queues make every interleaving reachable: `incoming` (edits on their way from the server), the
client's own tasks, and `outgoing` (what is on its way to the server, in wire order). A test calls
`work()`, `flush()` and takes from `outgoing` when it likes, and types in between.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from lsp_server.core.document import Change
from lsp_server.core.text import Encoding, Range
from tests.support.fake_buffer import SERVER, Buffer, Landed, neovim_range, offset_of, range_of

Verdict = Literal["applied", "refused", "error"]


@dataclass(frozen=True, slots=True)
class Mode:
    """How a client behaves.

    `delay` is how many seconds it holds its changes back before it reports them; 0 reports each at once,
    ahead of the reply. `checks` names the versions that it refuses. `refuses` says how: with a reply, with
    an error, or with the lie that it applied the edit. `two_steps` is a client whose editor is another
    process than its language client, so that typing can get in between even without a version.
    """

    name: str
    delay: float = 0.0
    checks: Literal["any other", "older", "none"] = "any other"
    refuses: Literal["reply", "error", "lie"] = "reply"
    first_version: int = 0
    two_steps: bool = False
    full_text: bool = False
    line_diff: bool = False
    versioned: bool = True
    groups_undo: bool = False
    rests: bool = False
    """Reports a change at once when it has reported nothing for longer than `delay`."""


MODES = {
    mode.name: mode
    for mode in (
        Mode("vscode", first_version=1, two_steps=True),
        Mode("neovim", delay=0.15, checks="older", refuses="lie", line_diff=True, rests=True),
        Mode("neovim0", checks="older", refuses="lie", line_diff=True),
        Mode("eglot", delay=0.5, refuses="error"),
        Mode("helix"),
        Mode("plain", checks="none", versioned=False),
        Mode("full", delay=0.25, first_version=1, two_steps=True, full_text=True),
        Mode("applypatch", first_version=1, two_steps=True, groups_undo=True),
    )
}


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One edit as the client gets it."""

    range: Range
    text: str


@dataclass(frozen=True, slots=True)
class EditRequest:
    """Edits of one document, all relative to the same text. `token` comes back in the reply."""

    token: int
    uri: str
    version: int | None
    edits: tuple[TextEdit, ...]
    first: bool = True


@dataclass(frozen=True, slots=True)
class Opened:
    """The document was opened."""

    uri: str
    language: str
    version: int
    text: str


@dataclass(frozen=True, slots=True)
class Changed:
    """Changes of one document in their order; `text` is what the client had after them."""

    uri: str
    version: int
    changes: tuple[Change, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The document was closed."""

    uri: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to an `EditRequest`."""

    token: int
    verdict: Verdict


Message = Opened | Changed | Closed | Reply


@dataclass(frozen=True, slots=True)
class Landing:
    """An edit of the server that the buffer took; `foreign` are the keystrokes that it deleted."""

    uri: str
    landed: Landed
    foreign: tuple[int, ...]


@dataclass(slots=True)
class _Open:
    buffer: Buffer
    language: str
    version: int
    held: list[Change] = field(default_factory=list)
    rested: bool = False


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
        self._tasks: deque[Callable[[], None]] = deque()
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
        """Go somewhere else."""
        self._documents[uri].buffer.cursor = offset

    def type(self, uri: str, text: str) -> None:
        """Keys at the cursor, each a change and an undo step of its own."""
        for key in text:
            cursor = self._documents[uri].buffer.cursor
            self.replace(uri, cursor, cursor, key)

    def replace(self, uri: str, start: int, end: int, text: str) -> None:
        """Paste, delete or overwrite: one change by the user."""
        document = self._documents[uri]
        self.strokes += 1
        self._report(uri, [document.buffer.replace(start, end, text, self.strokes)])

    def undo(self, uri: str) -> list[Landed]:
        """Take back the last undo step, whoever made it; empty when there is none."""
        self.strokes += 1
        landed = self._documents[uri].buffer.undo(self.strokes)
        if landed:
            self._report(uri, landed)
        return landed

    # What the program does, a step a call.

    def work(self) -> bool:
        """The client takes the next edit, or finishes one that it took; False when there is nothing to do."""
        if self.incoming:
            request = self.incoming.popleft()
            self._tasks.append(lambda: self._take(request))
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
            document.rested = False
            self._send(name, document)
        return bool(held)

    def rest(self) -> None:
        """Let more time pass than the client ever waits: everything is reported."""
        self.flush()
        for document in self._documents.values():
            document.rested = self.mode.rests

    def refuse_next(self, count: int = 1) -> None:
        """Refuse the edits that come next, whatever their version, in the client's own way."""
        self.refusals_ahead += count

    def wake(self) -> None:
        """Called after everything that the user does; for faces that run by themselves."""

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
        if self.mode.checks == "older":
            return request.version <= 0 or request.version >= document.version
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
        landed = []
        for number, (start, end, new) in enumerate(sorted(places, key=lambda place: place[:2], reverse=True)):
            joins = number > 0 or (self.mode.groups_undo and not request.first)
            landed.append(document.buffer.replace(start, end, new, SERVER, joins=joins))
        for one in landed:
            foreign = tuple(author for author in one.removed_authors if author > 0)
            self.landings.append(Landing(request.uri, one, foreign))
        self._report(request.uri, landed)
        self.outgoing.append(Reply(request.token, "applied"))

    def _refuse(self, request: EditRequest) -> None:
        verdicts: dict[str, Verdict] = {"reply": "refused", "error": "error", "lie": "applied"}
        self.outgoing.append(Reply(request.token, verdicts[self.mode.refuses]))

    def _report(self, uri: str, landed: list[Landed]) -> None:
        document = self._documents[uri]
        document.version += 1
        document.held += [self._change(one) for one in landed]
        if not self.mode.delay or document.rested:
            document.rested = False
            self._send(uri, document)
        self.wake()

    def _change(self, landed: Landed) -> Change:
        start, end, text = (
            neovim_range(landed) if self.mode.line_diff else (landed.start, landed.end, landed.text)
        )
        return Change(range_of(landed.before, start, end, self.encoding), text)

    def _send(self, uri: str, document: _Open) -> None:
        text = document.buffer.text
        changes = (Change(None, text),) if self.mode.full_text else tuple(document.held)
        document.held = []
        self.outgoing.append(Changed(uri, document.version, changes, text))
