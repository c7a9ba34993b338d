"""From the model's words to edits of the screen: one listener, and a rewriter for each reply format."""

from dataclasses import replace
from typing import Literal

from lsp_server.core.diff import StreamingDiff
from lsp_server.core.document import Document
from lsp_server.core.edits import Edit, apply, moved
from lsp_server.core.fidelity import Fidelity, indent_style
from lsp_server.core.hunks import Hunk, HunkParser, Refusal, locate, marker_width
from lsp_server.core.reply import ReplyFilter
from lsp_server.core.syntax.scope import Scope
from lsp_server.engine.errors import EditRefused
from lsp_server.engine.header import Header
from lsp_server.engine.heads import Comments, head
from lsp_server.engine.repeats import Echo, Tail
from lsp_server.texts import edits as texts


class Listener:
    """Takes a raw reply in pieces and gives its code. Raises EditRefused for one that must not be applied."""

    def __init__(self, format_: Literal["scope", "hunks"], original: str, instruction: str = "") -> None:
        self._echo = Echo(instruction)
        self._filter = ReplyFilter(format_, original)
        self._format = format_

    @property
    def complete(self) -> bool:
        """True when nothing useful can follow."""
        return self._filter.ended

    def push(self, text: str) -> str:
        code = self._filter.push(self._echo.push(text))
        self._judge()
        return code

    def finish(self) -> str:
        code = self._filter.push(self._echo.finish()) + self._filter.finish()
        self._judge()
        if self._filter.empty and not self._filter.deletes:
            raise EditRefused(texts.NO_CODE)
        if self._format == "scope" and not self._filter.closed:
            raise EditRefused(texts.CODE_BROKE_OFF)
        return code

    def _judge(self) -> None:
        if self._filter.placeholder is not None:
            raise EditRefused(texts.LEFT_OUT, restores=True)
        if self._filter.runaway:
            raise EditRefused(texts.REPEATED)


class ScopeRewriter:
    """The reply is the whole new scope; `screen` is the scope's text after the edits given so far."""

    def __init__(
        self,
        screen: str,
        document: Document,
        scope: Scope,
        *,
        lead: str = "",
        instruction: str = "",
        without: str = "",
    ) -> None:
        """`lead` is what stood above the definition before the edit (see `Scope.lead`).

        `without` are lines of it that the edit removes.
        """
        self.screen = screen
        self._document, self._scope = document, scope
        self._diff = StreamingDiff(screen)
        self._head = head(screen, document, scope, lead, instruction, without)
        self._header = Header(screen, scope.name, Comments(document.language))
        self._fidelity: Fidelity | None = None
        self._tail = Tail(screen, document, scope)

    def push(self, text: str) -> list[Edit]:
        return self._shown(self._diff.push(self._own(self._header.push(self._head.push(text)))))

    def finish(self) -> list[Edit]:
        text = self._own(self._header.push(self._head.finish()) + self._header.finish())
        if self._fidelity is not None:
            text += self._fidelity.push(self._tail.finish()) + self._fidelity.finish()
        return self._shown(self._diff.push(text)) + self._shown(self._diff.finish())

    def _own(self, text: str) -> str:
        """The reply's text as the document's own, behind what of the document stays above it."""
        if not text:
            return ""
        if self._fidelity is not None:
            return self._fidelity.push(self._tail.push(text))
        above = self._head.above
        below = self.screen.removeprefix(above)
        style = indent_style(self._document)
        self._fidelity = Fidelity(self._document.newline, below, self._scope.indent, style)
        return above + self._own(text)

    def _shown(self, edits: list[Edit]) -> list[Edit]:
        self.screen = apply(self.screen, edits)
        return edits


class HunkRewriter:
    """The reply is a list of search/replace blocks; each is applied as soon as it is complete."""

    def __init__(self, screen: str, document: Document, *, cursor: int | None = None) -> None:
        """`cursor` is the user's place in `screen`: of several places the one there is meant."""
        self.screen = screen
        self._parser = HunkParser(marker_width(screen))
        self._newline = document.newline
        self._cursor = cursor
        self._found = 0

    def push(self, text: str) -> list[Edit]:
        return self._apply(self._parser.push(text))

    def finish(self) -> list[Edit]:
        edits = self._apply(self._parser.finish())
        if self._parser.unfinished:
            raise EditRefused(texts.CODE_BROKE_OFF, restores=True)
        if not self._found:
            raise EditRefused(texts.NO_PLACE)
        return edits

    def _apply(self, hunks: list[Hunk]) -> list[Edit]:
        edits: list[Edit] = []
        for hunk in hunks:
            self._found += 1
            found = locate(self.screen, hunk, self._cursor, newline=self._newline)
            if isinstance(found, Refusal):
                raise EditRefused(texts.TAKEN_BACK.format(sentence=found.sentence), restores=True)
            for edit in smallest(self.screen, found):
                edits.append(edit)
                self.screen = apply(self.screen, [edit])
                self._cursor = self._cursor and moved(self._cursor, edit)
        return edits


def smallest(text: str, edit: Edit) -> list[Edit]:
    """An edit as the small ones that it consists of."""
    diff = StreamingDiff(text[edit.start : edit.end])
    return [
        replace(each, start=each.start + edit.start, end=each.end + edit.start)
        for each in (*diff.push(edit.text), *diff.finish())
    ]
