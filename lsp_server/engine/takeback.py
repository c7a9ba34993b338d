"""Edits of our own that belong to no running generation: reverting one, repairing a misplaced patch."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from lsp_server.core.edits import Edit, apply, replacement
from lsp_server.core.revert import revert
from lsp_server.engine.edits import reverted
from lsp_server.engine.errors import EditRefused
from lsp_server.engine.generation import (
    CONFIRM_PATIENCE,
    MAXIMUM_REFUSALS,
    REFUSAL_PATIENCE,
    Generation,
)
from lsp_server.engine.pace import safe_parts
from lsp_server.engine.patches import Landing, Misplaced, Region
from lsp_server.engine.ports import Editor, Result
from lsp_server.engine.rewrite import smallest
from lsp_server.engine.workspace import Workspace
from lsp_server.texts import edits as texts

REVERT, TAKE_BACK = "Midstream: revert", "Midstream: take back"
MAXIMUM_UNEXPLAINED = 3


async def take_edit_back(generation: Generation, workspace: Workspace, editor: Editor) -> Result:
    """Put the text before an edit back, except lines that the user changed since.

    Raises EditRefused when the document is gone, or the client does not take the change.
    """
    uri = generation.job.uri
    await generation.gone()
    ended = await asyncio.shield(generation.result)
    if not await workspace.settled(uri, CONFIRM_PATIENCE):
        raise EditRefused(texts.REVERT_LATER)
    document = workspace.get(uri)
    if document is None or not workspace.follows(uri, generation.region):
        raise EditRefused(texts.NOTHING_TO_REVERT)
    region = generation.region
    current = document.slice(region.span.start, region.span.end)
    back = revert(generation.job.original, region.produced, current)
    edit = replacement(current, back.text)
    if edit is not None:
        # Where the user typed, the lines that stay are left out, so that no key in them is written again.
        steps = [edit] if current == region.produced else smallest(current, edit)
        await write_all(uri, region, steps, workspace, editor)
    message = None
    if back.kept:
        lines = "1 line" if back.kept == 1 else texts.LINES_KEPT.format(kept=back.kept)
        message = texts.REVERTED_EXCEPT.format(lines=lines)
    return reverted(ended, edit, message)


async def take_patch_back(
    uri: str, region: Region, misplaced: Misplaced, workspace: Workspace, editor: Editor
) -> None:
    """Undo a misplaced patch, which now is `region`, with exactly one inverse edit, and say so.

    What the user typed into it since stays; when the user has taken it back, nothing is left to do.
    """
    told = texts.UNDO_TAKES_IT

    def inverse(current: str) -> Edit | None:
        if current == misplaced.undo.text:
            return None
        typed = replacement(misplaced.text, current)
        return Edit(0, len(current), misplaced.undo.text + (typed.text if typed else ""))

    landing = await land(uri, region, inverse, TAKE_BACK, workspace, editor)
    if landing is Landing.LANDED:
        told = texts.YOUR_TEXT_STAYS
    workspace.release(uri, region)
    editor.show("warning", texts.MET_YOUR_KEY.format(told=told))


async def write_all(
    uri: str, region: Region, edits: Sequence[Edit], workspace: Workspace, editor: Editor
) -> None:
    """Send edits of a region one after the other. Raises EditRefused when one is not taken."""
    document = workspace.get(uri)
    screen = document.slice(region.span.start, region.span.end) if document else ""
    first = True
    for edit in edits:
        for part in [edit] if editor.groups_undo else safe_parts(edit, screen):
            step = partial(unless_typed, screen, part)
            if await land(uri, region, step, REVERT, workspace, editor, first=first) is not Landing.LANDED:
                raise EditRefused(texts.REVERT_REFUSED)
            screen, first = apply(screen, [part]), False


def unless_typed(expected: str, edit: Edit, current: str) -> Edit:
    """An edit of a region that reads as expected. Raises EditRefused when it reads otherwise."""
    if current != expected:
        raise EditRefused(texts.TYPED_MEANWHILE)
    return edit


async def land(
    uri: str,
    region: Region,
    edit_of: Callable[[str], Edit | None],
    label: str,
    workspace: Workspace,
    editor: Editor,
    *,
    first: bool = True,
) -> Landing | None:
    """Send the edit of a region's text, and again as often as typing overtakes it.

    A client that refuses although nobody typed is asked again a few times. What became of the edit; None
    when nothing was sent, or no report came.
    """
    unexplained = 0
    for _ in range(MAXIMUM_REFUSALS):
        settled = await workspace.settled(uri, CONFIRM_PATIENCE)
        document = workspace.get(uri)
        if not settled or document is None or not workspace.follows(uri, region):
            return None
        start, end = region.span.start, region.span.end
        edit = edit_of(document.slice(start, end))
        if edit is None:
            return None
        outstanding = workspace.send(
            uri,
            Edit(start + edit.start, start + edit.end, edit.text),
            label,
            blind=not editor.checks_version(document.version),
            send=lambda patch: editor.apply(patch, generation=label, first=first, label=label),
        )
        await asyncio.wait([outstanding.landing], timeout=CONFIRM_PATIENCE)
        landing = outstanding.landing.result() if outstanding.landing.done() else None
        if landing not in (Landing.LOST, Landing.REFUSED):
            return landing
        if not await workspace.changed(uri, document.version, REFUSAL_PATIENCE):
            unexplained += 1
        if unexplained == MAXIMUM_UNEXPLAINED:
            return landing
    return None
