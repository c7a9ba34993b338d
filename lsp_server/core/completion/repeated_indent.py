"""The indentation that the cursor's line has already."""

from lsp_server.core.completion.context import Context
from lsp_server.core.completion.indentation import indentation


def without_repeated_indent(candidate: str, context: Context) -> str:
    """On a line that is blank so far: the candidate without the blanks that stand before the cursor.

    Where the model indented its first line less than the line is, the lines below move with it. If it did
    not see the blanks, it has left the block, which no insertion at the cursor can show: nothing is left.
    """
    if context.before_line.strip():
        return candidate
    lines = candidate.split("\n")
    while len(lines) > 1 and not lines[0].strip():
        del lines[0]
    own, there = indentation(lines[0]), context.before_line
    if own.startswith(there):
        return "\n".join([lines[0][len(there) :], *lines[1:]])
    if context.stripped:
        return ""
    # Without any indentation the model goes on at the cursor, and the lines below are absolute.
    missing = there.removesuffix(own) if own and there.endswith(own) else ""
    below = [missing + line if line.strip() else line for line in lines[1:]]
    return "\n".join([lines[0][len(own) :], *below])
