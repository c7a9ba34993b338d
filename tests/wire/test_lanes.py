"""Names of lanes."""

import pytest

from lsp_server.wire.lanes import MAX_NAMES, is_lane, lane_names


@pytest.mark.parametrize("name", ["a", "A_z-0.9", "x" * 256])
def test_well_formed(name: str) -> None:
    assert is_lane(name)


@pytest.mark.parametrize("name", ["", "x" * 257, "a b", "é", "a\n", None, 3])
def test_malformed(name: object) -> None:
    assert not is_lane(name)


def test_our_names_are_well_formed_and_distinct() -> None:
    names = lane_names(MAX_NAMES)
    assert all(map(is_lane, names))
    assert len(set(names)) == MAX_NAMES
