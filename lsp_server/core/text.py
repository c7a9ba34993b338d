"""Text as the Language Server Protocol sees it: line ends, positions and their encodings.

The core counts code points. A client counts bytes, UTF-16 units or code points, as negotiated; its
units exist only in `Position` and are converted here, one line at a time.
"""

from dataclasses import dataclass
from enum import StrEnum
from io import StringIO


class Encoding(StrEnum):
    """What a client counts within a line; the values are those of `positionEncoding`."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a document: zero-based line, and character in the client's units."""

    line: int
    character: int


@dataclass(frozen=True, slots=True)
class Range:
    """Two positions as the client sent them; they may be reversed or lie outside the document."""

    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of code points."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def __bool__(self) -> bool:
        """True for every span: an empty one is a place, not nothing."""
        return True

    def touches(self, offset: int) -> bool:
        """True inside the span and at both of its borders."""
        return self.start <= offset <= self.end

    def contains(self, span: "Span") -> bool:
        """True when `span` lies within this one, borders included."""
        return self.start <= span.start and span.end <= self.end


def split_lines(text: str) -> list[str]:
    r"""The lines of `text` with their ends: `"a\n"` gives `["a\n", ""]`, and `""` gives `[""]`.

    Only `\n`, `\r\n` and `\r` end a line in LSP. `str.splitlines` also breaks at form feeds, U+2028
    and others, which would shift every line below.
    """
    lines = list(StringIO(text, newline=""))
    if not text or text[-1] in "\r\n":
        lines.append("")
    return lines


def complete_lines(text: str) -> tuple[list[str], str]:
    """The complete lines of a text that goes on, and the rest.

    A carriage return at the very end may be half of a line end, so its line is not complete.
    """
    *lines, rest = split_lines(text)
    if lines and not rest and lines[-1].endswith("\r"):
        rest = lines.pop()
    return lines, rest


def line_end(line: str) -> str:
    """The characters that end `line`: one of the three line ends, or nothing."""
    return line[len(line.rstrip("\r\n")) :]


def units(text: str, encoding: Encoding) -> int:
    """The length of `text` as the client counts it."""
    if encoding is Encoding.UTF32 or text.isascii():
        return len(text)
    return len(_encoded(text, encoding)) // _UNIT_BYTES[encoding]


def index_of(line: str, column: int, encoding: Encoding) -> int:
    """The index in `line` of a client's column.

    A column past the end of the line clamps to before its line end; one inside a character clamps to
    the start of that character.
    """
    content = line.rstrip("\r\n")
    if encoding is Encoding.UTF32 or content.isascii():
        return max(0, min(column, len(content)))
    data = _encoded(content, encoding)
    cut = max(0, min(column * _UNIT_BYTES[encoding], len(data)))
    while _inside_character(data, cut, encoding):
        cut -= _UNIT_BYTES[encoding]
    return len(data[:cut].decode(_CODEC[encoding], "surrogatepass"))


def column_of(line: str, index: int, encoding: Encoding) -> int:
    """The client's column of an index in `line`; an index past the line clamps to before its line end."""
    return units(line.rstrip("\r\n")[: max(0, index)], encoding)


_CODEC = {Encoding.UTF8: "utf-8", Encoding.UTF16: "utf-16-le", Encoding.UTF32: "utf-32-le"}
_UNIT_BYTES = {Encoding.UTF8: 1, Encoding.UTF16: 2, Encoding.UTF32: 4}


def _encoded(text: str, encoding: Encoding) -> bytes:
    # Editors can hold lone surrogates, and JSON can carry them: they must count, not fail.
    return text.encode(_CODEC[encoding], "surrogatepass")


def _inside_character(data: bytes, cut: int, encoding: Encoding) -> bool:
    if not 0 < cut < len(data):
        return False
    if encoding is Encoding.UTF8:
        return data[cut] & 0xC0 == 0x80
    high, low = data[cut - 1], data[cut + 1]
    return high & 0xFC == 0xD8 and low & 0xFC == 0xDC
