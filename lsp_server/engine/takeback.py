"""Edits of our own that belong to no running generation: reverting one, repairing a misplaced patch."""

import asyncio

from lsp_server.core.edits import Edit, replacement
from lsp_server.core.revert import revert
from lsp_server.engine.edits import reverted
from lsp_server.engine.errors import EditRefused
from lsp_server.engine.generation import CONFIRM_PATIENCE, Generation
from lsp_server.engine.patches import Landing, Region
from lsp_server.engine.ports import Editor, Result
from lsp_server.engine.workspace import Workspace


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
    span = generation.region.span
    current = document.slice(span.start, span.end)
    back = revert(generation.job.original, generation.region.produced, current)
    edit = replacement(current, back.text, span.start)
    if edit is not None and not await write(uri, edit, "Midstream: revert", workspace, editor):
        raise EditRefused("The editor refused the revert; its own undo takes the edit back.")
    message = None
    if back.kept:
        lines = "1 line" if back.kept == 1 else f"{back.kept} lines"
        message = f"Reverted, except {lines} that you changed since."
    return reverted(ended, edit, message)


async def take_patch_back(uri: str, region: Region, text: str, workspace: Workspace, editor: Editor) -> None:
    """Undo a misplaced patch, which now is `region`, with exactly one inverse edit, and say so."""
    if await workspace.settled(uri, CONFIRM_PATIENCE) and workspace.get(uri) is not None:
        edit = Edit(region.span.start, region.span.end, text)
        await write(uri, edit, "Midstream: take back", workspace, editor)
    workspace.release(uri, region)
    editor.show(
        "warning", "An edit met a key that you typed at the same moment; it was taken back, your text stays."
    )


async def write(uri: str, edit: Edit, label: str, workspace: Workspace, editor: Editor) -> bool:
    """Send one edit; True once the client reported it."""
    document = workspace.get(uri)
    if document is None:
        return False
    outstanding = workspace.send(
        uri,
        edit,
        label,
        blind=not editor.checks_version(document.version),
        send=lambda patch: editor.apply(patch, generation=label, first=True, label=label),
    )
    await asyncio.wait([outstanding.landing], timeout=CONFIRM_PATIENCE)
    return outstanding.landing.done() and outstanding.landing.result() is Landing.LANDED
