"""What a model says around the scope it was asked for, put right before its lines are compared with the old.

A stage takes text in pieces and gives what may pass: `push` each piece, then `finish`. It holds back only
as much as it needs to decide, and nothing at all once it has.
"""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Protocol

from lsp_server.core.document import Document
from lsp_server.core.syntax.languages import language_of
from lsp_server.core.syntax.scope import Scope
from lsp_server.core.text import Span, complete_lines, split_lines
from lsp_server.engine.repeats import READ_LINES, Echo
from lsp_server.engine.wholes import definition_in


class Head(Protocol):
    """`above` is what the reply left out above its first line and the document keeps, byte for byte."""

    above: str

    def push(self, text: str) -> str: ...

    def finish(self) -> str:
        """What was held back. Raises EditRefused when it cannot be used."""


def head(
    screen: str, document: Document, scope: Scope, lead: str, instruction: str, without: str = ""
) -> Head:
    """What a reply for `scope`, which reads `screen` now, has to pass first.

    `lead` is what stood above the definition when the first instruction was given; of it, `without` is
    removed by the edit whatever the reply says.
    """
    first, last = document.line_at(scope.span.start), document.line_at(scope.span.end)
    before = document.slice(document.line_start(first), scope.span.start)
    after = document.slice(scope.span.end, document.line_start(last) + len(document.line(last)))
    if before.strip() or after.strip():
        return PartOfLine(before, after)
    kept = split_lines(lead.replace(without, "", 1))[:-1] if screen.startswith(lead) else []
    return WholeLines(kept, screen, document, scope, instruction)


class PartOfLine:
    """The scope is a part of its line: a reply that repeats the rest of the line is cut down to the part.

    Such a reply is short, and only its end shows whether it repeats the rest, so it is held until then.
    """

    above = ""

    def __init__(self, before: str, after: str) -> None:
        self._before, self._after = before, after
        self._text = ""

    def push(self, text: str) -> str:
        self._text += text
        return ""

    def finish(self) -> str:
        text = self._text.strip("\r\n")
        before, after = self._before.lstrip(), self._after.rstrip()
        whole = text.lstrip()
        fits = len(whole) >= len(before) + len(after)
        if fits and whole.startswith(before) and whole.rstrip().endswith(after):
            return whole.rstrip()[len(before) : len(whole.rstrip()) - len(after)]
        return text


class WholeLines:
    """Where the reply begins: with an echo of the instruction, with the file, or below its decorators."""

    def __init__(
        self, lead: Sequence[str], screen: str, document: Document, scope: Scope, instruction: str
    ) -> None:
        self._lead = lead
        self._document, self._scope = document, scope
        self.above = ""
        self._echo = Echo(instruction)
        self._comments = Comments(document.language)
        above = islice(document.lines(), min(READ_LINES, document.line_at(scope.span.start)))
        self._above = [line.strip() for line in above if line.strip()]
        self._remark = self._comments.remark_above(document, scope.span)
        self._own = {line.strip() for line in split_lines(screen)}
        self._text = ""
        self._decided = False
        # The reply is more than the scope, so only all of it shows which part is.
        self._more = False

    def push(self, text: str) -> str:
        text = self._echo.push(text)
        if self._decided:
            return text
        self._text += text
        if self._more or "\n" not in text:
            return ""
        lines, rest = complete_lines(self._text)
        return self._passed(lines, rest, whole=False)

    def finish(self) -> str:
        text = self._echo.finish()
        return text if self._decided else self._passed(split_lines(self._text + text), "", whole=True)

    def _passed(self, lines: list[str], rest: str, *, whole: bool) -> str:
        lines = _begun(lines)
        if lines and lines[0].strip() in self._remark:
            repeated = self._remark[self._remark.index(lines[0].strip()) :]
            if len(lines) <= len(repeated) and not whole:
                return ""
            if [line.strip() for line in lines[: len(repeated)]] == repeated:
                lines = _begun(lines[len(repeated) :])
        # A line of signs alone, as that which opens a docstring, stands everywhere.
        telling = next((line for line in lines if re.search(r"\w", line)), None)
        if telling is None and not whole:
            return ""
        if telling is not None and self._outside(telling):
            self._more = True
            lines = _begun(split_lines(self._inside("".join(lines)))) if whole else []
        if not lines:
            return ""
        kept = kept_of(self._lead, lines, self._comments, whole=whole)
        if kept is None:
            return ""
        self._decided = True
        above, row, between = kept
        self.above = "".join(above)
        return "".join([*lines[:row], *between, *lines[row:], rest])

    def _outside(self, line: str) -> bool:
        """True for a line that stands above the scope and not in it: the reply is more than the scope."""
        text = line.strip()
        if text in self._own or text not in self._above or is_decorator(text):
            return False
        return text == self._above[0] or (self._scope.name is not None and not self._comments.is_one(text))

    def _inside(self, reply: str) -> str:
        """The part of a reply that is the scope."""
        name = self._scope.name
        if name is not None:
            return definition_in(reply, name, self._document, self._scope)
        lines = split_lines(reply)
        rows = [row for row, line in enumerate(lines) if line.strip()]
        count = len(self._above)
        if len(rows) > count and [lines[row].strip() for row in rows[:count]] == self._above:
            return "".join(lines[rows[count] :])
        return reply


class Comments:
    """What a comment looks like in a language."""

    def __init__(self, language_id: str) -> None:
        language = language_of(language_id)
        self._line = language.line_comment if language else ""
        self._block = language.block_comment if language else None

    def is_one(self, line: str) -> bool:
        """True for a line that begins with a comment."""
        opening = self._block[0] if self._block else ""
        return any(sign and line.lstrip().startswith(sign) for sign in (self._line, opening))

    def remark_above(self, document: Document, span: Span) -> list[str]:
        """The comment lines directly above a span that are no part of it, stripped."""
        remark: list[str] = []
        number = document.line_at(span.start) - 1
        while number >= 0 and self.is_one(document.line(number)) and len(remark) < READ_LINES:
            remark.insert(0, document.line(number).strip())
            number -= 1
        return remark

    def below(self, lines: Sequence[str]) -> int | None:
        """The first line that is neither blank nor comment; None when there is none yet."""
        inside = False
        for number, line in enumerate(lines):
            text = line.strip()
            if self._block and (inside or text.startswith(self._block[0])):
                begun = 0 if inside else len(self._block[0])
                inside = self._block[1] not in text[begun:]
            elif text and not self.is_one(text):
                return number
        return None


def kept_of(
    lead: Sequence[str], lines: list[str], comments: Comments, *, whole: bool
) -> tuple[Sequence[str], int, Sequence[str]] | None:
    """What of a definition's `lead` a reply leaves out and keeps; None as long as that is open.

    The lines above the reply, then lines that belong above its row of that number. A reply that begins
    with the definition keeps all. Decorators in the reply replace the lead, comments only the comments.
    """
    known = [line.strip() for line in lead]
    first = lines[0].strip()
    if first in known:
        above = lead[: known.index(first)]
        return ((), 0, ()) if any(map(is_decorator, above)) else (above, 0, ())
    if not lead or is_decorator(first):
        return (), 0, ()
    if not comments.is_one(first):
        return lead, 0, ()
    decorators = next((lead[row:] for row, line in enumerate(lead) if is_decorator(line)), ())
    below = comments.below(lines)
    if below is None and decorators and not whole:
        return None
    if below is None or is_decorator(lines[below]):
        return (), 0, ()
    return (), below, moved_to(decorators, lines[below])


def moved_to(lines: Sequence[str], first: str) -> list[str]:
    """Lines moved to the indentation that the reply uses."""
    if not lines:
        return []
    indent = first[: len(first) - len(first.lstrip())]
    own = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    return [indent + line.removeprefix(own) for line in lines]


def is_decorator(line: str) -> bool:
    """True for a line that is nothing but a decorator, an annotation or an attribute, or starts one."""
    text = line.strip()
    if text.startswith("@"):
        return not text.startswith("@interface") and not text.endswith("{")
    return text.startswith(("#[", "[")) and text.endswith("]")


def _begun(lines: list[str]) -> list[str]:
    """The lines from the first one that says anything."""
    return next((lines[number:] for number, line in enumerate(lines) if line.strip()), [])
