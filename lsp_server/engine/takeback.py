"""Edits of our own that belong to no running generation: reverting one, repairing a misplaced patch."""

import asyncio
from collections.abc import Sequence

from lsp_server.core.edits import Edit, apply, replacement
from lsp_server.core.revert import revert
from lsp_server.engine.edits import reverted
from lsp_server.engine.errors import EditRefused
from lsp_server.engine.generation import CONFIRM_PATIENCE, Generation
from lsp_server.engine.pace import safe_parts
from lsp_server.engine.patches import Landing, Misplaced, Region
from lsp_server.engine.ports import Editor, Result
from lsp_server.engine.rewrite import smallest
from lsp_server.engine.workspace import Workspace

REVERT, TAKE_BACK = "Midstream: revert", "Midstream: take back"


async def take_edit_back(generation: Generation, workspace: Workspace, editor: Editor) -> Result:
    """Put the text before an edit back, except lines that the user changed since.

    Raises EditRefused when the document is gone, or the client does not take the change.
    """
    uri = generation.job.uri
    await generation.gone()
    ended = await asyncio.shield(generation.result)
    if not await workspace.settled(uri, CONFIRM_PATIENCE):
        raise EditRefused("The editor has not reported the edit yet; try to revert again in a moment.")
    document = workspace.get(uri)
    if document is None or not workspace.follows(uri, generation.region):
        raise EditRefused("There is nothing to revert here any more.")
    region = generation.region
    current = document.slice(region.span.start, region.span.end)
    back = revert(generation.job.original, region.produced, current)
    edit = replacement(current, back.text)
    if edit is not None:
        # The lines that stay are left out, so that no key in them is written again.
        steps = smallest(current, edit) if back.kept else [edit]
        await write_all(uri, region, steps, workspace, editor)
    message = None
    if back.kept:
        lines = "1 line" if back.kept == 1 else f"{back.kept} lines"
        message = f"Reverted, except {lines} that you changed since."
    return reverted(ended, edit, message)


async def take_patch_back(
    uri: str, region: Region, misplaced: Misplaced, workspace: Workspace, editor: Editor
) -> None:
    """Undo a misplaced patch, which now is `region`, with exactly one inverse edit, and say so.

    What the user typed into it since stays; when the user has taken it back, nothing is left to do.
    """
    told = "undo takes it back"
    if await workspace.settled(uri, CONFIRM_PATIENCE) and (document := workspace.get(uri)) is not None:
        current = document.slice(region.span.start, region.span.end)
        typed = replacement(misplaced.text, current)
        text = misplaced.undo.text + (typed.text if typed else "")
        if current == misplaced.undo.text:
            told = "you took it back"
        elif await write(uri, Edit(region.span.start, region.span.end, text), TAKE_BACK, workspace, editor):
            told = "it was taken back, your text stays"
    workspace.release(uri, region)
    editor.show("warning", f"An edit met a key that you typed at the same moment; {told}.")


async def write_all(
    uri: str, region: Region, edits: Sequence[Edit], workspace: Workspace, editor: Editor
) -> None:
    """Send edits of a region one after the other. Raises EditRefused when one is not taken."""
    document = workspace.get(uri)
    screen = document.slice(region.span.start, region.span.end) if document else ""
    first = True
    for edit in edits:
        for part in [edit] if editor.groups_undo else safe_parts(edit, screen):
            settled = await workspace.settled(uri, CONFIRM_PATIENCE)
            document = workspace.get(uri) if settled and workspace.follows(uri, region) else None
            if document is None or document.slice(region.span.start, region.span.end) != screen:
                raise EditRefused("You typed while the edit was reverted; undo takes back the rest of it.")
            start = region.span.start
            absolute = Edit(start + part.start, start + part.end, part.text)
            if not await write(uri, absolute, REVERT, workspace, editor, first=first):
                raise EditRefused("The editor refused the revert; its own undo takes the edit back.")
            screen, first = apply(screen, [part]), False


async def write(
    uri: str, edit: Edit, label: str, workspace: Workspace, editor: Editor, *, first: bool = True
) -> bool:
    """Send one edit while nothing is under way; True when the client reported it."""
    document = workspace.get(uri)
    if document is None:
        return False
    outstanding = workspace.send(
        uri,
        edit,
        label,
        blind=not editor.checks_version(document.version),
        send=lambda patch: editor.apply(patch, generation=label, first=first, label=label),
    )
    await asyncio.wait([outstanding.landing], timeout=CONFIRM_PATIENCE)
    return outstanding.landing.done() and outstanding.landing.result() is Landing.LANDED
