"""Server-sent events and JSON lines, cut anywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.model.sse import Event, EventDecoder, LineDecoder
from tests.support.transcript import cuts, pieces

THREE = 'event: a\ndata: {"x": "é🦊"}\n\n: ping\n\ndata: one\ndata:two\nid: 7\n\nevent: c\ndata: [DONE]\n\n'
EVENTS = [Event("a", '{"x": "é🦊"}'), Event("message", "one\ntwo"), Event("c", "[DONE]")]


def decoded(parts: list[bytes]) -> list[Event]:
    decoder = EventDecoder()
    return [event for part in parts for event in decoder.push(part)]


ENDS = {
    "lf": THREE,
    "crlf": THREE.replace("\n", "\r\n"),
    "cr": THREE.replace("\n", "\r") + "\n",
    "mixed": THREE.replace("\n", "\r\n", 3),
    "bom": "\ufeff" + THREE,
}


@pytest.mark.parametrize("ends", ENDS)
def test_B92_every_offset_of_a_body_with_every_line_end(ends: str) -> None:
    body = ENDS[ends].encode()
    for at in range(len(body) + 1):
        assert decoded([body[:at], body[at:]]) == EVENTS


@given(st.sampled_from(sorted(ENDS)), cuts())
def test_B92_any_cuts(ends: str, sizes: list[int]) -> None:
    assert decoded(pieces(ENDS[ends].encode(), sizes)) == EVENTS


@pytest.mark.parametrize(
    ("body", "events"),
    [
        (b"data: cut off\n", []),
        (b"data: cut off", []),
        (b"event: x\n\n", []),
        (b"data\n\n", [Event("message", "")]),
        (b"retry: 1\nnonsense\n\ndata: a\n\n", [Event("message", "a")]),
        (b"data: \xff\n\n", [Event("message", "\ufffd")]),
    ],
)
def test_odd_bodies(body: bytes, events: list[Event]) -> None:
    assert decoded([body]) == events


@given(st.lists(st.text(alphabet="aé🦊 ", max_size=5)), st.sampled_from(["\n", "\r\n", "\r"]), cuts())
def test_lines_come_back_whole(lines: list[str], end: str, sizes: list[int]) -> None:
    decoder = LineDecoder()
    body = "".join(line + end for line in lines).encode() + b"last"
    taken = [line for part in pieces(body, sizes) for line in decoder.push(part)]
    assert [*taken, *decoder.finish()] == [*lines, "last"]
