"""One message of each kind that somebody waits for, so that the converter has met them all before."""

from typing import Any

from lsprotocol import types
from pygls.protocol.json_rpc import JsonRPCResponseMessage

from lsp_server.lsp.dispatch import Protocol

PLACE = {"line": 0, "character": 0}
RANGE = {"start": PLACE, "end": PLACE}
DOCUMENT = {"uri": "file:///a", "version": 1}

MESSAGES: tuple[dict[str, Any], ...] = (
    {"method": types.INITIALIZED, "params": {}},
    {
        "method": types.TEXT_DOCUMENT_DID_OPEN,
        "params": {"textDocument": {**DOCUMENT, "languageId": "", "text": ""}},
    },
    {"method": types.TEXT_DOCUMENT_DID_CLOSE, "params": {"textDocument": DOCUMENT}},
    {
        "id": 1,
        "method": types.WORKSPACE_EXECUTE_COMMAND,
        "params": {"command": "", "arguments": [{"uri": ""}]},
    },
)


def answers() -> list[Any]:
    """What goes out on the way of an edit."""
    range_ = types.Range(types.Position(0, 0), types.Position(0, 0))
    edits: list[Any] = [types.TextEdit(range_, "")]
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri="", version=1)
    edit = types.WorkspaceEdit(
        changes={"": edits}, document_changes=[types.TextDocumentEdit(identifier, edits)]
    )
    return [
        JsonRPCResponseMessage(1, "2.0", None),
        types.ApplyWorkspaceEditRequest(1, types.ApplyWorkspaceEditParams(edit=edit, label="")),
    ]


def rehearse(protocol: Protocol) -> None:
    """Before the first keystroke, while nobody waits."""
    messages = [{"jsonrpc": "2.0", **message} for message in MESSAGES]
    protocol.rehearse(messages, answers())
