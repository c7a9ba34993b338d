"""Positions against an oracle that encodes the prefix of the line."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core.text import (
    Encoding,
    Span,
    column_of,
    complete_lines,
    index_of,
    line_end,
    split_lines,
    units,
)

ALPHABET = "ab\t\r\n\x0b\x0c\x85\u2028\u2029é\u0301測🦊\U0001d54f\ud83e"
texts = st.text(ALPHABET, max_size=30) | st.text(max_size=30)
encodings = st.sampled_from(Encoding)


def encoded_length(text: str, encoding: Encoding) -> int:
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    codec = encoding if encoding is Encoding.UTF8 else f"{encoding}-le"
    return len(text.encode(codec, "surrogatepass")) // width


@given(texts)
def test_lines_are_what_the_protocol_says(text: str) -> None:
    lines = split_lines(text)
    assert "".join(lines) == text
    assert len(lines) == len(re.findall(r"\r\n|\r|\n", text)) + 1
    for line in lines[:-1]:
        assert re.fullmatch(r"[^\r\n]*(\r\n|\r|\n)", line)
    assert not re.search(r"[\r\n]", lines[-1])


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("\n", ["\n", ""]),
        ("x", ["x"]),
        ("x\n", ["x\n", ""]),
        ("a\r\nb\rc\nd", ["a\r\n", "b\r", "c\n", "d"]),
        ("a\n\rb", ["a\n", "\r", "b"]),
    ],
)
def test_line_ends(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@given(texts, texts)
def test_complete_lines_do_not_depend_on_what_follows(text: str, more: str) -> None:
    lines, rest = complete_lines(text)
    assert "".join([*lines, rest]) == text
    assert split_lines(text + more)[: len(lines)] == lines
    assert "\n" not in rest and rest.find("\r") in (-1, len(rest) - 1)


def test_B26_characters_that_end_a_line_only_in_python() -> None:
    odd = 's = "a\u2028b\x0bc\x0cd\x85e"\n'
    assert split_lines(odd + "q = \n") == [odd, "q = \n", ""]


@given(texts, encodings)
def test_units_are_those_of_the_encoded_text(text: str, encoding: Encoding) -> None:
    assert units(text, encoding) == encoded_length(text, encoding)


@given(texts, encodings)
def test_every_index_survives_the_round_trip(text: str, encoding: Encoding) -> None:
    for line in split_lines(text):
        content = line.removesuffix(line_end(line))
        for index in range(len(content) + 1):
            if inside_split_pair(content, index, encoding):
                continue
            column = column_of(line, index, encoding)
            assert column == encoded_length(content[:index], encoding)
            assert index_of(line, column, encoding) == index


@given(texts, encodings, st.integers(-2, 200))
def test_any_column_clamps_to_a_character_of_the_line(text: str, encoding: Encoding, column: int) -> None:
    for line in split_lines(text):
        content = line.removesuffix(line_end(line))
        index = index_of(line, column, encoding)
        assert 0 <= index <= len(content)
        reachable = [i for i in range(len(content) + 1) if not inside_split_pair(content, i, encoding)]
        assert index == max(i for i in reachable if i == 0 or encoded_length(content[:i], encoding) <= column)


def inside_split_pair(content: str, index: int, encoding: Encoding) -> bool:
    """True between two lone surrogates, which are one character to a client that counts UTF-16."""
    pair = content[max(0, index - 1) : index + 1]
    return encoding is Encoding.UTF16 and bool(re.fullmatch("[\ud800-\udbff][\udc00-\udfff]", pair))


@pytest.mark.parametrize("encoding", Encoding)
def test_B25_a_column_between_carriage_return_and_newline_clamps(encoding: Encoding) -> None:
    assert index_of("a\r\n", 2, encoding) == 1
    assert column_of("a\r\n", 3, encoding) == 1


def test_a_column_inside_a_character_clamps_to_its_start() -> None:
    assert [index_of("🦊b", column, Encoding.UTF16) for column in range(5)] == [0, 0, 1, 2, 2]
    assert [index_of("éb", column, Encoding.UTF8) for column in range(5)] == [0, 0, 1, 2, 2]


def test_spans() -> None:
    span = Span(2, 5)
    assert len(span) == 3 and bool(Span(2, 2))
    assert [offset for offset in range(8) if span.touches(offset)] == [2, 3, 4, 5]
    assert span.contains(Span(2, 5)) and span.contains(Span(5, 5))
    assert not span.contains(Span(1, 3)) and not span.contains(Span(4, 6))
