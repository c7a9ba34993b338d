"""One version of a document: immutable, and cheap to derive from the version before.

The lines live in chunks that versions share. A keystroke makes one new chunk and one new tuple of
chunks, so its cost does not follow the size of the file.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from lsp_server.core.edits import Edit, replacement
from lsp_server.core.text import Encoding, Position, Range, column_of, index_of, line_end, split_lines

CHUNK_LINES = 128


@dataclass(frozen=True, slots=True)
class Change:
    """One content change of a notification; without a range, `text` is the whole new document."""

    range: Range | None
    text: str


class Document:
    """A text document at one version. Offsets are code points; lines keep their ends.

    A document that ends in a line end has an empty last line, as in the protocol.
    """

    __slots__ = ("_chunks", "_first_lines", "_newline", "_offsets", "_text", "language", "uri", "version")

    uri: str
    language: str
    version: int

    def __init__(
        self,
        uri: str,
        language: str,
        version: int,
        chunks: "tuple[_Chunk, ...]",
        first_lines: tuple[int, ...],
        offsets: tuple[int, ...],
    ) -> None:
        """For this module: use `Document.open`. Where each chunk starts, in lines and in characters, comes
        with the chunks, and where the last one ends."""
        self.uri, self.language, self.version = uri, language, version
        self._chunks, self._first_lines, self._offsets = chunks, first_lines, offsets
        self._text: str | None = None
        self._newline: str | None = None

    @classmethod
    def open(cls, uri: str, language: str, version: int, text: str) -> "Document":
        """The document as `textDocument/didOpen` brings it."""
        chunks = _chunked(tuple(split_lines(text)))
        first_lines = accumulate((chunk.line_count for chunk in chunks), initial=0)
        offsets = accumulate((chunk.length for chunk in chunks), initial=0)
        return cls(uri, language, version, chunks, tuple(first_lines), tuple(offsets))

    @property
    def text(self) -> str:
        """The whole text, joined at the first use."""
        if self._text is None:
            self._text = "".join(line for chunk in self._chunks for line in chunk.lines)
        return self._text

    @property
    def length(self) -> int:
        """The number of code points."""
        return self._offsets[-1]

    @property
    def line_count(self) -> int:
        """The number of lines, at least one."""
        return self._first_lines[-1]

    @property
    def newline(self) -> str:
        r"""The line end that most lines have, `\n` when there is none. Kept by edits within a line."""
        if self._newline is None:
            counts = [
                sum(column) for column in zip(*(chunk.line_ends for chunk in self._chunks), strict=True)
            ]
            self._newline = _LINE_ENDS[counts.index(max(counts))]
        return self._newline

    def line(self, number: int) -> str:
        """Line `number`, with its end."""
        chunk, row = self._find_line(number)
        return self._chunks[chunk].lines[row]

    def lines(self, first: int = 0, last: int | None = None) -> Iterator[str]:
        """The lines from `first` up to, not including, `last`, with their ends."""
        last = self.line_count if last is None else min(last, self.line_count)
        while first < last:
            chunk, row = self._find_line(first)
            yield from self._chunks[chunk].lines[row : row + last - first]
            first = self._first_lines[chunk + 1]

    def lines_above(self, number: int) -> Iterator[str]:
        """The lines above line `number`, with their ends, from the nearest to the first."""
        while number > 0:
            chunk, row = self._find_line(number - 1)
            yield from reversed(self._chunks[chunk].lines[: row + 1])
            number = self._first_lines[chunk]

    def line_start(self, number: int) -> int:
        """The offset at which line `number` starts."""
        chunk, row = self._find_line(number)
        return self._offsets[chunk] + self._chunks[chunk].starts[row]

    def line_at(self, offset: int) -> int:
        """The number of the line that holds `offset`; the end of the text is on the last line."""
        chunk, row, _ = self._find_offset(offset)
        return self._first_lines[chunk] + row

    def slice(self, start: int, end: int) -> str:
        """The text of `[start, end)`, without joining the rest."""
        start, end = max(0, start), min(end, self.length)
        if start >= end:
            return ""
        first = self.line_at(start)
        joined = "".join(self.lines(first, self.line_at(end) + 1))
        column = start - self.line_start(first)
        return joined[column : column + end - start]

    def offset(self, position: Position, encoding: Encoding) -> int:
        """The offset of a client's position; one outside the document clamps to the nearest place."""
        if position.line < 0:
            return 0
        if position.line >= self.line_count:
            return self.length
        line = self.line(position.line)
        return self.line_start(position.line) + index_of(line, position.character, encoding)

    def position(self, offset: int, encoding: Encoding) -> Position:
        """The client's position of an offset; one inside a line end clamps to before it."""
        chunk, row, column = self._find_offset(offset)
        line = self._chunks[chunk].lines[row]
        return Position(self._first_lines[chunk] + row, column_of(line, column, encoding))

    def apply(
        self, changes: Sequence[Change], version: int, encoding: Encoding
    ) -> "tuple[Document, tuple[Edit, ...]]":
        """The document after a client's changes, and the changes as edits.

        Each change, and each edit, is relative to what the one before left. A whole new text becomes
        the smallest edit that leads to it, or none when nothing changed.
        """
        document, edits = self, list[Edit]()
        for change in changes:
            edit = document._edit(change, encoding)
            if edit is not None:
                document = document.edited(edit, version)
                edits.append(edit)
        if not edits:
            document = Document(
                self.uri, self.language, version, self._chunks, self._first_lines, self._offsets
            )
            document._newline = self._newline
        return document, tuple(edits)

    def edited(self, edit: Edit, version: int) -> "Document":
        """The document after one edit, whose offsets must lie inside it."""
        first, first_row, first_column = self._find_offset(edit.start)
        if edit.end == edit.start:
            last, last_row, last_column = first, first_row, first_column
        else:
            last, last_row, last_column = self._find_offset(edit.end)
        within_line, changed = (first, first_row) == (last, last_row), self._chunks[last].lines[last_row]
        head = self._chunks[first].lines[:first_row]
        tail = self._chunks[last].lines[last_row + 1 :]
        text = self._chunks[first].lines[first_row][:first_column] + edit.text + changed[last_column:]
        if text.startswith("\n"):
            # It may complete a carriage return that ended the line before, perhaps in the chunk before.
            if not head and first:
                first -= 1
                head = self._chunks[first].lines
            if head and head[-1].endswith("\r"):
                head, text = head[:-1], head[-1] + text
        before, after = self._chunks[:first], self._chunks[last + 1 :]
        lines = split_lines(text)
        if tail or after:
            # `text` ends in a line end, after which the next line starts, not an empty one.
            lines.pop()
        chunks = _chunked((*head, *lines, *tail))
        document = Document(
            self.uri,
            self.language,
            version,
            before + chunks + after,
            _respaced(self._first_lines, first, last, [chunk.line_count for chunk in chunks]),
            _respaced(self._offsets, first, last, [chunk.length for chunk in chunks]),
        )
        if within_line and len(lines) == 1 and line_end(lines[0]) == line_end(changed):
            document._newline = self._newline if document.line_count == self.line_count else None
        return document

    def _edit(self, change: Change, encoding: Encoding) -> Edit | None:
        if change.range is None:
            return replacement(self.text, change.text)
        start = self.offset(change.range.start, encoding)
        if change.range.end == change.range.start:
            return Edit(start, start, change.text)
        end = self.offset(change.range.end, encoding)
        return Edit(min(start, end), max(start, end), change.text)

    def _find_line(self, number: int) -> tuple[int, int]:
        """The chunk of a line, and its row there."""
        if not 0 <= number < self.line_count:
            raise IndexError(f"no line {number} in a document of {self.line_count} lines")
        chunk = bisect_right(self._first_lines, number) - 1
        return chunk, number - self._first_lines[chunk]

    def _find_offset(self, offset: int) -> tuple[int, int, int]:
        """The chunk, the row in it and the column of an offset."""
        if not 0 <= offset <= self.length:
            raise IndexError(f"no offset {offset} in a document of {self.length} characters")
        chunk = min(bisect_right(self._offsets, offset), len(self._chunks)) - 1
        offset -= self._offsets[chunk]
        starts = self._chunks[chunk].starts
        row = min(bisect_right(starts, offset), len(starts) - 1) - 1
        return chunk, row, offset - starts[row]


_LINE_ENDS = ("\n", "\r\n", "\r")


class _Chunk:
    """Some consecutive lines; never empty, and never ended between a carriage return and its newline."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        self.lines, self.line_count = lines, len(lines)
        self.starts = tuple(accumulate(map(len, lines), initial=0))
        self.length = self.starts[-1]

    @cached_property
    def line_ends(self) -> tuple[int, ...]:
        text = "".join(self.lines)
        pairs = text.count("\r\n")
        return text.count("\n") - pairs, pairs, text.count("\r") - pairs


def _chunked(lines: tuple[str, ...]) -> tuple[_Chunk, ...]:
    """Lines in chunks of one size, but for an edited chunk, which may grow to twice that first."""
    if len(lines) <= 2 * CHUNK_LINES:
        return (_Chunk(lines),)
    return tuple(_Chunk(lines[at : at + CHUNK_LINES]) for at in range(0, len(lines), CHUNK_LINES))


def _respaced(starts: tuple[int, ...], first: int, last: int, sizes: Sequence[int]) -> tuple[int, ...]:
    """Where chunks start once those from `first` to `last` were replaced by some of these sizes.

    A keystroke moves all that lies behind it, so the chunks there are not even looked at.
    """
    fresh = tuple(accumulate(sizes, initial=starts[first]))
    moved = fresh[-1] - starts[last + 1]
    behind = starts[last + 2 :]
    return starts[:first] + fresh + (tuple(map(moved.__add__, behind)) if moved else behind)
