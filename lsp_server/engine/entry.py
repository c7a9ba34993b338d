"""What the workspace keeps of one open document."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from lsp_server.core.document import Document
from lsp_server.core.syntax.languages import language_of
from lsp_server.core.syntax.tree import SyntaxTree
from lsp_server.engine.patches import Outstanding, Region


@dataclass(slots=True)
class Entry:
    """One open document.

    `suspect` is a patch that can still land although it was settled: one that counts as lost but was not
    refused, because a client may compare versions too late; one that a blind client seems to have
    reported but did not answer yet, because the user may have done by himself what it does; or one that
    was under way when the document was closed and opened again.
    """

    document: Document
    tree: SyntaxTree | None
    outstanding: Outstanding | None = None
    suspect: Outstanding | None = None
    reply: asyncio.Task[None] | None = None
    regions: list[Region] = field(default_factory=list)
    next_change: asyncio.Future[None] | None = None


def tree_for(language_id: str) -> SyntaxTree | None:
    """An empty tree, where the language is known."""
    language = language_of(language_id)
    return None if language is None else SyntaxTree(language)


def under_way(entry: Entry) -> list[asyncio.Future[Any]]:
    """What must happen before the next patch may go."""
    waiting: list[asyncio.Future[Any]] = []
    if entry.outstanding is not None:
        waiting.append(entry.outstanding.landing)
    if entry.reply is not None and not entry.reply.done():
        waiting.append(entry.reply)
    return waiting


def wake(entry: Entry) -> None:
    """Let go whoever waits for the next change of a document."""
    if entry.next_change is not None and not entry.next_change.done():
        entry.next_change.set_result(None)
    entry.next_change = None
