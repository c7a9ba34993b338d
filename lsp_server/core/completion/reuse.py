"""Typing along a suggestion: what is left of it."""

from lsp_server.core.completion.closers import within_closers
from lsp_server.core.completion.context import context_at
from lsp_server.core.document import Document


def remainder(suggestion: str, at: int, document: Document, cursor: int) -> str | None:
    """What is left of a suggestion that began at offset `at`, or None when something else was typed.

    `suggestion` is its text as far as it has come. The result is empty when the user has typed all of it,
    or is ahead of it, or only blanks are left. Closers that the editor has put after the cursor meanwhile
    are not offered again.
    """
    if cursor < at:
        return None
    typed = document.slice(at, cursor)
    if "\r" not in suggestion:
        typed = typed.replace("\r\n", "\n")
    if not suggestion.startswith(typed):
        return "" if typed.startswith(suggestion) else None
    rest = suggestion[len(typed) :]
    if typed:
        rest = within_closers(rest, context_at(document, cursor))
    return rest if rest.strip() else ""
