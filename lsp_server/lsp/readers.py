"""The messages of a keystroke, structured by hand: the general way takes several times as long.

A reader raises KeyError or TypeError on whatever it does not know; the general way then takes the message,
or says what is wrong with it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from lsp_server.core.document import Change
from lsp_server.core.text import Position, Range


@dataclass(frozen=True, slots=True)
class Versioned:
    """The `VersionedTextDocumentIdentifier` of LSP."""

    uri: str
    version: int


@dataclass(frozen=True, slots=True)
class DidChange:
    """A `DidChangeTextDocumentParams` whose changes are the core's already."""

    text_document: Versioned
    content_changes: list[Change]


def did_change(params: Any) -> DidChange:
    document = params["textDocument"]
    identifier = Versioned(string(document["uri"]), whole(document["version"]))
    return DidChange(identifier, [change(each) for each in params["contentChanges"]])


def change(plain: Any) -> Change:
    text = string(plain["text"])
    if "range" not in plain:
        return Change(None, text)
    range_ = plain["range"]
    return Change(Range(Position(*place(range_["start"])), Position(*place(range_["end"]))), text)


def inline_completion(params: Any) -> types.InlineCompletionParams:
    context = params["context"]
    if context.get("selectedCompletionInfo") is not None:
        raise KeyError("selectedCompletionInfo")
    return types.InlineCompletionParams(
        context=types.InlineCompletionContext(TRIGGERS[context["triggerKind"]]),
        text_document=types.TextDocumentIdentifier(string(params["textDocument"]["uri"])),
        position=types.Position(*place(params["position"])),
    )


def place(plain: Any) -> tuple[int, int]:
    line, character = whole(plain["line"]), whole(plain["character"])
    if line < 0 or character < 0:
        raise TypeError("a position counts from 0")
    return line, character


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
