"""Documents against an oracle that splices the whole text and encodes prefixes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core import document as module
from lsp_server.core.document import Change, Document
from lsp_server.core.edits import Edit, apply
from lsp_server.core.text import Encoding, Position, Range, split_lines
from tests.core.test_text import encoded_length, inside_split_pair
from tests.support import marked
from tests.support.operations import allocated, steps

texts = st.text("ab\r\n\x0c\u2028é\u0301🦊", max_size=20)
encodings = st.sampled_from(Encoding)
positions = st.builds(Position, st.integers(-1, 8), st.integers(-1, 8))
ranges = st.builds(Range, positions, positions)
changes = st.builds(Change, ranges | st.none(), texts)


def opened(text: str) -> Document:
    return Document.open("untitled:a", "python", 1, text)


@contextmanager
def tiny_chunks() -> Iterator[None]:
    """Chunks of two lines, so that small texts have many borders between chunks."""
    with mock.patch.object(module, "CHUNK_LINES", 2):
        yield


def oracle_offset(text: str, position: Position, encoding: Encoding) -> int:
    lines = split_lines(text)
    if position.line < 0:
        return 0
    if position.line >= len(lines):
        return len(text)
    content = lines[position.line].rstrip("\r\n")
    fitting = [
        index
        for index in range(len(content) + 1)
        if encoded_length(content[:index], encoding) <= position.character
        and not inside_split_pair(content, index, encoding)
    ]
    return sum(map(len, lines[: position.line])) + max(fitting, default=0)


def check(document: Document, text: str) -> None:
    """Everything that a document says about itself agrees with its text."""
    lines = split_lines(text)
    assert document.text == text
    assert document.length == len(text)
    assert document.line_count == len(lines)
    assert [document.line(number) for number in range(len(lines))] == lines
    assert list(document.lines()) == lines
    assert list(document.lines_above(len(lines) - 1)) == lines[-2::-1]
    assert document.newline == opened(text).newline
    start = 0
    for number, line in enumerate(lines):
        assert document.line_start(number) == start
        last = number == len(lines) - 1
        for offset in range(start, start + len(line) + last):
            assert document.line_at(offset) == number
        start += len(line)


@given(texts, st.lists(changes, max_size=4), encodings)
def test_changes_splice_the_whole_text(text: str, changes: list[Change], encoding: Encoding) -> None:
    with tiny_chunks():
        before = opened(text)
        check(before, text)  # What it has found out may pass on to the next version.
        after, edits = before.apply(changes, 2, encoding)
        expected = text
        for change in changes:
            if change.range is None:
                expected = change.text
                continue
            ends = (change.range.start, change.range.end)
            start, end = sorted(oracle_offset(expected, end, encoding) for end in ends)
            expected = expected[:start] + change.text + expected[end:]
        check(after, expected)
        assert apply(text, edits) == expected
        assert (before.version, after.version, after.uri) == (1, 2, before.uri)
        check(before, text)


@given(texts, st.data())
def test_edits_may_cut_line_ends(text: str, data: st.DataObject) -> None:
    with tiny_chunks():
        document = opened(text)
        for version in range(2, 5):
            start, end = sorted(data.draw(st.tuples(*[st.integers(0, document.length)] * 2)))
            edit = Edit(start, end, data.draw(texts))
            expected = apply(document.text, [edit])
            document = document.edited(edit, version)
            check(document, expected)


@pytest.mark.parametrize(
    ("before", "inserted", "lines"),
    [
        ("a\r<|>b", "\n", ["a\r\n", "b"]),
        ("a\r<|>\nb", "x", ["a\r", "x\n", "b"]),
        ("a\r<[\n]>b", "", ["a\r", "b"]),
        ("a\r<[b]>\nc", "", ["a\r\n", "c"]),
        ("a<[\r]>\nb", "", ["a\n", "b"]),
        ("<|>\nb", "\r", ["\r\n", "b"]),
    ],
)
def test_line_ends_join_and_part(before: str, inserted: str, lines: list[str]) -> None:
    source = marked.parse(before)
    with tiny_chunks():
        old = opened(source.text)
        check(old, source.text)
        check(old.edited(Edit(source.span.start, source.span.end, inserted), 2), "".join(lines))


@given(texts, positions, encodings)
def test_positions(text: str, position: Position, encoding: Encoding) -> None:
    with tiny_chunks():
        document = opened(text)
    offset = document.offset(position, encoding)
    assert offset == oracle_offset(text, position, encoding)
    assert document.offset(document.position(offset, encoding), encoding) == offset


@given(texts, st.integers(-2, 25), st.integers(-2, 25))
def test_slices(text: str, start: int, end: int) -> None:
    with tiny_chunks():
        assert opened(text).slice(start, end) == text[max(0, start) : max(0, end)]


def test_lines_of_a_part() -> None:
    with tiny_chunks():
        document = opened("a\nb\nc\nd\ne\n")
    assert list(document.lines(1, 4)) == ["b\n", "c\n", "d\n"]
    assert list(document.lines(4)) == ["e\n", ""]
    assert list(document.lines(3, 99)) == ["d\n", "e\n", ""]


def insert(document: Document, line: int, character: int, text: str, encoding: Encoding) -> Document:
    place = Position(line, character)
    return document.apply([Change(Range(place, place), text)], document.version + 1, encoding)[0]


def typed(source: str, text: str, encoding: Encoding) -> str:
    """The document after a client typed `text` at the cursor mark."""
    before = marked.parse(source)
    place = opened(before.text).position(before.at, encoding)
    return insert(opened(before.text), place.line, place.character, text, encoding).text


@pytest.mark.parametrize("encoding", Encoding)
def test_B19_every_encoding_counts_its_own_units(encoding: Encoding) -> None:
    assert typed("é<|>fg", "e", encoding) == "éefg"
    assert opened("éfg").position(1, encoding).character == encoded_length("é", encoding)


def test_B20_the_end_of_a_last_line_with_an_astral_character() -> None:
    document = opened('let moon = "🌒";')
    assert document.position(document.length, Encoding.UTF16) == Position(0, 16)
    assert document.offset(Position(0, 16), Encoding.UTF16) == document.length


@pytest.mark.parametrize("encoding", Encoding)
def test_B25_carriage_return_and_newline_are_one_line_end(encoding: Encoding) -> None:
    assert typed("a\r\nb\r\n<|>c\r\n", "X", encoding) == "a\r\nb\r\nXc\r\n"
    assert opened("a\r\n").offset(Position(0, 2), encoding) == 1
    assert opened("a\r\n").position(2, encoding) == Position(0, 1)


def test_B26_odd_separators_do_not_end_a_line() -> None:
    source = marked.parse('s = "a\u2028b\x0bc\x0cd\x85e"\nq = <|>\n')
    document = opened(source.text)
    assert document.offset(Position(1, 4), Encoding.UTF16) == source.at
    assert typed('s = "a\u2028b\x0bc\x0cd\x85e"\nq = <|>\n', "1", Encoding.UTF16).endswith('e"\nq = 1\n')


@pytest.mark.parametrize("text", ["", "\n", "x", "x\n", "def f():"])
def test_B28_every_place_of_a_short_document(text: str) -> None:
    document = opened(text)
    for offset in range(len(text) + 1):
        place = document.position(offset, Encoding.UTF16)
        assert document.offset(place, Encoding.UTF16) == offset
    first = split_lines(text)[0].rstrip("\n")
    assert document.offset(Position(0, 99), Encoding.UTF16) == len(first)
    assert document.offset(Position(99, 0), Encoding.UTF16) == len(text)


def test_B29_the_end_of_a_document_is_on_a_line_that_exists() -> None:
    assert opened("a\nb").position(3, Encoding.UTF16) == Position(1, 1)
    assert opened("A\nB\nC").position(5, Encoding.UTF16) == Position(2, 1)


def test_B44_changes_of_one_notification_follow_one_another() -> None:
    places: Sequence[tuple[int, int, str]] = [(0, 1, "P"), (0, 2, "\n"), (1, 0, "🦊"), (1, 2, "r")]
    changes = [
        Change(Range(Position(line, column), Position(line, column)), text) for line, column, text in places
    ]
    document, edits = opened("pq").apply(changes, 2, Encoding.UTF16)
    assert document.text == "pP\n🦊rq"
    assert apply("pq", edits) == document.text


def test_a_reversed_range_is_tolerated() -> None:
    reverse = Range(Position(0, 3), Position(0, 1))
    document, edits = opened("abcd").apply([Change(reverse, "X")], 2, Encoding.UTF16)
    assert (document.text, edits) == ("aXd", (Edit(1, 3, "X"),))


def test_a_whole_new_text_becomes_the_smallest_edit() -> None:
    document, edits = opened("a\nb\nc\n").apply([Change(None, "a\nB\nc\n")], 2, Encoding.UTF16)
    assert (document.text, edits) == ("a\nB\nc\n", (Edit(2, 3, "B"),))
    assert document.apply([Change(None, document.text)], 3, Encoding.UTF16)[1] == ()


def test_a_notification_without_changes_is_a_new_version() -> None:
    document, edits = opened("a").apply([], 7, Encoding.UTF16)
    assert (document.text, document.version, edits) == ("a", 7, ())


@pytest.mark.parametrize("outside", [-1, 2])
def test_places_outside_are_errors_of_the_caller(outside: int) -> None:
    with pytest.raises(IndexError):
        opened("a").line(outside)
    with pytest.raises(IndexError):
        opened("a").line_at(outside)


@pytest.mark.parametrize(
    ("text", "newline"),
    [
        ("", "\n"),
        ("a", "\n"),
        ("a\r\n", "\r\n"),
        ("a\rb\rc\n", "\r"),
        ("a\r\nb\nc\r\n", "\r\n"),
        ("a\r\nb\n", "\n"),
    ],
)
def test_B75_the_dominant_line_end(text: str, newline: str) -> None:
    with tiny_chunks():
        assert opened(text).newline == newline


SMALL, LARGE = 200, 20_000


def source(lines: int) -> Document:
    return opened("    return value\n" * lines)


def keystroke(document: Document) -> tuple[Document, tuple[Edit, ...]]:
    place = Position(document.line_count // 2, 8)
    return document.apply([Change(Range(place, place), "x")], 2, Encoding.UTF16)


def test_a_keystroke_costs_the_same_in_a_small_and_in_a_large_document() -> None:
    small, large = source(SMALL), source(LARGE)
    assert steps(lambda: keystroke(large)) == steps(lambda: keystroke(small))
    # Some machine words in tuples, and an integer, for every further chunk.
    chunks = LARGE // module.CHUNK_LINES + 1
    grown = allocated(lambda: keystroke(large)) - allocated(lambda: keystroke(small))
    assert grown < chunks * 100 < large.length / 20


def test_a_keystroke_leaves_all_other_chunks_shared() -> None:
    before = source(LARGE)
    after, _ = keystroke(before)
    assert len(set(map(id, after._chunks)) - set(map(id, before._chunks))) == 1


def test_reading_the_text_after_a_keystroke_costs_one_join() -> None:
    after, _ = keystroke(source(LARGE))
    assert allocated(lambda: after.text) < 1.5 * after.length + LARGE * 16


def test_many_keystrokes_keep_the_chunks_few() -> None:
    document = opened("")
    for version in range(3 * module.CHUNK_LINES):
        document = insert(document, version, 0, "x\n", Encoding.UTF16)
    assert len(document._chunks) <= 4
