"""The error frames of the contract, word for word, and the error of a frame that cannot be read.

Source of the texts: the provider's WebSocket guide.
"""

import json
from dataclasses import dataclass
from typing import Any

from lsp_server.wire.lanes import MAX_NAMES

PREVIOUS_RESPONSE_NOT_FOUND = "previous_response_not_found"
INVALID_STREAM_ID = "invalid_stream_id"
STREAM_LIMIT_REACHED = "websocket_stream_limit_reached"
CONNECTION_LIMIT_REACHED = "websocket_connection_limit_reached"


class WireError(ValueError):
    """A frame that is no event of the contract: broken JSON, no object, no type, a field of a wrong type."""


@dataclass(frozen=True, slots=True)
class ErrorFrame:
    """One `error` event. `lane` is the request's `stream_id`, None on the default lane."""

    code: str | None
    message: str
    param: str | None = None
    lane: str | None = None
    status: int = 400
    kind: str = "invalid_request_error"

    def encode(self) -> str:
        error: dict[str, Any] = {"type": self.kind, "code": self.code, "message": self.message}
        if self.param is not None:
            error["param"] = self.param
        frame: dict[str, Any] = {"type": "error", "status": self.status}
        if self.lane is not None:
            frame["stream_id"] = self.lane
        return json.dumps(frame | {"error": error}, ensure_ascii=False)


def previous_response_not_found(response_id: str, lane: str | None) -> ErrorFrame:
    message = f"Previous response with id '{response_id}' not found."
    return ErrorFrame(PREVIOUS_RESPONSE_NOT_FOUND, message, "previous_response_id", lane)


def invalid_stream_id() -> ErrorFrame:
    message = (
        "The 'stream_id' field must be a non-empty string with at most 256 characters and may only contain "
        "letters, numbers, underscores, hyphens, and periods."
    )
    return ErrorFrame(INVALID_STREAM_ID, message, "stream_id")


def stream_limit_reached(lane: str, limit: int = MAX_NAMES) -> ErrorFrame:
    message = (
        f"This WebSocket connection has reached its maximum number of distinct stream IDs ({limit}). "
        "Reuse an existing stream_id or open a new WebSocket connection."
    )
    return ErrorFrame(STREAM_LIMIT_REACHED, message, "stream_id", lane)


def connection_limit_reached(minutes: int = 60) -> ErrorFrame:
    message = (
        f"Responses websocket connection limit reached ({minutes} minutes). "
        "Create a new websocket connection to continue."
    )
    return ErrorFrame(CONNECTION_LIMIT_REACHED, message)
