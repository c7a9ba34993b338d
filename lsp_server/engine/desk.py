"""What the completer holds for one document."""

from collections import deque
from dataclasses import dataclass, field

from lsp_server.core.document import Document
from lsp_server.core.edits import Edit
from lsp_server.core.prompt import Fill, Prompt
from lsp_server.engine.suggestion import Suggestion, Waiter
from lsp_server.engine.workspace import Changed

REMEMBERED = 8
"""Finished suggestions kept per document, for typing back and forth."""


@dataclass(slots=True)
class Desk:
    """What the completer holds for one document."""

    live: Suggestion | None = None
    recent: deque[Suggestion] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    waiting: list[Waiter] = field(default_factory=list)


def is_empty(prompt: Prompt) -> bool:
    """True where there is nothing to continue and nothing to fill in: hosts refuse that."""
    return isinstance(prompt, Fill) and not (prompt.prefix.strip() or prompt.suffix.strip())


def dismiss(desk: Desk) -> None:
    """Answer every open request with nothing: a newer request or a change supersedes it."""
    for waiter in desk.waiting:
        waiter.resolve([])
    desk.waiting.clear()


def recall(desk: Desk, document: Document, cursor: int) -> tuple[Suggestion, tuple[str, int]] | None:
    """A finished suggestion that still fits, with what is left of it; the newest wins."""
    for suggestion in reversed(desk.recent):
        rest = suggestion.rest(document, cursor)
        if rest is not None and rest[0]:
            return suggestion, rest
    return None


def typed_along(suggestion: Suggestion, changed: Changed) -> bool:
    """True when one insertion at the end of what was typed so far spells out the next characters."""
    if len(changed.typing) != 1:
        return False
    edit: Edit = changed.typing[0]
    if edit.start < suggestion.at:
        return False
    return suggestion.follows(changed.after, edit.start + len(edit.text)) or suggestion.follows(
        changed.after, edit.start + max(1, len(edit.text) - 1)
    )
