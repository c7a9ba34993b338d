"""A candidate in which the model ran in a loop."""

from lsp_server.core.completion.context import Context
from lsp_server.core.reply.runaway import Runaway


def without_repeats(candidate: str, context: Context) -> str:
    """The candidate up to the first of the lines, or blocks, that came 5 times in a row."""
    loop = Runaway()
    # The last line of a candidate may lack its end and still be the fifth.
    return candidate[: loop.keep].rstrip("\n") if loop.push(candidate + "\n") else candidate
