"""LSP's types to the core's and back."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from lsp_server.core.document import Document
from lsp_server.core.edits import Edit
from lsp_server.core.text import Encoding, Span
from lsp_server.lsp import convert

TEXTS = st.text(st.sampled_from("aé🦊\n\r\t "), max_size=30)


@given(TEXTS, st.sampled_from(Encoding), st.data())
def test_a_range_there_and_back_is_the_same(text: str, encoding: Encoding, data: st.DataObject) -> None:
    document = Document.open("file:///a", "plaintext", 1, text)
    places = st.integers(0, len(text)).filter(lambda at: text[at - 1 : at + 1] != "\r\n" or at == 0)
    start, end = sorted((data.draw(places), data.draw(places)))
    range_ = convert.from_span(document, Span(start, end), encoding)
    assert convert.to_span(document, range_, encoding) == Span(start, end)
    turned = types.Range(range_.end, range_.start)
    assert convert.to_span(document, turned, encoding) == Span(start, end)
    edit = convert.from_edit(document, Edit(start, end, "x"), encoding)
    assert (edit.range, edit.new_text) == (range_, "x")


def test_changes_with_and_without_a_range() -> None:
    where = types.Range(types.Position(0, 1), types.Position(0, 2))
    partial, whole = convert.to_changes(
        [
            types.TextDocumentContentChangePartial(range=where, text="x"),
            types.TextDocumentContentChangeWholeDocument(text="y"),
        ]
    )
    assert partial.range is not None and partial.range.start.character == 1
    assert whole.range is None and (partial.text, whole.text) == ("x", "y")


@pytest.mark.parametrize("arguments", [(), (None,), ([],), ({},)])
def test_no_argument_and_luas_empty_list_are_an_empty_object(arguments: tuple[Any, ...]) -> None:
    assert convert.argument(arguments) == {}


@pytest.mark.parametrize("argument", [1, "x", [1]])
def test_anything_else_is_refused(argument: Any) -> None:
    with pytest.raises(JsonRpcInvalidParams):
        convert.argument((argument,))


PLACES: list[Any] = [
    {},
    {"position": None},
    {"position": {"line": 0}},
    {"position": {"line": "x", "character": 0}},
    {"range": {"start": {"line": 0, "character": 0}}},
    {"range": 7},
]


@pytest.mark.parametrize("argument", PLACES)
def test_a_place_that_is_none_is_refused_with_a_sentence(argument: Any) -> None:
    document = Document.open("file:///a", "plaintext", 1, "abc")
    with pytest.raises(JsonRpcInvalidParams, match="needs a 'range' or a 'position'"):
        convert.selection_field(argument, document, Encoding.UTF16)


def test_places_past_the_end_clamp_and_reversed_ranges_turn() -> None:
    document = Document.open("file:///a", "plaintext", 1, "abc\ndef")
    end, start = {"line": 99, "character": 99}, {"line": 0, "character": 1}
    span = convert.selection_field({"range": {"start": end, "end": start}}, document, Encoding.UTF16)
    assert span == Span(1, 7)
    assert convert.selection_field(
        {"position": {"line": -3, "character": -1}}, document, Encoding.UTF16
    ) == Span(0, 0)
