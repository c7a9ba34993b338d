"""Every LSP method that Midstream serves, in one table of contents."""

from collections.abc import Coroutine, Mapping
from typing import Any

from lsprotocol import types

from lsp_server import __version__
from lsp_server.engine.suggestion import Ask, Item, Selected
from lsp_server.lsp import actions, convert, listed, protocol
from lsp_server.lsp.commands import commands
from lsp_server.lsp.dispatch import Server
from lsp_server.lsp.session import ConfigurableModels, Session


def build(models: ConfigurableModels, environment: Mapping[str, str]) -> Session:
    """A server with everything registered, ready to be given a transport."""
    server = Server(__version__)
    session = Session(server, models, environment)
    feature = server.feature
    feature(types.INITIALIZE)(lambda params: initialize(session, params))
    feature(types.INITIALIZED)(lambda params: session.ready())
    feature(types.SHUTDOWN)(lambda params: session.close())
    feature(types.EXIT)(lambda *params: session.exit())
    feature(types.TEXT_DOCUMENT_DID_OPEN)(lambda params: did_open(session, params))
    feature(types.TEXT_DOCUMENT_DID_CHANGE)(lambda params: did_change(session, params))
    feature(types.TEXT_DOCUMENT_DID_CLOSE)(lambda params: did_close(session, params))
    feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(
        lambda params: did_change_configuration(session, params)
    )
    feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions())(
        lambda params: inline_completion(session, params)
    )
    feature(types.TEXT_DOCUMENT_CODE_ACTION, actions.OPTIONS)(
        lambda params: actions.code_actions(session, params)
    )
    for name, handler in commands(session).items():
        server.command(name)(handler)
    return session


def initialize(session: Session, params: types.InitializeParams) -> None:
    session.connect(params)
    if listed.wanted(session.settings, params.capabilities):
        session.server.feature(types.TEXT_DOCUMENT_COMPLETION, listed.OPTIONS)(
            lambda params: listed.completion(session, params)
        )


def did_open(session: Session, params: types.DidOpenTextDocumentParams) -> None:
    document = params.text_document
    session.assistant.document_opened(document.uri, document.language_id, document.version, document.text)


def did_change(session: Session, params: types.DidChangeTextDocumentParams) -> None:
    changes = convert.to_changes(params.content_changes)
    session.assistant.document_changed(params.text_document.uri, changes, params.text_document.version)


def did_close(session: Session, params: types.DidCloseTextDocumentParams) -> None:
    session.assistant.document_closed(params.text_document.uri)


def did_change_configuration(session: Session, params: types.DidChangeConfigurationParams) -> Any:
    """Some clients push their settings, others only say that they changed."""
    if isinstance(params.settings, Mapping) and params.settings:
        section = params.settings.get("midstream", params.settings)
        session.configure(section)
        return None
    return session.pull_configuration()


def inline_completion(
    session: Session, params: types.InlineCompletionParams
) -> Coroutine[Any, Any, types.InlineCompletionList | None] | None:
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
    return inline_items(session, ask, session.assistant.complete(ask))


async def inline_items(
    session: Session, ask: Ask, answer: Coroutine[Any, Any, list[Item]]
) -> types.InlineCompletionList | None:
    items = await answer
    if not items:
        return None
    return types.InlineCompletionList(
        [
            types.InlineCompletionItem(
                insert_text=item.text,
                range=convert.from_span(ask.document, item.span, session.workspace.encoding),
                command=types.Command(
                    title="Midstream: accepted", command=protocol.ACCEPTED, arguments=[item.id]
                ),
            )
            for item in items
        ]
    )
