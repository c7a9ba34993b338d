"""The messages of a keystroke, structured by hand: the general way takes several times as long.

A reader raises KeyError or TypeError on whatever it does not know; the general way then takes the message,
or says what is wrong with it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from lsprotocol import types


def did_change(params: Any) -> types.DidChangeTextDocumentParams:
    document = params["textDocument"]
    identifier = types.VersionedTextDocumentIdentifier(
        version=whole(document["version"]), uri=string(document["uri"])
    )
    return types.DidChangeTextDocumentParams(identifier, [change(each) for each in params["contentChanges"]])


def change(plain: Any) -> types.TextDocumentContentChangeEvent:
    text = string(plain["text"])
    if "range" not in plain:
        return types.TextDocumentContentChangeWholeDocument(text)
    range_ = plain["range"]
    return types.TextDocumentContentChangePartial(
        range=types.Range(position(range_["start"]), position(range_["end"])), text=text
    )


def inline_completion(params: Any) -> types.InlineCompletionParams:
    context = params["context"]
    if context.get("selectedCompletionInfo") is not None:
        raise KeyError("selectedCompletionInfo")
    return types.InlineCompletionParams(
        context=types.InlineCompletionContext(TRIGGERS[context["triggerKind"]]),
        text_document=types.TextDocumentIdentifier(string(params["textDocument"]["uri"])),
        position=position(params["position"]),
    )


def position(plain: Any) -> types.Position:
    line, character = whole(plain["line"]), whole(plain["character"])
    if line < 0 or character < 0:
        raise TypeError("a position counts from 0")
    return types.Position(line, character)


def whole(value: Any) -> int:
    if type(value) is not int:
        raise TypeError("not an integer")
    return value


def string(value: Any) -> str:
    if type(value) is not str:
        raise TypeError("not a string")
    return value


TRIGGERS = {kind.value: kind for kind in types.InlineCompletionTriggerKind}

READERS: Mapping[str, Callable[[Any], Any]] = {
    types.TEXT_DOCUMENT_DID_CHANGE: did_change,
    types.TEXT_DOCUMENT_INLINE_COMPLETION: inline_completion,
}
