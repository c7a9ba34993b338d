"""The fake editor of the typing storm: it judges every edit of the server at the moment it lands."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from lsp_server.core.edits import Patch
from lsp_server.engine.generation import Generation
from lsp_server.engine.ports import ApplyReply, Result
from tests.support.fake_buffer import Landed
from tests.support.fake_client import _Open
from tests.support.fake_editor import FakeEditor
from tests.support.fake_modes import Changed, EditRequest, Opened

SENTINEL = -2
"""Author of the lines that no edit may touch."""

FOREVER = 1 << 60
"""The stroke of a token that no generation was told to change."""

TAKE_BACK, REVERT = "Midstream: take back", "Midstream: revert"


class StormEditor(FakeEditor):
    """`limits` holds for each owner of patches the last keystroke that it may delete.

    `tokens` holds per document what must be there at rest, with the keystroke that wrote it; `may_send`
    says why an owner must not send a patch now, or nothing; `must_end` names the running generations of a
    document that a key ends.
    """

    def __init__(
        self,
        mode: str,
        *handlers: Any,
        may_send: Callable[[str, Patch], str],
        judge: Callable[[Result], str],
        must_end: Callable[[str], Sequence[Generation]],
        counts: Counter[str],
    ) -> None:
        super().__init__(mode, *handlers)
        self.limits: dict[str, int] = {}
        self.tokens: dict[str, dict[str, int]] = {}
        self.reported: dict[str, int] = {}
        self.unguarded: set[str] = set()
        self.owners: dict[int, str] = {}
        self.repairs = 0
        self.counts = counts
        self._may_send = may_send
        self._judge_result = judge
        self._must_end = must_end
        self._typed: dict[str, int] = {}
        self._strokes: dict[int, int] = {}
        self._opened = Counter[str]()
        self._told_opened = Counter[str]()
        self._sent_to: dict[int, int] = {}

    # The server's side.

    async def apply(self, patch: Patch, *, generation: str, first: bool, label: str) -> ApplyReply:
        if reason := self._may_send(generation, patch):
            self.problems.append(f"{generation} sent {patch.edit}, but {reason}")
        owner = f"{generation} {patch.uri}" if generation in (TAKE_BACK, REVERT) else generation
        self.owners[len(self.patches)] = owner
        self._sent_to[len(self.patches)] = self._told_opened[patch.uri]
        self.counts[generation if generation in (TAKE_BACK, REVERT) else "patch of an edit"] += 1
        return await super().apply(patch, generation=generation, first=first, label=label)

    def ended(self, result: Result) -> None:
        super().ended(result)
        self.counts[f"ended {result.outcome}"] += 1
        if reason := self._judge_result(result):
            self.problems.append(f"{result.id} ended as {result.outcome}, but {reason}")

    def is_blind(self, token: int) -> bool:
        """True for a patch whose version the client does not compare, or compares with that of another text.

        Versions begin anew where a document is opened again.
        """
        patch = self.patches[token]
        reopened = self._sent_to[token] != self._opened[patch.uri]
        return reopened or not self.checks_version(patch.version)

    # The client's side.

    @property
    def has_work(self) -> bool:
        """True while the client has an edit to take or to apply."""
        return bool(self.incoming or self._tasks)

    def open(self, uri: str, text: str, language: str = "python", cursor: int = 0) -> None:
        self.unguarded.discard(uri)
        self._opened[uri] += 1
        super().open(uri, text, language, cursor)
        self._strokes[id(self.outgoing[-1])] = self._typed.get(uri, 0)

    def deliver(self) -> bool:
        message = self.outgoing[0] if self.outgoing else None
        if not isinstance(message, Changed | Opened):
            return super().deliver()
        uri, before = message.uri, self.reported.get(message.uri, 0)
        self._told_opened[uri] += isinstance(message, Opened)
        tokens = self.tokens.get(uri, {}).items()
        typed = [key for key, stroke in tokens if before < stroke < FOREVER and key in message.text]
        running = self._must_end(uri)
        self.reported[uri] = self._strokes.pop(id(message))
        delivered = super().deliver()
        if typed and any(each.running for each in running):
            self.problems.append(f"an edit goes on although {typed} was typed")
        return delivered

    def unguard(self, uri: str) -> None:
        """The lines that no edit may touch have come into a scope."""
        self.unguarded.add(uri)
        self.tokens[uri] = {token: stroke for token, stroke in self.tokens[uri].items() if stroke < FOREVER}

    def forget_missing(self, uri: str, before: str, limit: int = FOREVER) -> None:
        """No longer expect tokens that were in `before` and are gone, if they are not newer than `limit`."""
        tokens, after = self.tokens[uri], self.text(uri)
        for token in [each for each in tokens if each in before and each not in after]:
            if tokens[token] <= limit:
                del tokens[token]

    def _send(self, uri: str, document: _Open, text: str) -> None:
        super()._send(uri, document, text)
        self._strokes[id(self.outgoing[-1])] = self._typed.get(uri, 0)

    def _report(self, uri: str, landed: list[Landed], *, by_user: bool, late: bool = False) -> None:
        if by_user:
            self._typed[uri] = self.strokes
        super()._report(uri, landed, by_user=by_user, late=late)

    def _refuse(self, request: EditRequest) -> None:
        super()._refuse(request)
        self.counts["refused by the client"] += 1

    def _land(self, request: EditRequest, document: _Open) -> None:
        count, before = len(self.landings), document.buffer.text
        super()._land(request, document)
        limit = self.limits.get(self.owners[request.token], 0)
        self.repairs += self.owners[request.token].startswith(TAKE_BACK)
        blind = self.is_blind(request.token)
        for landing in self.landings[count:]:
            if not blind:
                self._judge(request.uri, landing.landed, self.owners[request.token])
        if blind and request.version != document.version - 1:
            self.counts["landed unchecked"] += 1
        self.forget_missing(request.uri, before, limit)

    def _judge(self, uri: str, landed: Landed, owner: str) -> None:
        limit = self.limits.get(owner, 0)
        newer = [
            key
            for key, author in zip(landed.removed, landed.removed_authors, strict=True)
            # What was typed into a misplaced patch may be written again where the patch is taken back.
            if author > limit and not (owner.startswith(TAKE_BACK) and key in landed.text)
        ]
        if newer:
            self.problems.append(f"the keys {newer} were deleted: {landed.text!r} over {landed.removed!r}")
        if SENTINEL in landed.removed_authors and uri not in self.unguarded:
            self.problems.append(f"{landed.removed!r} outside the scope became {landed.text!r}")
