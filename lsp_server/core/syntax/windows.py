"""Which lines to look at: pieces of a document that begin and end between top-level definitions."""

import re

from lsp_server.core.document import Document
from lsp_server.core.text import Span

# What stands in the first column without starting anything: closers, openers that belong to the line
# above, preprocessor lines, labels, and the words that go on with a statement.
_CONTINUES = re.compile(
    r"[)}\]{]|#\s*(?:if|el|endif|define|undef|pragma|line)|\w+:\s*$"
    r"|(?:else|elif|elsif|elseif|except|finally|catch|rescue|ensure|end\w*|fi|done|esac|then|do|begin)\b"
)


def starts_block(previous: str, line: str) -> bool:
    """True where a top-level definition, or the comment above it, may begin.

    That is a line in the first column that does not go on with the line above. An indented or blank
    `previous`, or one that only closes something, ends what came before it.
    """
    if not line.strip() or line[0].isspace() or _CONTINUES.match(line):
        return False
    return not previous.strip() or previous[0].isspace() or previous[0] in ")}]" or previous.startswith("end")


def window(document: Document, around: Span, reach: int, limit: int) -> Span | None:
    """The span of whole lines around a place, cut where blocks start.

    It takes `reach` lines on both sides and cuts them back to the outermost start in reach; where there
    is none it grows up to the next start. None when that takes more than `limit` lines.
    """
    top, bottom = document.line_at(around.start), document.line_at(around.end)
    first = _first(document, top, reach, limit)
    end = _end(document, bottom, reach, limit)
    if first is None or end is None or end - first > limit:
        return None
    stop = document.length if end >= document.line_count else document.line_start(end)
    return Span(document.line_start(first), stop)


def _first(document: Document, top: int, reach: int, limit: int) -> int | None:
    found = None
    for number in range(top, max(-1, top - limit - 1), -1):
        if number < top - reach and found is not None:
            return found
        if number == 0:
            return 0
        if starts_block(document.line(number - 1), document.line(number)):
            found = number
    return found


def _end(document: Document, bottom: int, reach: int, limit: int) -> int | None:
    found = None
    for number in range(bottom + 1, bottom + limit + 2):
        if number > bottom + reach and found is not None:
            return found
        if number >= document.line_count:
            return document.line_count
        if starts_block(document.line(number - 1), document.line(number)):
            found = number
    return found
