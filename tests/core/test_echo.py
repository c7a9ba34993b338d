"""Telling our own patch from the user's keys, as every kind of client reports them."""

from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lsp_server.core.document import Document
from lsp_server.core.echo import Verdict, classify
from lsp_server.core.edits import Edit, apply, replacement
from tests.support import marked
from tests.support.operations import steps


def opened(text: str) -> Document:
    return Document.open("untitled:a", "python", 1, text)


def judge(before: str, edits: Sequence[Edit], expected: Edit | None) -> Verdict:
    """The verdict on a notification; whatever it is, its account must lead to the text."""
    old = opened(before)
    new = old
    for edit in edits:
        new = new.edited(edit, 2)
    verdict = classify(old, new, edits, expected)
    start = apply(before, [expected]) if verdict.echo and expected else before
    assert apply(start, verdict.typing) == new.text
    return verdict


def smallest(before: str, after: str) -> list[Edit]:
    """What a client reports that compares texts."""
    edit = replacement(before, after)
    return [edit] if edit else []


# The document, the patch and the user have different characters, and none comes twice in the document,
# so that there is one right answer.
documents = st.permutations("abcdefghijklmnop\n\r").map("".join)
patches = st.text("XYZ ", max_size=12)
keys = st.text("0123(\t", max_size=4)


@st.composite
def both(draw: st.DrawFn, count: int = 1) -> tuple[str, Edit, list[Edit]]:
    """A document, the patch, and what the user does to other places, all relative to the document."""
    text = draw(documents)
    borders = sorted(
        draw(st.lists(st.integers(0, len(text)), min_size=2 * count + 2, max_size=2 * count + 2))
    )
    places = list(zip(borders[::2], borders[1::2], strict=True))
    patch_place = places.pop(draw(st.integers(0, count)))
    patch = Edit(*patch_place, draw(patches))
    typing = [Edit(*place, draw(keys)) for place in places]
    assume(text[patch.start : patch.end] != patch.text)
    assume(all(text[edit.start : edit.end] != edit.text for edit in typing))
    return text, patch, typing


def in_sequence(edits: Sequence[Edit], order: Sequence[int]) -> list[Edit]:
    """Edits of one text, sorted and apart, as successive edits in the given order."""
    done: list[int] = []
    sequence = []
    for index in order:
        shift = sum(edits[earlier].delta for earlier in done if earlier < index)
        sequence.append(Edit(edits[index].start + shift, edits[index].end + shift, edits[index].text))
        done.append(index)
    return sequence


@given(both())
def test_our_patch_alone_is_an_echo(case: tuple[str, Edit, list[Edit]]) -> None:
    text, patch, _ = case
    assert judge(text, [patch], patch) == Verdict(True, ())
    assert judge(text, smallest(text, apply(text, [patch])), patch) == Verdict(True, ())


@given(both(), patches)
def test_a_different_text_is_never_just_an_echo(case: tuple[str, Edit, list[Edit]], text: str) -> None:
    before, patch, _ = case
    other = Edit(patch.start, patch.end, text)
    assume(text != patch.text)
    verdict = judge(before, [other], patch)
    assert not (verdict.echo and verdict.typing == ())


@given(both())
def test_typing_alone_is_typing(case: tuple[str, Edit, list[Edit]]) -> None:
    text, patch, typing = case
    assert not judge(text, typing, patch).echo
    assert not judge(text, smallest(text, apply(text, typing)), patch).echo


@given(both(), st.sampled_from([0, 1]), st.text("0123(\t", min_size=1, max_size=9))
def test_typing_at_the_very_place_of_the_patch_is_typing(
    case: tuple[str, Edit, list[Edit]], end: int, text: str
) -> None:
    before, patch, _ = case
    place = (patch.start, patch.end)[end]
    assert judge(before, [Edit(place, place, text)], patch) == Verdict(False, (Edit(place, place, text),))


@given(both() | both(count=2) | both(count=3), st.data())
def test_an_echo_merged_with_typing_is_told_apart(
    case: tuple[str, Edit, list[Edit]], data: st.DataObject
) -> None:
    text, patch, typing = case
    edits = sorted([patch, *typing], key=lambda edit: (edit.start, edit.end))
    reported = in_sequence(edits, data.draw(st.permutations(range(len(edits)))))
    after = apply(text, reported)
    for report in (reported, smallest(text, after), [Edit(0, len(text), after)]):
        assert judge(text, report, patch).echo


def check(before: str, patch: tuple[str, str], after: str, *, echo: bool, typing: Sequence[str] = ()) -> None:
    """A client that compares texts reports how `before` became `after` while `patch` was on its way.

    `before` is marked with the place of the patch, which replaces `patch[0]` by `patch[1]`. `typing` are
    the user's insertions, and deletions after a minus, from the bottom up.
    """
    source = marked.parse(before)
    removed, text = patch
    assert source.text[source.at :].startswith(removed)
    expected = Edit(source.at, source.at + len(removed), text)
    verdict = judge(source.text, smallest(source.text, after), expected)
    assert verdict.echo == echo
    now = apply(source.text, [expected]) if echo else source.text
    told = []
    for edit in verdict.typing:
        told += [f"-{now[edit.start : edit.end]}"] if edit.end > edit.start else []
        told += [edit.text] if edit.text else []
        now = apply(now, [edit])
    assert told == list(typing)


CODE = "def f():\n    <|>return 1\n\n\ndef g():\n    return 2\n"


@pytest.mark.parametrize(
    ("before", "patch", "after", "echo", "typing"),
    [
        pytest.param(
            "<|># a\n", ("", "# fixed\n"), "# fixed\n# a\n", True, (), id="reported from inside the line"
        ),
        pytest.param("a = <|>1\n", ("1", "2"), "a = 2\n", True, (), id="a replacement"),
        pytest.param(
            "a = 1\n<|>a = 1\nb\n", ("a = 1\n", ""), "a = 1\nb\n", True, (), id="a deletion of one of two"
        ),
        pytest.param(
            CODE,
            ("", "x = 1\n    "),
            "def f():\n    x = 1\n    return 1\n\n\ndef g():\n    return 23\n",
            True,
            ("3",),
            id="typed below",
        ),
        pytest.param(
            CODE,
            ("", "x = 1\n    "),
            "# note\ndef f():\n    x = 1\n    return 1\n\n\ndef g():\n    return 2\n",
            True,
            ("# note\n",),
            id="typed above",
        ),
        pytest.param(
            CODE,
            ("", "x = 1\n    "),
            "#\ndef f():\n    x = 1\n    return 1\n\n\ndef g():\n    return 23\n",
            True,
            ("3", "#\n"),
            id="typed above and below",
        ),
        pytest.param(
            CODE,
            ("", "x = 1\n    "),
            "def f(a):\n    x = 1\n    return a\n\n\ndef g():\n    return 2\n",
            True,
            ("-1", "a", "a"),
            id="typed around",
        ),
        pytest.param(
            CODE,
            ("", "x = 1\n    "),
            "def f():\n    x = 10\n    return 1\n\n\ndef g():\n    return 2\n",
            True,
            ("0",),
            id="typed into the patch",
        ),
        pytest.param(
            CODE,
            ("", "x = 1\n    "),
            "def f():\n    x = 1\n    return 1\n\n\ndef g(a):\n    return 2\n",
            True,
            ("a",),
            id="typed far below",
        ),
        pytest.param(
            CODE,
            ("return 1", "pass"),
            "def f():\n    pass\n\n\ndef g():\n    return\n",
            True,
            ("- 2",),
            id="deleted below",
        ),
        pytest.param(
            CODE,
            ("return 1\n", ""),
            "def f():\n    \n\ndef g():\n    return 22\n",
            True,
            ("2",),
            id="a deletion, and typed below",
        ),
        pytest.param(
            CODE,
            ("", "x = 1\n    "),
            "def f():\n    return 12\n\n\ndef g():\n    return 2\n",
            False,
            ("2",),
            id="typing only",
        ),
        pytest.param(
            CODE,
            ("", "x = 1\n    "),
            "def f():\n    y = 2\n    return 1\n\n\ndef g():\n    return 2\n",
            False,
            ("y = 2\n    ",),
            id="typing of the same shape",
        ),
        pytest.param(
            CODE,
            ("", "x = 1\n    "),
            "def f(a):\n    return 1\n\n\ndef g(b):\n    return 2\n",
            False,
            ("b", "a"),
            id="typing above and below only",
        ),
        pytest.param(
            CODE,
            ("return 1\n", ""),
            "def f():\n    return 1\n\n\ndef g():\n    return 22\n",
            False,
            ("2",),
            id="typing while a deletion waits",
        ),
        pytest.param(
            CODE,
            ("return 1", "pass"),
            "def f():\n    return 1\n\n\ndef g():\n    return 2\n",
            False,
            (),
            id="nothing at all",
        ),
        pytest.param("red<|>blue", ("", "!"), "red!!blue", True, ("!",), id="the same key beside the patch"),
    ],
)
def test_stories(before: str, patch: tuple[str, str], after: str, echo: bool, typing: Sequence[str]) -> None:
    check(before, patch, after, echo=echo, typing=typing)


def test_a_patch_among_several_edits_counts_even_if_it_was_taken_back() -> None:
    patch = Edit(2, 2, "xyz")
    assert judge("abcd", [patch, Edit(2, 5, "")], patch) == Verdict(True, (Edit(2, 5, ""),))
    typed_before = [Edit(0, 0, "1"), Edit(3, 3, "xyz"), Edit(3, 6, "")]
    assert judge("abcd", typed_before, patch).echo


def test_without_a_patch_everything_is_typing() -> None:
    assert judge("abcd", [Edit(1, 1, "x"), Edit(2, 2, "y")], None) == Verdict(False, (Edit(1, 1, "xy"),))
    assert judge("abcd", [], None) == Verdict(False, ())


def test_a_patch_that_does_nothing_is_its_own_echo() -> None:
    nothing = Edit(2, 2, "")
    assert judge("abcd", [], nothing) == Verdict(True, ())
    assert judge("abcd", [Edit(1, 1, "x")], nothing) == Verdict(False, (Edit(1, 1, "x"),))


def test_a_patch_outside_the_document_is_no_error() -> None:
    assert not judge("ab", [Edit(0, 0, "x")], Edit(7, 9, "y")).echo


def test_many_edits_at_once_are_one_change() -> None:
    text, patch = "a " * 200, Edit(0, 0, "patch")
    rename = [Edit(at, at + 1, "b") for at in range(0, len(text), 2)]
    assert not judge(text, rename, patch).echo
    assert judge(text, [*rename, patch], patch).echo


def test_the_work_does_not_follow_the_size_of_the_document() -> None:
    def work(lines: int) -> int:
        before = opened("    return value\n" * lines)
        edit = Edit(before.length // 2, before.length // 2, "x")
        after = before.edited(edit, 2)
        patch = Edit(before.length - 40, before.length - 40, "y = 1\n")
        return steps(lambda: classify(before, after, [edit], patch))

    assert work(20_000) <= work(2_000)
