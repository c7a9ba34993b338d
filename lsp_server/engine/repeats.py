"""What a model only repeats: the instruction in front of the code, the file behind it."""

import re
from itertools import islice

from lsp_server.core.document import Document
from lsp_server.core.syntax.scope import Scope
from lsp_server.core.text import complete_lines, split_lines

READ_LINES = 5000
"""So many lines around a scope are known by heart; more would be felt in a huge file."""


class Echo:
    """Drops first lines that only say the instruction again."""

    def __init__(self, instruction: str) -> None:
        self._instruction = _words(instruction)
        self._text = ""
        self._decided = not self._instruction

    def push(self, text: str) -> str:
        if self._decided:
            return text
        self._text += text
        lines, rest = complete_lines(self._text)
        for number, line in enumerate(lines):
            if line.strip() and _words(line) != self._instruction:
                self._decided = True
                return "".join([*lines[number:], rest])
        return ""

    def finish(self) -> str:
        """The rest; an echo without a line end is nothing but an echo too."""
        return "" if self._decided or _words(self._text) == self._instruction else self._text


class Tail:
    """Drops code at the end of the reply that only repeats what follows the scope."""

    def __init__(self, screen: str, document: Document, scope: Scope) -> None:
        number = document.line_at(scope.span.end) + 1
        # Read as far as it is asked for: nearly always to the first of them.
        self._rest = (text for line in document.lines(number, number + READ_LINES) if (text := line.strip()))
        self._following: list[str] = []
        own = {line.strip() for line in split_lines(screen)}
        first = "".join(self._follow(1))
        self._starts = first if re.search(r"\w{3}|\w\W*\w", first) and first not in own else None
        self._line = ""
        self._held = ""

    def push(self, text: str) -> str:
        if self._starts is None:
            return text
        lines, self._line = complete_lines(self._line + text)
        return "".join(self._passed(line) for line in lines)

    def finish(self) -> str:
        text = self._passed(self._line)
        held, self._held = self._held, ""
        repeated = [line.strip() for line in split_lines(held) if line.strip()]
        return text + ("" if repeated == self._follow(len(repeated)) else held)

    def _passed(self, line: str) -> str:
        if not self._held:
            if line.strip() != self._starts or not line:
                return line
            self._held = line
            return ""
        self._held += line
        repeated = [line.strip() for line in split_lines(self._held) if line.strip()]
        # The last line may have been cut off where the model was stopped.
        if repeated[:-1] == self._follow(len(repeated) - 1):
            return ""
        held, self._held = self._held, ""
        self._starts = ""
        return held

    def _follow(self, count: int) -> list[str]:
        """The first lines with text that follow the scope."""
        self._following += islice(self._rest, max(0, count - len(self._following)))
        return self._following[:count]


def _words(text: str) -> str:
    """What a line says, comment signs and a label like "Instruction:" aside."""
    bare = re.sub(r"^\W*(?:instruction|task)\s*:\s*", "", text, flags=re.IGNORECASE)
    return " ".join(re.findall(r"\w+", bare.lower()))
