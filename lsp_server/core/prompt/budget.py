"""What a text costs, estimated without a tokenizer, and windows of a document that fit a budget.

Windows are cut at lines. Providers and the local host keep what they computed for the beginning of a
prompt, so the window before the cursor must start at the same line while the user types: it moves in
large steps, and prefers a line at which a block of code starts.
"""

from lsp_server.core.document import Document

# Tokenizers work on UTF-8, and code has 3 to 4 bytes a token in the common ones.
BYTES_PER_TOKEN = 3


def tokens(text: str) -> int:
    """At least about as many tokens as `text` has in the common vocabularies."""
    return -(-_size(text) // BYTES_PER_TOKEN)


def head(text: str, budget: int) -> str:
    """The longest start of `text` that costs at most `budget` tokens."""
    limit = max(0, budget) * BYTES_PER_TOKEN
    data = _encoded(text[:limit])
    if len(data) <= limit:
        return text[:limit]
    while limit and data[limit] & 0xC0 == 0x80:
        limit -= 1
    return data[:limit].decode("utf-8", "surrogatepass")


def window_start(document: Document, cursor: int, budget: int) -> int:
    """Where the text before `cursor` starts in a prompt: `[start, cursor)` costs at most `budget` tokens."""
    line = document.line_at(cursor)
    line_start = document.line_start(line)
    limit = max(0, budget) * BYTES_PER_TOKEN
    # The line being typed is charged in steps, the first in advance, or keys would push the start around.
    step = max(1, limit // 8)
    typed = _size(document.slice(max(line_start, cursor - limit - 1), cursor))
    room = limit - max(1, -(-typed // step)) * step
    if room < 0:
        return line_start if typed <= limit else _start_inside(document, line_start, cursor, limit)
    first = line
    for text in document.lines_above(line):
        room -= _size(text)
        if room < 0:
            break
        first -= 1
    return document.line_start(first and _anchor_from(document, first, line, max(2, limit * 2 // 5)))


def window_end(document: Document, cursor: int, budget: int) -> int:
    """Where the text after `cursor` ends in a prompt: `[cursor, end)` costs at most `budget` tokens."""
    line = document.line_at(cursor)
    limit = max(0, budget) * BYTES_PER_TOKEN
    rest = document.slice(
        cursor, min(document.line_start(line) + len(document.line(line)), cursor + limit + 1)
    )
    used = _size(rest)
    if used > limit:
        return cursor + len(head(rest, budget))
    end = cursor + len(rest)
    for text in document.lines(line + 1):
        used += _size(text)
        if used > limit:
            break
        end += len(text)
    return end


def _anchor_from(document: Document, first: int, last: int, cell: int) -> int:
    """The first good line from `first` on that stays good while text is typed below it.

    The document is divided into cells of `cell` characters. Each has one anchor: the line in its first half
    that best starts a block, or the first of the best. The window jumps from anchor to anchor.
    """
    for start in range(document.line_start(first) // cell * cell, document.line_start(last) + 1, cell):
        number = document.line_at(start)
        number += document.line_start(number) < start
        candidates = list[int]()
        while number <= last and document.line_start(number) < start + cell // 2:
            candidates.append(number)
            number += 1
        anchor = max(candidates, key=lambda candidate: _rank(document, candidate), default=-1)
        if anchor >= first:
            return anchor
    return first


def _rank(document: Document, number: int) -> int:
    """How well a window starts at a line: best at column 0 after a blank line."""
    text = document.line(number)
    bare = text.strip()
    if not bare or bare[0] in ")]}":
        return -1
    return 2 * (not text[0].isspace()) + (number == 0 or not document.line(number - 1).strip())


def _start_inside(document: Document, line_start: int, cursor: int, limit: int) -> int:
    """A start inside a line too long for the budget, on a grid so that it moves in steps."""
    grid = max(1, limit // 6)
    place = line_start + max(0, cursor - limit - line_start) // grid * grid
    while _size(document.slice(place, cursor)) > limit:
        place += grid
    return min(place, cursor)


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(_encoded(text))


def _encoded(text: str) -> bytes:
    # A client can send half a surrogate pair, and nothing here may fail on what it sends.
    return text.encode("utf-8", "surrogatepass")
