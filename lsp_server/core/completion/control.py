"""Control tokens that came through as text."""

from lsp_server.core.completion.context import Context
from lsp_server.core.reply.markers import CONTROL_TOKENS


def without_control_tokens(candidate: str, context: Context) -> str:
    """The candidate up to its first control token; those of the code around are code."""
    around = "\n".join([context.before_line, context.after_line, context.previous, *context.following])
    places = [candidate.find(token) for token in CONTROL_TOKENS if token not in around]
    return candidate[: min((place for place in places if place >= 0), default=None)]
