"""Edits, and what they do to the places around them."""

import re
from collections.abc import Sequence
from itertools import takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core.edits import (
    Edit,
    apply,
    common_prefix,
    common_suffix,
    grown_span,
    hull,
    inverse,
    moved,
    moved_span,
    replacement,
)
from tests.support import marked

texts = st.text("ab\r\n🦊", max_size=12)


@st.composite
def edited(draw: st.DrawFn, most: int = 1) -> tuple[str, list[Edit]]:
    before = text = draw(texts)
    edits = []
    for _ in range(draw(st.integers(1, most))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        edits.append(Edit(start, end, draw(texts)))
        text = apply(text, edits[-1:])
    return before, edits


def check_moved(before: str, edit: Edit, after: str, *, after_insert: bool = False) -> None:
    """The cursor of `before` is at the cursor of `after` once the edit is done."""
    old, new = marked.parse(before), marked.parse(after)
    assert apply(old.text, [edit]) == new.text
    assert moved(old.at, edit, after_insert=after_insert) == new.at


@pytest.mark.parametrize(
    ("before", "edit", "stays", "moves"),
    [
        ("ab<|>cd", Edit(4, 4, "X"), "ab<|>cdX", "ab<|>cdX"),
        ("ab<|>cd", Edit(0, 1, "XY"), "XYb<|>cd", "XYb<|>cd"),
        ("ab<|>cd", Edit(2, 2, "X"), "ab<|>Xcd", "abX<|>cd"),
        ("ab<|>cd", Edit(2, 3, "X"), "ab<|>Xd", "ab<|>Xd"),
        ("ab<|>cd", Edit(1, 2, "X"), "aX<|>cd", "aX<|>cd"),
        ("ab<|>cd", Edit(1, 3, "XY"), "a<|>XYd", "aXY<|>d"),
    ],
)
def test_anchors(before: str, edit: Edit, stays: str, moves: str) -> None:
    check_moved(before, edit, stays)
    check_moved(before, edit, moves, after_insert=True)


@pytest.mark.parametrize(
    ("before", "edit", "foreign", "own"),
    [
        ("ab<[cd]>ef", Edit(2, 2, "X"), "abX<[cd]>ef", "ab<[Xcd]>ef"),
        ("ab<[cd]>ef", Edit(4, 4, "X"), "ab<[cd]>Xef", "ab<[cdX]>ef"),
        ("ab<[cd]>ef", Edit(3, 3, "X"), "ab<[cXd]>ef", "ab<[cXd]>ef"),
        ("ab<[]>ef", Edit(2, 2, "X"), "abX<[]>ef", "ab<[X]>ef"),
        ("ab<[cd]>ef", Edit(2, 4, ""), "ab<[]>ef", "ab<[]>ef"),
        ("ab<[cd]>ef", Edit(1, 3, "X"), "aX<[d]>ef", "a<[Xd]>ef"),
    ],
)
def test_spans(before: str, edit: Edit, foreign: str, own: str) -> None:
    old = marked.parse(before)
    after = apply(old.text, [edit])
    assert marked.show(after, selection=moved_span(old.span, edit)) == foreign
    assert marked.show(after, selection=grown_span(old.span, edit)) == own


@given(edited(), st.data())
def test_text_around_an_edit_keeps_its_anchors(case: tuple[str, list[Edit]], data: st.DataObject) -> None:
    before, [edit] = case
    after = apply(before, [edit])
    offset = data.draw(st.integers(0, len(before)))
    for after_insert in (False, True):
        place = moved(offset, edit, after_insert=after_insert)
        assert 0 <= place <= len(after)
        if offset < edit.start:
            assert place == offset
        if offset > edit.end:
            assert after[place:] == before[offset:]


@given(edited())
def test_an_inverse_takes_the_edit_back(case: tuple[str, list[Edit]]) -> None:
    before, [edit] = case
    back = inverse(edit, before[edit.start : edit.end])
    assert apply(before, [edit, back]) == before
    assert back.delta == -edit.delta


@given(edited(most=4))
def test_nothing_changes_outside_the_hull(case: tuple[str, list[Edit]]) -> None:
    before, edits = case
    after = apply(before, edits)
    old, new = hull(edits)
    assert apply(before, [Edit(old.start, old.end, after[new.start : new.end])]) == after
    assert old.start == new.start == min(old.start, *(edit.start for edit in edits))


@given(texts, texts, st.integers(0, 5))
def test_a_replacement_is_minimal_and_never_cuts_a_line_end(old: str, new: str, at: int) -> None:
    edit = replacement(old, new, at)
    if edit is None:
        assert old == new
        return
    padding = "x" * at
    assert apply(padding + old, [edit]) == padding + new
    assert not cuts_line_end(padding + old, [edit.start, edit.end])
    assert not cuts_line_end(padding + new, [edit.start, edit.start + len(edit.text)])
    removed = (padding + old)[edit.start : edit.end]
    assert removed[:1] in ("", "\r") or removed[:1] != edit.text[:1]
    assert removed[-1:] in ("", "\n") or removed[-1:] != edit.text[-1:]


def cuts_line_end(text: str, offsets: Sequence[int]) -> bool:
    return any(match.start() + 1 in offsets for match in re.finditer("\r\n", text))


@given(texts, texts)
def test_common_ends(a: str, b: str) -> None:
    assert common_prefix(a, b) == len([*takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))])
    assert common_suffix(a, b) == common_prefix(a[::-1], b[::-1])


def test_noop() -> None:
    assert Edit(3, 3, "").is_noop
    assert not Edit(3, 4, "").is_noop
    assert not Edit(3, 3, "x").is_noop
