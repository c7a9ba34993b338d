"""A model's reply while it streams: what of it is code, and what it tells about the model.

Everything here is a push machine whose output does not depend on how the reply was cut into pieces.
"""

import re
from typing import Literal

from lsp_server.core.reply.fence import Fence
from lsp_server.core.reply.markers import CONTROL_TOKENS, ControlTokens, Reasoning, Sentinel
from lsp_server.core.reply.placeholder import placeholder_in, stands_for_code
from lsp_server.core.reply.runaway import Runaway
from lsp_server.core.reply.surrogates import Surrogates
from lsp_server.core.text import split_lines

__all__ = ["CONTROL_TOKENS", "ReplyFilter", "Runaway", "placeholder_in"]


class ReplyFilter:
    """Gives the code of a reply: `push` each delta, then `finish`.

    A "completion" comes out character by character; a "scope" comes out in whole lines, so that a line
    can be refused before it is shown; "hunks" keep their blocks, which `HunkParser` takes apart.
    `original` is the code that the model was shown: its own control tokens, fences, comments and repeats
    are code. `sentinel` is the text by which a model says that nothing is to be done.
    """

    def __init__(
        self, kind: Literal["completion", "scope", "hunks"], original: str = "", *, sentinel: str = ""
    ) -> None:
        self._control = ControlTokens(original)
        self._sentinel = Sentinel(sentinel)
        self._fence = Fence("keep" if kind == "completion" else "drop", original)
        self._loop = _Loop(original)
        self._lines = _Lines(original)
        first = Surrogates(), Reasoning(original), self._control, self._sentinel
        code = {
            "completion": (self._fence, self._loop),
            "scope": (self._fence, self._loop, self._lines),
            "hunks": (self._loop,),
        }[kind]
        self._stages = (*first, *code)
        self._blank = True

    def push(self, text: str) -> str:
        """The code that `text` makes certain."""
        for stage in self._stages:
            text = stage.push(text)
        return self._seen(text)

    def finish(self) -> str:
        """The code that was held back; call it once, when the stream has ended well."""
        text = ""
        for stage in self._stages:
            text = (stage.push(text) if text else "") + stage.finish()
        return self._seen(text)

    @property
    def ended(self) -> bool:
        """True when no text that follows can matter: the model may be stopped."""
        return self._control.ended or self._fence.ended or self.runaway or self.placeholder is not None

    @property
    def empty(self) -> bool:
        """True as long as no code came, blanks aside; after `finish`: the reply is no edit."""
        return self._blank

    @property
    def deletes(self) -> bool:
        """True for a block that was opened and closed with nothing in it: the code is to be deleted."""
        return self._blank and self._fence.fenced and self._fence.closed

    @property
    def closed(self) -> bool:
        """False after `finish` when the reply broke off inside its fence."""
        return self._fence.closed or not self._fence.fenced or self._control.ended

    @property
    def no_edit(self) -> bool:
        """True when the reply was the sentinel."""
        return self._sentinel.found

    @property
    def dropped(self) -> str:
        """What came outside the fence, blanks aside."""
        return self._fence.dropped.strip()

    @property
    def placeholder(self) -> str | None:
        """The line that stands for code left out; nothing from it on came out."""
        return self._lines.placeholder

    @property
    def runaway(self) -> bool:
        """True when the model repeated itself; nothing after the fifth time came out."""
        return self._loop.runaway.found

    def _seen(self, text: str) -> str:
        self._blank = self._blank and not text.strip()
        return text


class _Loop:
    """Ends the text at the line by which a loop is noticed."""

    def __init__(self, original: str) -> None:
        self.runaway = Runaway(original)

    def push(self, text: str) -> str:
        given = ""
        for piece in re.findall(r"[^\n]*\n|[^\n]+", text):
            if self.runaway.found:
                break
            given += piece
            self.runaway.push(piece)
        return given

    def finish(self) -> str:
        return ""


class _Lines:
    """Holds lines until they are complete, and ends the text at one that stands for code left out."""

    def __init__(self, original: str) -> None:
        self._known = {line.strip() for line in split_lines(original)}
        self._line = ""
        self._above = ""
        self.placeholder: str | None = None

    def push(self, text: str) -> str:
        *complete, self._line = (self._line + text).split("\n")
        return "".join([self._passed(line + "\n") for line in complete])

    def finish(self) -> str:
        line, self._line = self._line, ""
        return self._passed(line)

    def _passed(self, line: str) -> str:
        bare = line.strip()
        if self.placeholder is None and bare not in self._known and stands_for_code(line, self._above):
            self.placeholder = bare
        if self.placeholder is not None:
            return ""
        self._above = line if bare else self._above
        return line
