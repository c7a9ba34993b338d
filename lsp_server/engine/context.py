"""What the prompts get of other places: parts of other open files, definitions, recent edits.

A keystroke is only noted. Documents are read section by section between the turns of the loop, and a request
takes what has been read by then; the choice is kept until something that matters has changed.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from lsp_server.core.context import (
    Burst,
    Chosen,
    Ended,
    Hunk,
    Indexed,
    Part,
    Wanted,
    choose,
    ended,
    family,
    grown,
    hunk_of,
    indexed,
    is_near,
    known_names,
    place_at,
    read,
    sections,
)
from lsp_server.core.document import Document
from lsp_server.core.prompt import Prompt, Snippet, Style, completion_prompt
from lsp_server.core.text import Span
from lsp_server.engine.workspace import Changed, Workspace
from lsp_server.settings import Settings

DOCUMENTS = 8
"""Other documents that are looked at: those used last."""

BURSTS = 12
"""Recent changes that are remembered."""

ZONE = 20
"""Lines in which the cursor may move without a new choice."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen for a document, and on what grounds: the same grounds give the same choice."""

    grounds: tuple[object, ...]
    chosen: tuple[Chosen, ...]


class ContextSource:
    """One per server process. `secrecy` says why nothing of a document may leave, None when it may."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        workspace: Workspace,
        secrecy: Callable[[Document], str | None],
    ) -> None:
        self._settings = settings
        self._workspace = workspace
        self._secrecy = secrecy
        self._used: dict[str, None] = {}
        self._indexed: dict[str, Indexed] = {}
        self._choices: dict[str, Choice] = {}
        self._burst: Burst | None = None
        self._bursts: deque[Ended | Hunk] = deque(maxlen=BURSTS)
        self._reading: asyncio.Task[None] | None = None
        self._news = 0

    def opened(self, document: Document) -> None:
        """A document was opened, which makes it the one used last."""
        self._touch(document.uri)

    def changed(self, changed: Changed) -> None:
        """A document changed by whatever hands: nothing but where is noted, for this is every keystroke."""
        if not changed.edits:
            return
        self._touch(changed.after.uri)
        burst, goes_on = grown(self._burst, changed.before, changed.after, changed.edits)
        if self._burst is not None and not goes_on and (over := ended(self._burst)):
            self._bursts.append(over)
        self._burst = burst

    def closed(self, uri: str) -> None:
        """Forget a document and what was changed in it."""
        self._used.pop(uri, None)
        self._choices.pop(uri, None)
        if self._indexed.pop(uri, None) is not None:
            self._news += 1
        if self._burst is not None and self._burst.after.uri == uri:
            self._burst = None
        self._bursts = deque((burst for burst in self._bursts if burst.uri != uri), BURSTS)

    def prompt(self, document: Document, cursor: int, style: Style, *, block: bool = False) -> Prompt:
        """The prompt for a completion at `cursor`."""
        snippets = self.snippets(document, Span(cursor, cursor), style)
        return completion_prompt(document, cursor, style, snippets, block=block)

    def snippets(self, document: Document, span: Span, style: Style) -> tuple[Snippet, ...]:
        """The snippets for a place, from what has been read by now; the rest is read for the next time."""
        wanted = self._wanted(style)
        if wanted is None:
            return ()
        others = self._others(document)
        if self._stale(others):
            self._read_soon(document, style)
        self._touch(document.uri)
        known = [index for other in others if (index := self._indexed.get(other.uri))]
        chosen = self._chosen(document, span, wanted, known)
        # The rules may have changed since the choice was made.
        may_leave = {uri: self._may_leave(uri) for uri in {each.uri for each in chosen}}
        return tuple(each.snippet for each in chosen if may_leave[each.uri])

    async def prepare(self, document: Document, style: Style) -> None:
        """Read what the prompts of a document may show, and the document for others, a section at a time."""
        if self._wanted(style) is None:
            return
        own = self._workspace.get(document.uri)
        unread = [own] if own is not None and own.uri not in self._indexed else []
        for other in (*self._stale(self._others(document)), *unread):
            parts = []
            for first, end in self._sections(other):
                parts.append(read(other, first, end))
                await asyncio.sleep(0)
            self._know(other, parts)

    def catch_up(self, document: Document) -> None:
        """Read at once what `prepare` would: for a user who asks to be shown what would be sent."""
        for other in self._stale(self._others(document)):
            self._know(other, [read(other, *lines) for lines in self._sections(other)])

    async def close(self) -> None:
        """Nothing is read any more."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])

    def _sections(self, document: Document) -> Iterator[tuple[int, int]]:
        """The sections to read: none of a file that stays here."""
        return sections(document) if self._secrecy(document) is None else iter(())

    def _know(self, document: Document, parts: list[Part]) -> None:
        if self._workspace.get(document.uri) is not None:
            self._indexed[document.uri] = indexed(document, parts)
            self._news += 1

    def _touch(self, uri: str) -> None:
        self._used.pop(uri, None)
        self._used[uri] = None

    def _wanted(self, style: Style) -> Wanted | None:
        """What the settings and the model want; None for nothing."""
        context = self._settings().context
        tokens = context.max_tokens if style.context_tokens is None else style.context_tokens
        if tokens <= 0 or not (context.open_files or context.recent_edits or context.definitions):
            return None
        return Wanted(context.open_files, context.recent_edits, context.definitions, tokens)

    def _others(self, document: Document) -> list[Document]:
        """The documents of the same family, the one used last first."""
        kin = family(document.language)
        found = (other for uri in reversed(self._used) if (other := self._workspace.get(uri)))
        alike = (each for each in found if each.uri != document.uri and family(each.language) == kin)
        return list(islice(alike, DOCUMENTS))

    def _stale(self, others: list[Document]) -> list[Document]:
        """The documents that were not read since they changed."""
        return [
            other
            for other in others
            if (known := self._indexed.get(other.uri)) is None or known.document is not other
        ]

    def _read_soon(self, document: Document, style: Style) -> None:
        if self._reading is None or self._reading.done():
            work = self.prepare(document, style)
            self._reading = asyncio.create_task(work, name=f"read around {document.uri}")

    def _chosen(
        self, document: Document, span: Span, wanted: Wanted, known: list[Indexed]
    ) -> tuple[Chosen, ...]:
        """The choice for a place, a new one only where its grounds are new."""
        hunks = self._hunks(document, span) if wanted.recent_edits else []
        place = place_at(document, span)
        grounds = (
            place.line // ZONE,
            span.end - span.start,
            wanted,
            known_names(place, known),
            frozenset(index.document.uri for index in known),
            self._news,
            tuple(hunks),
        )
        before = self._choices.get(document.uri)
        if before is not None and before.grounds == grounds:
            return before.chosen
        previous = before.chosen if before else ()
        known = [index for index in known if self._may_leave(index.document.uri)]
        hunks = [hunk for hunk in hunks if self._may_leave(hunk.uri)]
        chosen = choose(place, known, hunks, wanted, previous, self._indexed.get(document.uri))
        self._choices[document.uri] = Choice(grounds, chosen)
        return chosen

    def _hunks(self, document: Document, span: Span) -> list[Hunk]:
        """The recent changes, the oldest first. What is being typed at the place is not one yet."""
        hunks = [hunk_of(each) if isinstance(each, Ended) else each for each in self._bursts]
        known = [hunk for hunk in hunks if hunk is not None]
        self._bursts = deque(known, BURSTS)
        burst = self._burst
        if burst is None or (burst.after.uri == document.uri and is_near(burst, span)):
            return known
        over = ended(burst)
        last = over and hunk_of(over)
        return [*known, last] if last else known

    def _may_leave(self, uri: str) -> bool:
        document = self._workspace.get(uri)
        return document is not None and self._secrecy(document) is None
