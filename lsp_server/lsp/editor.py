"""The engine's `Editor` port, spoken in LSP."""

import asyncio
import logging
import tempfile
from pathlib import Path
from typing import Any, Literal

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from lsp_server.core.edits import Patch
from lsp_server.core.text import Encoding, Span
from lsp_server.engine.ports import ApplyReply, Result, Status
from lsp_server.engine.workspace import Workspace
from lsp_server.lsp import convert, protocol
from lsp_server.lsp.dispatch import Server
from lsp_server.lsp.plain import plain
from lsp_server.lsp.statuses import StatusLine

logger = logging.getLogger(__name__)

KINDS = {
    "info": types.MessageType.Info,
    "warning": types.MessageType.Warning,
    "error": types.MessageType.Error,
}


class LspEditor:
    """What the connected client can do, and the messages that make it do so.

    Neovim applies versioned document edits and compares their versions although it does not announce
    `documentChanges`; it takes version 0 for "unknown" and does not compare it. lsp-mode does not compare it
    either, and before 9.0, where it cannot agree on an encoding, it counts characters and not UTF-16 units.
    """

    def __init__(self, server: Server, workspace: Workspace) -> None:
        self._server = server
        self._workspace = workspace
        self._announced = protocol.Announced()
        self._versioned = False
        self._zero_is_unknown = False
        self._counts_characters = False
        self._show_document = False
        self._statuses = StatusLine(server)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._explanations = 0
        self.shows_disabled_actions = False

    def connect(self, params: types.InitializeParams) -> None:
        """Learn what the client can do."""
        capabilities = params.capabilities
        self._announced = protocol.announced(plain(capabilities.experimental))
        edit = capabilities.workspace and capabilities.workspace.workspace_edit
        name = params.client_info.name.lower() if params.client_info else ""
        neovim, lsp_mode = name in ("neovim", "nvim"), name == "emacs"
        self._versioned = neovim or bool(edit and edit.document_changes)
        self._zero_is_unknown = neovim or lsp_mode
        general = capabilities.general
        self._counts_characters = lsp_mode and not (general and general.position_encodings)
        document = capabilities.text_document
        action = document and document.code_action
        self.shows_disabled_actions = bool(action and action.disabled_support)
        window = capabilities.window
        self._show_document = bool(window and window.show_document and window.show_document.support)
        self._statuses.connect(
            announced=self._announced.status, progress=bool(window and window.work_done_progress)
        )

    @property
    def encoding(self) -> Encoding:
        """What the client counts within a line."""
        if self._counts_characters:
            return Encoding.UTF32
        agreed = self._server.server_capabilities.position_encoding or types.PositionEncodingKind.Utf16
        return convert.ENCODINGS[types.PositionEncodingKind(agreed)]

    @property
    def groups_undo(self) -> bool:
        return self._announced.apply_patch

    @property
    def retriggers(self) -> bool:
        return self._announced.retrigger

    def checks_version(self, version: int) -> bool:
        if self._announced.apply_patch:
            return True
        return self._versioned and not (self._zero_is_unknown and version == 0)

    async def apply(self, patch: Patch, *, generation: str, first: bool, label: str) -> ApplyReply:
        """Send a patch; every kind of no is a refusal."""
        document = self._workspace.get(patch.uri)
        if document is None or document.version != patch.version:
            return "refused"
        encoding = self._workspace.encoding
        range_ = convert.from_span(document, Span(patch.edit.start, patch.edit.end), encoding)
        try:
            if self._announced.apply_patch:
                return await self._apply_patch(patch, range_, generation, first=first)
            reply = await self._server.workspace_apply_edit_async(
                types.ApplyWorkspaceEditParams(label=label, edit=self._workspace_edit(patch, range_))
            )
        except JsonRpcException as error:
            logger.debug("the client refused a patch: %s", error)
            return "refused"
        return "applied" if reply.applied else "refused"

    def status(self, status: Status) -> None:
        self._statuses.show(status)

    def ended(self, result: Result) -> None:
        if self._announced.ended:
            self._server.protocol.notify(protocol.ENDED, protocol.result_message(result))

    def show(self, kind: Literal["info", "warning", "error"], sentence: str) -> None:
        self._server.window_show_message(types.ShowMessageParams(KINDS[kind], sentence))

    async def ask(self, sentence: str, *actions: str) -> str | None:
        """Ask the user; the title of the chosen action, or None."""
        reply = await self._server.window_show_message_request_async(
            types.ShowMessageRequestParams(
                type=types.MessageType.Info,
                message=sentence,
                actions=[types.MessageActionItem(title) for title in actions],
            )
        )
        return reply.title if reply else None

    async def show_markdown(self, markdown: str) -> None:
        """Open a text beside the code, where the client can show documents."""
        if not self._show_document:
            return
        self._folder = self._folder or tempfile.TemporaryDirectory(prefix="midstream-")
        self._explanations += 1
        file = Path(self._folder.name) / f"explanation-{self._explanations}.md"
        file.write_text(markdown, encoding="utf-8")
        try:
            await self._server.window_show_document_async(types.ShowDocumentParams(uri=file.as_uri()))
        except JsonRpcException as error:
            logger.debug("the client does not show the explanation: %s", error)

    async def close(self) -> None:
        """Leave nothing behind."""
        await self._statuses.close()
        if self._folder is not None:
            self._folder.cleanup()

    async def _apply_patch(
        self, patch: Patch, range_: types.Range, generation: str, *, first: bool
    ) -> ApplyReply:
        message = protocol.patch_message(patch, range_, generation, first=first)
        reply = plain(await self._server.protocol.send_request_async(protocol.APPLY_PATCH, message))
        return "applied" if isinstance(reply, dict) and reply.get("applied") is True else "refused"

    def _workspace_edit(self, patch: Patch, range_: types.Range) -> types.WorkspaceEdit:
        edit = types.TextEdit(range_, patch.edit.text)
        if not self._versioned:
            return types.WorkspaceEdit(changes={patch.uri: [edit]})
        identifier = types.OptionalVersionedTextDocumentIdentifier(uri=patch.uri, version=patch.version)
        return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, [edit])])


def spawn(tasks: set[asyncio.Task[Any]], coroutine: Any, name: str) -> asyncio.Task[Any]:
    """Run a coroutine in the background, kept alive and with its failure logged."""
    task = asyncio.get_running_loop().create_task(coroutine, name=name)
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    task.add_done_callback(log_failure)
    return task


def log_failure(task: asyncio.Task[Any]) -> None:
    """Log what a background task died of."""
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("%s failed: %s", task.get_name(), type(error).__name__, exc_info=error)
