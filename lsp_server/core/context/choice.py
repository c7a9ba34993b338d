"""Which snippets go into a prompt: a pure function of what is open, what changed, and what was chosen before.

Providers keep what they computed for the start of a prompt, so a snippet keeps its bytes and its order as
long as it is chosen, and the kinds come in the order of how seldom they change: pieces, definitions, edits.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lsp_server.core.context.index import Indexed
from lsp_server.core.context.place import Place
from lsp_server.core.context.recent import Hunk
from lsp_server.core.prompt import Snippet
from lsp_server.core.prompt.budget import tokens
from lsp_server.core.prompt.snippets import path_of, shown
from lsp_server.core.syntax.outline import Defined

SHARES = {"code": 3, "definition": 3, "edit": 2}
"""How the room is divided among the kinds that are wanted."""

PIECES, DEFINITIONS, EDITS = 4, 8, 4

FEWEST_SHARED, LEAST_ALIKE = 3, 0.05
"""Names that a piece shares with the place, and their part of all names of both, at least."""

COPIED = 0.6
"""The part of its lines from which on a piece is a copy of the place, and makes the model repeat itself."""

KEPT = 1.3
"""How much better another piece must be to take the place of one that was chosen before."""

HEADS = 3
"""A name that is only begun may be one of so many."""

IMPORTING = frozenset({"python", "javascript", "typescript", "tsx", "rust", "lua"})
"""Languages in which a file names what it uses of other files."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The kinds of snippets that are wanted, and how many tokens they may take together."""

    open_files: bool
    recent_edits: bool
    definitions: bool
    tokens: int

    def room(self, kind: str) -> int:
        """The tokens for one kind."""
        wanted = {"code": self.open_files, "definition": self.definitions, "edit": self.recent_edits}
        whole = sum(SHARES[each] for each in wanted if wanted[each])
        return self.tokens * SHARES[kind] // whole if wanted[kind] else 0


@dataclass(frozen=True, slots=True)
class Chosen:
    """A snippet and the document it is from."""

    uri: str
    snippet: Snippet


def choose(
    place: Place,
    others: Sequence[Indexed],
    hunks: Sequence[Hunk],
    wanted: Wanted,
    previous: Sequence[Chosen] = (),
    own: Indexed | None = None,
) -> tuple[Chosen, ...]:
    """The snippets for a place, the most stable first.

    `others` are the other documents, the one used last first; `hunks` the changes, the oldest first. `own` is
    what is known of the place's own document: what it defines itself is not looked for elsewhere.
    """
    pieces = _fitting(_pieces(place, others, previous), wanted.room("code"), PIECES)
    inside = [(chosen.uri, chosen.snippet.text) for chosen in pieces]
    found = (
        chosen
        for chosen in _definitions(place, others, own)
        if not any(uri == chosen.uri and chosen.snippet.text in text for uri, text in inside)
    )
    definitions = _fitting(found, wanted.room("definition"), DEFINITIONS)
    edits = _fitting(_edits(place, hunks), wanted.room("edit"), EDITS)
    return (*_in_order(pieces, previous), *_in_order(definitions, previous), *reversed(edits))


def known_names(place: Place, others: Sequence[Indexed]) -> frozenset[str]:
    """The names at a place that others define: as long as they stay the same, so may the choice."""
    known = {name for name in place.near if any(name in other.definitions for other in others)}
    return frozenset(known.union(_begun(place, others)))


def _fitting(found: Iterable[Chosen], room: int, most: int) -> list[Chosen]:
    """The first ones that fit; one that is too long makes room for a shorter one."""
    taken: list[Chosen] = []
    for chosen in found if room else ():
        cost = tokens(shown(chosen.snippet))
        if cost <= room and chosen not in taken:
            taken.append(chosen)
            room -= cost
        if len(taken) == most:
            break
    return taken


def _in_order(chosen: list[Chosen], previous: Sequence[Chosen]) -> list[Chosen]:
    """Those that were chosen before in the order they had, then the new ones."""
    known = [each for each in previous if each in chosen]
    return known + [each for each in chosen if each not in known]


def _pieces(place: Place, others: Sequence[Indexed], previous: Sequence[Chosen]) -> Iterator[Chosen]:
    """Pieces of other documents that are about the same, the most alike first, one of each document."""
    names = frozenset(place.near)
    before = {(each.uri, each.snippet.text) for each in previous if each.snippet.kind == "code"}
    ranked: list[tuple[float, int, Chosen]] = []
    for age, other in enumerate(others):
        best: tuple[float, int, Chosen] | None = None
        for piece in other.pieces:
            shared = len(names & piece.names)
            if shared < FEWEST_SHARED:
                continue
            alike = shared / len(names | piece.names)
            if alike < LEAST_ALIKE or (best and alike * KEPT < -best[0]):
                continue
            chosen = _chosen(other, other.text(piece), "code")
            if _is_copy(chosen.snippet.text, place):
                continue
            weight = alike * KEPT if (chosen.uri, chosen.snippet.text) in before else alike
            if best is None or weight > -best[0]:
                best = -weight, age, chosen
        if best:
            ranked.append(best)
    return (chosen for _, _, chosen in sorted(ranked, key=lambda each: each[:2]))


def _is_copy(text: str, place: Place) -> bool:
    lines = [line.strip() for line in text.splitlines()]
    telling = [line for line in lines if len(line) > 3]
    return sum(line in place.lines for line in telling) >= COPIED * len(telling)


def _definitions(place: Place, others: Sequence[Indexed], own: Indexed | None) -> Iterator[Chosen]:
    """What the names at a place mean, where another document defines them; the nearest name first.

    Members come last: what holds them tells more.
    """
    members: list[Chosen] = []
    for name in (*_begun(place, others), *place.near):
        if own is not None and name in own.definitions:
            continue
        found = [
            (other, defined)
            for other in others
            for defined in other.definitions.get(name, ())
            if _may_mean(place, name, defined, other)
        ]
        found = [each for each in found if each[0].stem in place.imports] or found
        chosen = [_chosen(other, defined.text, "definition") for other, defined in found]
        # A name that many define says nothing about which one is meant.
        if found and all(defined.member for _, defined in found):
            members += chosen if len(found) == 1 else []
        elif len({each.uri for each in chosen}) == 1:
            yield from chosen[:2]
    yield from members


def _may_mean(place: Place, name: str, defined: Defined, other: Indexed) -> bool:
    """Whether a name at a place may be this definition of another document."""
    if defined.member:
        return name in place.reached
    if name in place.imports or other.stem in place.imports or name.startswith(place.word or "\0"):
        return True
    # Not imported, or not yet: a call or a type may well be, any other name is a variable of the place.
    return place.language.lower() not in IMPORTING or name in place.called or name[0].isupper()


def _begun(place: Place, others: Sequence[Indexed]) -> list[str]:
    """The definitions that the name at the cursor may become."""
    if len(place.word) < 3:
        return []
    names = {
        name
        for other in others
        for name, found in other.definitions.items()
        if name.startswith(place.word) and not all(defined.member for defined in found)
    }
    return sorted(names) if len(names) <= HEADS else []


def _edits(place: Place, hunks: Sequence[Hunk]) -> Iterator[Chosen]:
    """Recent changes, the newest first. What was only added to this document is there to be seen."""
    for hunk in reversed(hunks):
        if not (hunk.adds_only and hunk.uri == place.uri):
            yield Chosen(hunk.uri, Snippet(path_of(hunk.uri), hunk.text, "edit"))


def _chosen(other: Indexed, text: str, kind: str) -> Chosen:
    uri = other.document.uri
    return Chosen(uri, Snippet(path_of(uri), text, "code" if kind == "code" else "definition"))
