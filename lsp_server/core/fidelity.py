"""What a model does not mean to change: line ends, indentation style, trailing blanks, the ends of a scope.

A model speaks its own dialect: newlines for every line end, blanks for tabs, a method moved to the left
edge. Here its lines become lines of the document before they are compared with it.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from unicodedata import normalize

from lsp_server.core.document import Document
from lsp_server.core.text import complete_lines, line_end, split_lines

# So many lines show how a document is indented; to read all of a huge one could be felt.
_SAMPLE = 1000
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class IndentStyle:
    """One level of indentation: a tab, or some blanks."""

    unit: str

    @property
    def tabs(self) -> bool:
        """True when the document is indented by tabs."""
        return self.unit == "\t"


BLANKS = IndentStyle("    ")


def indent_style(document: Document, default: IndentStyle = BLANKS) -> IndentStyle:
    """How most lines of a document are indented; `default` when none is."""
    return _style(islice(document.lines(), _SAMPLE), default)


class Fidelity:
    """Gives the model's lines as the author of the document would have written them.

    `old` is the text of the scope; `newline` and `style` are the document's. `indent` stands in front of
    the cursor where `old` is empty. Push what the reply filter gives: what comes out is the new text of
    the scope, whatever the pieces were.

    - A line that differs from one of `old` in nothing but its line end, its kind of indentation, missing
      trailing blanks or the composition of its accents is that line, byte for byte.
    - Any other line takes the document's line end and kind of indentation. A blank one is empty.
    - Every line moves with the first one, which goes to where the first line of `old` stands.
    - The blank lines at both ends, the last line end and the byte order mark are those of `old`.
    """

    def __init__(self, newline: str, old: str, indent: str, style: IndentStyle) -> None:
        self._original = _Original(old.removeprefix(_BOM), newline)
        self._layout = _Layout(self._original, indent if not old else "", style)
        # What stands before the next line with text: the start of the scope, later a line end.
        self._between = _BOM * old.startswith(_BOM) + self._original.start
        self._begun = False
        self._partial = ""

    def push(self, text: str) -> str:
        """The text that follows from more of the model's text."""
        lines, self._partial = complete_lines(self._partial + text)
        given = [self._line(line) for line in lines]
        if self._partial.strip(_WHITE):
            # Another line is coming, so the one before is not the last.
            given.append(self._released())
        return "".join(given)

    def finish(self) -> str:
        """The rest, when the model's text is complete; nothing at all when no line had text."""
        given = self._line(self._partial)
        return given + self._original.end if self._begun else ""

    def _line(self, line: str) -> str:
        content = line.rstrip("\r\n")
        if not content.strip(_WHITE):
            self._between += self._original.blank_line() if self._begun and line else ""
            return ""
        if not self._begun and content not in self._original:
            content = content.removeprefix(_BOM)
        given = self._released()
        self._begun = True
        text, self._between = self._original.line(self._layout.placed(content))
        return given + text

    def _released(self) -> str:
        given, self._between = self._between, ""
        return given


_WHITE = " \t\r\n"


class _Original:
    """The lines of the scope as they are, found by what a reader sees of them."""

    def __init__(self, text: str, newline: str) -> None:
        self._newline = newline
        self._lines = split_lines(text)
        self._rows: dict[str, list[int]] = defaultdict(list)
        self._blanks: dict[str, str] = {}
        for row, line in enumerate(self._lines):
            self._rows[_seen(line)].append(row)
            self._blanks.setdefault(line.strip(_WHITE), indentation(line))
        # The row that came last, and the one that would come next if line followed line.
        self._last, self._next = -1, 0
        body = text.strip(_WHITE)
        above, _, below = text.partition(body) if body else ("", "", text)
        self.start = "".join(split_lines(above)[:-1])
        self.end = below.lstrip(" \t")

    @property
    def indents(self) -> list[str]:
        """The indentations of the first two lines with text."""
        return [indentation(line) for line in islice(filter(str.strip, self._lines), 2)]

    @property
    def kinds(self) -> set[str]:
        """What indents the lines: blanks, tabs or both. A single blank is the edge of a comment."""
        return {line[0] for line in self._lines if line.startswith(("  ", "\t")) and line.strip(_WHITE)}

    def __contains__(self, text: str) -> bool:
        return _seen(text) in self._rows

    def blanks_of(self, text: str) -> str | None:
        """The indentation that a line with this text has."""
        return self._blanks.get(text.strip(_WHITE))

    def line(self, text: str) -> tuple[str, str]:
        """The line that looks like `text`, as it stands here, and the line end that follows it."""
        rows = self._rows.get(_seen(text))
        if not rows:
            self._next += 1
            return text, self._newline
        line, end = self._take(self._nearest(rows))
        changed = text != text.rstrip(_WHITE)
        return text if changed else line, end or self._newline

    def blank_line(self) -> str:
        """A blank line: the one that stands here, or an empty one."""
        rows = self._rows.get("")
        row = self._nearest(rows) if rows else -1
        if row <= self._last or abs(row - self._next) > 1:
            return self._newline
        line, end = self._take(row)
        return line + end if end else self._newline

    def _nearest(self, rows: list[int]) -> int:
        index = bisect_left(rows, self._next)
        return min(rows[max(0, index - 1) : index + 1], key=lambda row: abs(row - self._next))

    def _take(self, row: int) -> tuple[str, str]:
        self._last, self._next = row, row + 1
        end = line_end(self._lines[row])
        return self._lines[row].removesuffix(end), end


def _seen(line: str) -> str:
    return normalize("NFC", line.rstrip(_WHITE))


class _Layout:
    """Moves lines to the place and into the style of the scope, judged by its first two lines."""

    def __init__(self, original: _Original, in_front: str, style: IndentStyle) -> None:
        self._original = original
        self._in_front = in_front
        indents = original.indents
        self._base = indents[0] if indents else in_front
        self._second = indents[1] if len(indents) > 1 else None
        self._unit = style.unit
        # A function in the other style keeps it, because a mixture may not even be valid.
        if original.kinds == {"\t"}:
            self._unit = "\t"
        elif original.kinds == {" "} and style.tabs:
            # These blanks may only align something, so the model's tabs are left alone too.
            self._unit = ""
        self._from: str | None = None
        self._shifts: bool | None = None
        self._votes = Counter[int]()
        self._depth = 0

    def placed(self, line: str) -> str:
        """The line where it belongs, or as it is where it stands in the scope as it is."""
        first = self._from is None
        moved = self._moved(line)
        if first:
            return moved
        if not self._shifts:
            return line if line in self._original else moved
        # A line further left than the scope is text of its own, for instance in a long string.
        left = line in self._original and not line.startswith(self._base)
        return line if left and moved not in self._original else moved

    def _moved(self, line: str) -> str:
        text = line[len(indentation(line)) :]
        blanks = self._styled(indentation(line), text)
        if self._from is None:
            self._from = blanks
            if self._base in (blanks, indentation(line)):
                self._shifts = False
            return self._base.removeprefix(self._in_front) + text
        if self._shifts is None:
            self._shifts = self._follows(blanks, text)
        return (self._shifted(blanks) if self._shifts else blanks) + text

    def _follows(self, blanks: str, text: str) -> bool:
        """True when the second line was moved with the first; some models lose only the first blanks."""
        shifted = self._shifted(blanks)
        here, there = blanks + text in self._original, shifted + text in self._original
        if here != there:
            return there
        if len(self._from or "") > len(self._base):
            return True
        if self._second in (blanks, shifted):
            return shifted == self._second
        return not blanks.startswith(self._base + self._unit)

    def _shifted(self, blanks: str) -> str:
        source = self._from or ""
        if blanks.startswith(source):
            return self._base + blanks[len(source) :]
        return self._base[: max(0, len(self._base) - len(source) + len(blanks))]

    def _styled(self, blanks: str, text: str) -> str:
        if self._unit != "\t":
            return blanks.replace("\t", self._unit or "\t")
        if blanks.startswith(" "):
            width = self._width(len(blanks.expandtabs(len(BLANKS.unit))), text)
            columns = len(blanks.expandtabs(width))
            blanks = "\t" * (columns // width) + " " * (columns % width)
        self._depth = blanks.count("\t")
        return blanks

    def _width(self, columns: int, text: str) -> int:
        """How many blanks the model takes for a tab. Each line has a vote, because lines may have moved."""
        known = self._original.blanks_of(text)
        if known is None and self._from is None:
            known = self._base
        depth = known.count("\t") if known and not known.strip("\t") else 0
        # The model may write the scope from the left edge.
        levels = {depth, depth - self._base.count("\t") if self._from == "" else depth}
        exact = [width for width in _WIDTHS if any(level * width == columns for level in levels)]
        if exact:
            self._votes.update(exact)
        elif fitting := [width for width in _WIDTHS if columns % width == 0]:
            # A line is at most one level deeper than the one above.
            near = [width for width in fitting if columns // width <= self._depth + 1]
            self._votes[max(near or fitting, key=self._votes.__getitem__)] += 1
        return max(_WIDTHS, key=self._votes.__getitem__)


_WIDTHS = (4, 2, 8, 3)


def indentation(line: str) -> str:
    """The blanks and tabs in front of a line."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def _style(lines: Iterable[str], default: IndentStyle) -> IndentStyle:
    tabs = blanks = above = 0
    steps = Counter[int]()
    for line in filter(str.strip, lines):
        indent = indentation(line)
        tabs += indent.startswith("\t")
        blanks += indent.startswith(" ")
        steps[len(indent) - above] += indent.startswith(" ")
        above = len(indent)
    if tabs > blanks:
        return IndentStyle("\t")
    # Other steps align with something: one blank is the edge of a comment.
    usual = max(_WIDTHS, key=lambda width: steps[width])
    if steps[usual]:
        return IndentStyle(" " * usual)
    return BLANKS if blanks and default.tabs else default
