"""Ending an answer before a given text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.model.stops import StopCutter


def cut(pieces: list[str], stops: list[str]) -> str:
    cutter = StopCutter(stops)
    return "".join([*map(cutter.push, pieces), cutter.finish()])


@pytest.mark.parametrize(
    ("pieces", "stops", "text"),
    [
        (["a\nb"], ["\n"], "a"),
        (["a", "\n", "b"], ["\n"], "a"),
        (["a\n", "\nb"], ["\n\n"], "a"),
        (["a\n", "b"], ["\n\n"], "a\nb"),
        (["a\n"], ["\n\n"], "a\n"),
        (["ab"], [], "ab"),
        (["ab"], [""], "ab"),
        (["xEN", "D1"], ["END2", "ND1"], "xE"),
    ],
)
def test_cases(pieces: list[str], stops: list[str], text: str) -> None:
    assert cut(pieces, stops) == text


WORDS = st.text(alphabet="ab\n", max_size=12)


@given(st.lists(WORDS), st.lists(st.text(alphabet="ab\n", min_size=1, max_size=3), min_size=1, max_size=3))
def test_no_stop_text_passes_and_nothing_else_is_lost(pieces: list[str], stops: list[str]) -> None:
    whole = "".join(pieces)
    first = min((at for stop in stops if (at := whole.find(stop)) >= 0), default=len(whole))
    ends_early = cut(pieces, stops)
    assert whole.startswith(ends_early)
    if first == len(whole):
        assert ends_early == whole
    else:
        assert len(ends_early) <= min(whole.find(stop) + len(stop) for stop in stops if stop in whole)
        assert not any(stop in ends_early for stop in stops)
