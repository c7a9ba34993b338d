"""The line that a model repeats before it goes on."""

from lsp_server.core.completion.context import Context

LEAST = 4


def without_echo(candidate: str, context: Context) -> str:
    """The candidate after the text of the cursor's line, where it starts with all of it.

    Fewer than 4 characters prove nothing: `ha` may well go on as `haha`.
    """
    line = context.before_line.strip()
    bare = candidate.lstrip(" \t")
    if len(line) < LEAST or not bare.startswith(line):
        return candidate
    return bare[len(line) :]
