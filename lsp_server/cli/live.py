"""Draws a document that changes, in place, on a terminal."""

import shutil
from typing import TextIO

from lsp_server.core.document import Document
from lsp_server.core.text import split_lines

DIM, GREEN, PLAIN = "\x1b[2m", "\x1b[32m", "\x1b[0m"
CONTEXT = 3


class LiveView:
    """Shows the lines that changed last, with some around them. Draws nothing where there is no terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._on = stream.isatty()
        self._before: list[str] | None = None
        self._drawn = 0

    def draw(self, document: Document) -> None:
        """Show the document as it is now."""
        if not self._on:
            return
        lines = split_lines(document.text)
        if self._before is None:
            self._before = lines
        width, height = shutil.get_terminal_size()
        last = last_difference(self._before, lines)
        first = max(0, last + CONTEXT - min(20, height - 4))
        shown = [
            render(line, number + 1, width, changed=line not in self._before)
            for number, line in enumerate(lines[first : last + CONTEXT + 1], first)
        ]
        self._erase()
        self._stream.write("\n".join(shown) + "\n")
        self._stream.flush()
        self._drawn = len(shown)
        self._before = lines

    def close(self) -> None:
        """Take the picture away; what the command prints follows."""
        if self._on:
            self._erase()
            self._stream.flush()

    def _erase(self) -> None:
        if self._drawn:
            self._stream.write(f"\x1b[{self._drawn}F\x1b[J")
            self._drawn = 0


def last_difference(before: list[str], after: list[str]) -> int:
    """The last line of `after` that is not simply the tail of `before`."""
    same = 0
    while same < min(len(before), len(after)) and before[-1 - same] == after[-1 - same]:
        same += 1
    return max(0, len(after) - same - 1)


def render(line: str, number: int, width: int, *, changed: bool) -> str:
    """One line, cut to the terminal, new text in green."""
    text = line.rstrip("\r\n").expandtabs(4)[: max(10, width - 8)]
    return f"{DIM}{number:5d} {PLAIN}{GREEN if changed else ''}{text}{PLAIN}"
