"""Error frames as a client reads them; their exact text is checked with the parser in test_server."""

from lsp_server.wire.client import ErrorEvent, decode
from lsp_server.wire.errors import ErrorFrame, previous_response_not_found


def test_an_error_frame_is_read_back() -> None:
    assert decode(previous_response_not_found("r", "m0").encode()) == ErrorEvent(
        "previous_response_not_found",
        "Previous response with id 'r' not found.",
        "previous_response_id",
        400,
        "m0",
    )


def test_status_and_kind_travel() -> None:
    frame = ErrorFrame("rate_limit_exceeded", "Slow down.", status=429, kind="requests")
    assert decode(frame.encode()) == ErrorEvent("rate_limit_exceeded", "Slow down.", status=429)
