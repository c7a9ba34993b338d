"""From the model's words to edits of the screen: one listener, and a rewriter for each reply format."""

from dataclasses import replace
from typing import Literal

from lsp_server.core.diff import StreamingDiff
from lsp_server.core.document import Document
from lsp_server.core.edits import Edit, apply
from lsp_server.core.fidelity import Fidelity, indent_style
from lsp_server.core.hunks import Hunk, HunkParser, Refusal, locate, marker_width
from lsp_server.core.reply import ReplyFilter
from lsp_server.core.syntax.scope import Scope
from lsp_server.core.text import split_lines
from lsp_server.engine.errors import EditRefused

UNCHANGED_REST = "The model left code out instead of writing it, so its edit was taken back; try again."
LOOP = "The model began to repeat itself and was stopped; undo takes back what it wrote."
NOTHING = "The model gave no code, so nothing was changed; say the instruction in other words."
BROKEN_OFF = "The model's code broke off in the middle, so the rest was not touched; undo takes it back."


class Listener:
    """Takes a raw reply in pieces and gives its code. Raises EditRefused for one that must not be applied."""

    def __init__(self, format_: Literal["scope", "hunks"], original: str) -> None:
        self._filter = ReplyFilter(format_, original)
        self._format = format_

    @property
    def complete(self) -> bool:
        """True when nothing useful can follow."""
        return self._filter.ended

    def push(self, text: str) -> str:
        code = self._filter.push(text)
        self._judge()
        return code

    def finish(self) -> str:
        code = self._filter.finish()
        self._judge()
        if self._filter.empty and not self._filter.deletes:
            raise EditRefused(NOTHING)
        if self._format == "scope" and not self._filter.closed:
            raise EditRefused(BROKEN_OFF)
        return code

    def _judge(self) -> None:
        if self._filter.placeholder is not None:
            raise EditRefused(UNCHANGED_REST, restores=True)
        if self._filter.runaway:
            raise EditRefused(LOOP)


class ScopeRewriter:
    """The reply is the whole new scope; `screen` is the scope's text after the edits given so far."""

    def __init__(self, screen: str, document: Document, scope: Scope) -> None:
        self.screen = screen
        self._diff = StreamingDiff(screen)
        self._fidelity = Fidelity(document.newline, screen, scope.indent, indent_style(document))
        self._head = head_stage(screen, document, scope)

    def push(self, text: str) -> list[Edit]:
        return self._shown(self._diff.push(self._fidelity.push(self._head.push(text))))

    def finish(self) -> list[Edit]:
        text = self._fidelity.push(self._head.finish()) + self._fidelity.finish()
        return self._shown(self._diff.push(text)) + self._shown(self._diff.finish())

    def _shown(self, edits: list[Edit]) -> list[Edit]:
        self.screen = apply(self.screen, edits)
        return edits


def head_stage(screen: str, document: Document, scope: Scope) -> "Preamble | PartOfLine":
    """What has to be put right before anything else is."""
    first, last = document.line_at(scope.span.start), document.line_at(scope.span.end)
    before = document.slice(document.line_start(first), scope.span.start)
    after = document.slice(scope.span.end, document.line_start(last) + len(document.line(last)))
    if before.strip() or after.strip():
        return PartOfLine(before, after)
    return Preamble(screen, scope)


class PartOfLine:
    """The scope is a part of its line: a reply that repeats the rest of the line is cut down to the part.

    Such a reply is short, and only its end shows whether it repeats the rest, so it is held until then.
    """

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


class Preamble:
    """Keeps the decorators of a scope when the reply begins below them (they belong to the function)."""

    def __init__(self, screen: str, scope: Scope) -> None:
        self._lines = decorator_lines(screen)
        self._head = ""
        self._decided = not self._lines

    def push(self, text: str) -> str:
        if self._decided:
            return text
        self._head += text
        first = next((line for line in split_lines(self._head) if line.strip()), "")
        if not first.endswith(("\n", "\r")):
            return ""
        return self._decide(first)

    def finish(self) -> str:
        if self._decided or not self._head:
            return ""
        return self._decide(next((line for line in split_lines(self._head) if line.strip()), ""))

    def _decide(self, first: str) -> str:
        self._decided = True
        starts_with_one = first.lstrip()[:1] in ("@", "#", "[") and is_decorator(first)
        return self._head if starts_with_one else dedented(self._lines, first) + self._head


def decorator_lines(screen: str) -> list[str]:
    """The decorator lines at the top of a scope, as long as each stands on a line of its own."""
    lines: list[str] = []
    for line in split_lines(screen):
        if not is_decorator(line):
            break
        lines.append(line)
    return lines


def is_decorator(line: str) -> bool:
    """True for a line that is nothing but a decorator, an annotation or an attribute."""
    text = line.strip()
    if text.startswith("@") and not text.startswith("@interface"):
        return not text.endswith("{")
    return text.startswith(("#[", "[")) and text.endswith("]")


def dedented(lines: list[str], first: str) -> str:
    """Lines moved to the indentation that the reply uses."""
    indent = first[: len(first) - len(first.lstrip())]
    own = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    return "".join(indent + line.removeprefix(own) for line in lines)


class HunkRewriter:
    """The reply is a list of search/replace blocks; each is applied as soon as it is complete."""

    def __init__(self, screen: str, document: Document, scope: Scope) -> None:
        self.screen = screen
        self._parser = HunkParser(marker_width(screen))
        self._document = document
        self._scope = scope
        self._found = 0

    def push(self, text: str) -> list[Edit]:
        return self._apply(self._parser.push(text))

    def finish(self) -> list[Edit]:
        edits = self._apply(self._parser.finish())
        if self._parser.unfinished:
            raise EditRefused(BROKEN_OFF, restores=True)
        if not self._found:
            raise EditRefused("The model named no place to change, so nothing was changed; try again.")
        return edits

    def _apply(self, hunks: list[Hunk]) -> list[Edit]:
        edits: list[Edit] = []
        for hunk in hunks:
            self._found += 1
            found = locate(self.screen, hunk)
            if isinstance(found, Refusal):
                raise EditRefused(f"{found.sentence} The edit was taken back.", restores=True)
            for edit in smallest(self.screen, found):
                edits.append(edit)
                self.screen = apply(self.screen, [edit])
        return edits


def smallest(text: str, edit: Edit) -> list[Edit]:
    """An edit as the small ones that it consists of."""
    diff = StreamingDiff(text[edit.start : edit.end])
    return [
        replace(each, start=each.start + edit.start, end=each.end + edit.start)
        for each in (*diff.push(edit.text), *diff.finish())
    ]
