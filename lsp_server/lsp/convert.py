"""LSP's types to the core's and back; nothing else in the program converts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from lsp_server.core.document import Change, Document
from lsp_server.core.edits import Edit
from lsp_server.core.text import Encoding, Position, Range, Span
from lsp_server.texts import edits as texts

ENCODINGS = {
    types.PositionEncodingKind.Utf8: Encoding.UTF8,
    types.PositionEncodingKind.Utf16: Encoding.UTF16,
    types.PositionEncodingKind.Utf32: Encoding.UTF32,
}


def to_position(position: types.Position) -> Position:
    return Position(position.line, position.character)


def to_range(range_: types.Range) -> Range:
    return Range(to_position(range_.start), to_position(range_.end))


def to_changes(changes: Iterable[types.TextDocumentContentChangeEvent | Change]) -> list[Change]:
    """The content changes of one didChange, in order; those that a reader made are ready."""
    return [
        change
        if isinstance(change, Change)
        else Change(
            to_range(change.range) if isinstance(change, types.TextDocumentContentChangePartial) else None,
            change.text,
        )
        for change in changes
    ]


def to_span(document: Document, range_: types.Range, encoding: Encoding) -> Span:
    """A range in code points; reversed ranges are turned round, places past the end clamp."""
    start = document.offset(to_position(range_.start), encoding)
    end = document.offset(to_position(range_.end), encoding)
    return Span(min(start, end), max(start, end))


def from_position(position: Position) -> types.Position:
    return types.Position(position.line, position.character)


def from_span(document: Document, span: Span, encoding: Encoding) -> types.Range:
    return types.Range(
        from_position(document.position(span.start, encoding)),
        from_position(document.position(span.end, encoding)),
    )


def plain_span(document: Document, span: Span, encoding: Encoding) -> dict[str, dict[str, int]]:
    """As `from_span`, as plain JSON."""
    start, end = document.position(span.start, encoding), document.position(span.end, encoding)
    return {
        "start": {"line": start.line, "character": start.character},
        "end": {"line": end.line, "character": end.character},
    }


def from_edit(document: Document, edit: Edit, encoding: Encoding) -> types.TextEdit:
    return types.TextEdit(from_span(document, Span(edit.start, edit.end), encoding), edit.text)


def argument(arguments: Sequence[Any]) -> Mapping[str, Any]:
    """The one object that every command takes; absent and Lua's empty list count as an empty object."""
    first = arguments[0] if arguments else {}
    if first is None or first == []:
        first = {}
    if not isinstance(first, Mapping):
        raise JsonRpcInvalidParams(message=texts.ONE_OBJECT)
    return first


def text_field(argument: Mapping[str, Any], name: str, *, required: bool = False) -> str:
    """A string of a command's argument."""
    value = argument.get(name)
    if value is None and not required:
        return ""
    if not isinstance(value, str):
        raise JsonRpcInvalidParams(message=texts.TEXT_FIELD.format(name=name))
    return value


def selection_field(argument: Mapping[str, Any], document: Document, encoding: Encoding) -> Span:
    """The `range` or `position` of a command's argument, in code points."""
    try:
        if (range_ := argument.get("range")) is not None:
            start, end = raw_position(range_["start"]), raw_position(range_["end"])
        else:
            start = end = raw_position(argument["position"])
    except (KeyError, TypeError, ValueError) as error:
        raise JsonRpcInvalidParams(message=texts.RANGE_FIELD) from error
    first, last = document.offset(start, encoding), document.offset(end, encoding)
    return Span(min(first, last), max(first, last))


def raw_position(value: Mapping[str, Any]) -> Position:
    """A position from plain JSON. Raises KeyError, TypeError or ValueError."""
    return Position(max(0, int(value["line"])), max(0, int(value["character"])))
