"""Characters that arrive in two halves."""

from hypothesis import given
from hypothesis import strategies as st

from lsp_server.wire.text import SurrogateJoiner


def joined(pieces: list[str]) -> str:
    joiner = SurrogateJoiner()
    return "".join([*map(joiner.push, pieces), joiner.finish()])


def test_B91_two_halves_of_a_character_join() -> None:
    assert joined(["# \ud83e", "\udd8a!"]) == "# 🦊!"


@given(st.text(alphabet="aé測🦊🌒", max_size=12), st.data())
def test_any_cut_between_utf16_units_joins(text: str, data: st.DataObject) -> None:
    units = [chr(code) for code in memoryview(text.encode("utf-16-le")).cast("H")]
    pieces: list[str] = []
    while units:
        size = data.draw(st.integers(1, len(units)))
        pieces, units = [*pieces, "".join(units[:size])], units[size:]
    assert joined(pieces) == text


@given(st.lists(st.text(alphabet=["a", "\ud83e", "\udd8a"])))
def test_no_lone_half_ever_leaves(pieces: list[str]) -> None:
    joined(pieces).encode("utf-8")
