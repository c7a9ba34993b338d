"""A reply without the line that a definition begins with is never written over the definition.

A model that was asked for a function sometimes answers with its new body alone. Nothing says for sure how
the two go together, so such a reply is refused. A reply that renames or reshapes the definition passes.
"""

import re
from difflib import SequenceMatcher

from lsp_server.core.text import split_lines
from lsp_server.engine.errors import EditRefused
from lsp_server.engine.heads import Comments, is_decorator
from lsp_server.texts import edits as texts

SIMILAR = 0.7
"""From this ratio of `difflib` on, a line is taken for a changed header: a new name, a new type."""

DEFINING = frozenset(
    {"abstract", "async", "class", "def", "enum", "export", "extern", "fn", "func", "function", "impl"}
    | {"inline", "interface", "module", "namespace", "override", "private", "procedure", "program"}
    | {"protected", "pub", "public", "static", "struct", "sub", "subroutine", "template", "trait", "virtual"}
)
"""Words that begin a definition and no other line of code."""


class Header:
    """Lets a reply pass once its first line of code can be the header of the scope.

    Where the scope, as it reads now, does not begin with its own name, everything passes.
    """

    def __init__(self, screen: str, name: str | None, comments: Comments) -> None:
        self._comments = comments
        self._shown = name or ""
        self._name = next(reversed(re.findall(r"\w+", self._shown)), "").lower()
        self._own = _code(split_lines(screen), comments) or ""
        self._passed = not self._name or self._name not in self._own.lower()
        self._text = ""

    def push(self, text: str) -> str:
        if self._passed:
            return text
        self._text += text
        *lines, _ = split_lines(self._text)
        return self._judge(_code(lines, self._comments))

    def finish(self) -> str:
        """What was held back. Raises EditRefused when the reply has no header."""
        if self._passed:
            return ""
        if not self._text.strip():
            return self._text
        return self._judge(_code(split_lines(self._text), self._comments) or "")

    def _judge(self, line: str | None) -> str:
        if line is None:
            return ""
        if not self._fits(line):
            raise EditRefused(texts.NO_HEADER.format(name=self._shown))
        self._passed = True
        return self._text

    def _fits(self, line: str) -> bool:
        words = [word.lower() for word in re.findall(r"\w+", line)]
        if words[:1] and words[0] in DEFINING:
            return True
        if self._name in words and DEFINING.intersection(words[:3]):
            return True
        if re.search(rf"\b{re.escape(self._name)}\s*[:=]", line, re.IGNORECASE):
            return True
        return SequenceMatcher(None, self._own, line, autojunk=False).ratio() >= SIMILAR


def _code(lines: list[str], comments: Comments) -> str | None:
    """The first line of code, stripped, decorators apart; None when there is none yet."""
    while (row := comments.below(lines)) is not None:
        if not is_decorator(lines[row]):
            return lines[row].strip()
        lines = lines[row + 1 :]
    return None
