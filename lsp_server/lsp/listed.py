"""The same text through `textDocument/completion`, for clients without inline completion."""

import asyncio

from lsprotocol import types

from lsp_server.core.text import Span
from lsp_server.engine.suggestion import Ask, Item
from lsp_server.lsp import convert, protocol
from lsp_server.lsp.answers import Later
from lsp_server.lsp.session import Session

LABEL_LENGTH = 60


def completion(session: Session, params: types.CompletionParams) -> Later | None:
    document = session.workspace.get(params.text_document.uri)
    if document is None or params.position.line >= document.line_count:
        return None
    cursor = document.offset(convert.to_position(params.position), session.workspace.encoding)
    kind = params.context.trigger_kind if params.context else types.CompletionTriggerKind.Invoked
    ask = Ask(document, cursor, invoked=kind == types.CompletionTriggerKind.Invoked)
    answer = asyncio.ensure_future(session.assistant.complete(ask))
    return Later(answer, lambda items: listed_items(session, ask, items))


def listed_items(session: Session, ask: Ask, items: list[Item]) -> types.CompletionList:
    """An incomplete list, so that typing on asks again."""
    return types.CompletionList(is_incomplete=True, items=[listed_item(session, ask, item) for item in items])


def listed_item(session: Session, ask: Ask, item: Item) -> types.CompletionItem:
    """One entry: it replaces the word at the cursor, since clients filter by the word that is there."""
    document, encoding = ask.document, session.workspace.encoding
    start = word_start(document.slice(max(0, ask.cursor - 200), ask.cursor), ask.cursor)
    word = document.slice(start, ask.cursor)
    text = word + item.text
    first, _, rest = text.partition("\n")
    label = first if len(first) <= LABEL_LENGTH else first[: LABEL_LENGTH - 1] + "…"
    return types.CompletionItem(
        label=label.strip() + (" …" if rest else ""),
        kind=types.CompletionItemKind.Snippet if rest else types.CompletionItemKind.Text,
        detail="Midstream",
        documentation=types.MarkupContent(types.MarkupKind.Markdown, f"```{document.language}\n{text}\n```"),
        filter_text=word or first,
        sort_text="\x7f",
        insert_text_format=types.InsertTextFormat.PlainText,
        insert_text_mode=types.InsertTextMode.AsIs,
        text_edit=types.TextEdit(convert.from_span(document, Span(start, item.span.end), encoding), text),
        command=types.Command(title="Midstream: accepted", command=protocol.ACCEPTED, arguments=[item.id]),
    )


def word_start(before: str, cursor: int) -> int:
    """Where the word that ends at the cursor begins."""
    length = 0
    for character in reversed(before):
        if not (character.isalnum() or character == "_"):
            break
        length += 1
    return cursor - length
