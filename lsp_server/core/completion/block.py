"""One line or a block: what to ask for, and where a candidate leaves it."""

from lsp_server.core.completion.brackets import CLOSERS
from lsp_server.core.completion.context import Context
from lsp_server.core.completion.indentation import columns

_OPENERS = ("(", "[", "{", ":", "=>", "->")
_OPENING_WORDS = frozenset({"do", "then", "else", "begin", "repeat", "try"})
_CONTINUING_WORDS = frozenset({"else", "elif", "elsif", "except", "finally", "catch", "rescue", "ensure"})


def wants_block(context: Context) -> bool:
    """True after an opener at the end of a line, and on a blank line in a body or at the start of a file."""
    if context.after_line.strip(" \t;," + "".join(CLOSERS)):
        return False
    if context.before_line.strip():
        return opens_block(context.before_line)
    in_body = context.before_line != "" or context.previous == "" or opens_block(context.previous)
    return in_body and not context.after_line.strip()


def opens_block(line: str) -> bool:
    """True for a line after which its block is expected."""
    line = line.rstrip()
    return line.endswith(_OPENERS) or (line != "" and line.split()[-1] in _OPENING_WORDS)


def within_block(candidate: str, context: Context) -> str:
    """The first line, or where a block is wanted the lines that belong to it."""
    lines = candidate.split("\n")
    return "\n".join(lines[: block_end(lines, context) if wants_block(context) else 1])


def block_end(lines: list[str], context: Context) -> int:
    """How many of the candidate's lines belong to the block at the cursor.

    After an opener that is what is indented deeper, on a blank line what is indented as deep, and the lines
    that continue or close it.
    """
    base = columns(context.before_line)
    opened = context.before_line.strip() != "" and opens_block(context.before_line + lines[0])
    closed = False
    for index, line in enumerate(lines[1:], 1):
        bare = line.strip()
        if not bare or (columns(line) >= base + opened and not closed):
            continue
        if bare[0] in CLOSERS or bare == "end":
            closed = not opens_block(bare)
        elif closed or columns(line) != base or bare.split()[0].rstrip(":{(") not in _CONTINUING_WORDS:
            return index
    return len(lines)
