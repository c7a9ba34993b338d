"""What a document offers to the prompts of others: pieces with their names, and definitions.

A document is read section by section, so that nobody waits for the whole of it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from lsp_server.core.context.words import LONGEST_LINE, names
from lsp_server.core.document import Document
from lsp_server.core.syntax.languages import language_of
from lsp_server.core.syntax.outline import Defined, outline
from lsp_server.core.syntax.windows import starts_block

SECTION, LONGEST_SECTION = 60, 120
"""Lines that are read at once: a section ends where a block starts, or at the latest after so many."""

PIECE, LONGEST_PIECE = 10, 24
"""Lines of a piece, likewise; it may also end at a blank line."""

MOST_LINES = 6_000
"""Lines of a document that are read; most definitions that others use are in shorter files."""

_FAMILIES = {"typescript": "javascript", "tsx": "javascript", "cpp": "c", "objective-c": "c"}


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines `first` up to, not including, `end`."""

    first: int
    end: int
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Part:
    """What one section holds."""

    pieces: tuple[Piece, ...]
    defined: tuple[Defined, ...]


@dataclass(frozen=True)
class Indexed:
    """What is known of one version of a document."""

    document: Document
    pieces: tuple[Piece, ...]
    definitions: Mapping[str, tuple[Defined, ...]]

    def text(self, piece: Piece) -> str:
        """The lines of a piece, without blank ones around them."""
        lines = [line.rstrip("\r\n") for line in self.document.lines(piece.first, piece.end)]
        while lines and not lines[-1].strip():
            lines.pop()
        return "".join(line + "\n" for line in lines).lstrip("\n")

    @cached_property
    def stem(self) -> str:
        """How other files import this one: its name without what follows the first dot."""
        folder, _, name = self.document.uri.rpartition("/")
        stem = name.partition(".")[0]
        return folder.rpartition("/")[2] if stem in ("__init__", "index", "mod", "lib") else stem


def family(language_id: str) -> str:
    """A name for the languages that can use each other's definitions."""
    language = language_of(language_id)
    name = language.id if language else language_id.lower()
    return _FAMILIES.get(name, name)


def indexed(document: Document, parts: Iterable[Part]) -> Indexed:
    """A document of which every section was read."""
    pieces: list[Piece] = []
    definitions: dict[str, tuple[Defined, ...]] = {}
    for part in parts:
        pieces += part.pieces
        for defined in part.defined:
            definitions[defined.name] = (*definitions.get(defined.name, ()), defined)
    return Indexed(document, tuple(pieces), definitions)


def sections(document: Document) -> Iterator[tuple[int, int]]:
    """The sections of a document, as numbers of lines, the end not included."""
    end = min(document.line_count, MOST_LINES)
    return _cut(document, 0, end, SECTION, LONGEST_SECTION, starts_block)


def read(document: Document, first: int, end: int) -> Part:
    """Read one section: a millisecond or two of work."""
    lines = list(document.lines(first, end))
    if any(len(line) > LONGEST_LINE for line in lines):
        # What has such lines is generated or is data.
        return Part((), ())
    text = "".join(lines)
    pieces = tuple(
        Piece(start, stop, names("".join(lines[start - first : stop - first])))
        for start, stop in _cut(document, first, end, PIECE, LONGEST_PIECE, _starts_piece)
    )
    return Part(pieces, tuple(outline(text, document.language, fragment=first > 0)))


def _starts_piece(previous: str, line: str) -> bool:
    return starts_block(previous, line) or bool(line.strip() and not previous.strip())


def _cut(
    document: Document, first: int, end: int, enough: int, most: int, starts: Callable[[str, str], bool]
) -> Iterator[tuple[int, int]]:
    start, previous = first, ""
    for number, line in enumerate(document.lines(first, end), first):
        length = number - start
        if length >= most or (length >= enough and starts(previous, line)):
            yield start, number
            start = number
        previous = line
    if start < end:
        yield start, end
