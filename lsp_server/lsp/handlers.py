"""What the document messages do: LSP's types in, calls of the engine, LSP's types out."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from lsprotocol import types

from lsp_server.engine.suggestion import Ask, Item, Selected
from lsp_server.lsp import actions, convert, listed, protocol
from lsp_server.lsp.answers import Later
from lsp_server.lsp.plain import plain
from lsp_server.lsp.readers import DidChange
from lsp_server.lsp.session import Session
from lsp_server.settings import Settings

GROUPS = frozenset(field.name for field in fields(Settings))


def did_open(session: Session, params: types.DidOpenTextDocumentParams) -> None:
    document = params.text_document
    session.assistant.document_opened(document.uri, document.language_id, document.version, document.text)


def did_change(session: Session, params: types.DidChangeTextDocumentParams | DidChange) -> None:
    changes = convert.to_changes(params.content_changes)
    session.assistant.document_changed(params.text_document.uri, changes, params.text_document.version)


def did_close(session: Session, params: types.DidCloseTextDocumentParams) -> None:
    session.assistant.document_closed(params.text_document.uri)


def did_change_configuration(session: Session, params: types.DidChangeConfigurationParams) -> Any:
    """Some clients push their settings, others only say that they changed.

    A client may push what it has for every server, so a push without our section counts only when all of
    it could be ours.
    """
    pushed = plain(params.settings)
    if not isinstance(pushed, Mapping) or not pushed:
        return session.pull_configuration()
    if "midstream" in pushed or pushed.keys() <= GROUPS:
        session.configure(pushed.get("midstream", pushed) or {})
    return None


def inline_completion(session: Session, params: types.InlineCompletionParams) -> Later | None:
    document = session.workspace.get(params.text_document.uri)
    if document is None or params.position.line >= document.line_count:
        return None
    encoding = session.workspace.encoding
    selected = params.context.selected_completion_info
    ask = Ask(
        document=document,
        cursor=document.offset(convert.to_position(params.position), encoding),
        invoked=params.context.trigger_kind == types.InlineCompletionTriggerKind.Invoked,
        selected=None
        if selected is None
        else Selected(convert.to_span(document, selected.range, encoding), selected.text),
    )
    answer = asyncio.ensure_future(session.assistant.complete(ask))
    return Later(answer, lambda items: inline_items(session, ask, items))


def inline_items(session: Session, ask: Ask, items: list[Item]) -> dict[str, Any] | None:
    """An `InlineCompletionList` as plain JSON, since somebody is waiting for it."""
    if not items:
        return None
    command = {"title": "Midstream: accepted", "command": protocol.ACCEPTED}
    return {
        "items": [
            {
                "insertText": item.text,
                "range": convert.plain_span(ask.document, item.span, session.workspace.encoding),
                "command": {**command, "arguments": [item.id]},
            }
            for item in items
        ]
    }


HANDLERS: Mapping[str, Callable[[Session, Any], Any]] = {
    types.TEXT_DOCUMENT_DID_OPEN: did_open,
    types.TEXT_DOCUMENT_DID_CHANGE: did_change,
    types.TEXT_DOCUMENT_DID_CLOSE: did_close,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: did_change_configuration,
    types.TEXT_DOCUMENT_INLINE_COMPLETION: inline_completion,
    types.TEXT_DOCUMENT_COMPLETION: listed.completion,
    types.TEXT_DOCUMENT_CODE_ACTION: actions.code_actions,
}
