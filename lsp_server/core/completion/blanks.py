"""Blanks that nobody sees."""

from lsp_server.core.completion.context import Context


def without_idle_blanks(candidate: str, context: Context) -> str:
    """Blank lines without trailing blanks, nothing idle at the end, and nothing at all if all is blank."""
    if not candidate.strip():
        return ""
    first, *rest = candidate.split("\n")
    lines = [first, *(line if line.strip() else "" for line in rest[:-1]), *rest[-1:]]
    text = "\n".join(lines)
    # What follows on the line stands where the candidate puts it: there its last blanks count.
    return text if context.after_line.strip() else text.rstrip()
