"""What answers a request: a generator of pieces, whether a model or a script stands behind it."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Literal

from lsp_server.wire.answer import TokenLogprob
from lsp_server.wire.client import Usage
from lsp_server.wire.errors import ErrorFrame
from lsp_server.wire.server import Create


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the answer. `logprobs` are sent where the client asked for them.

    `timings` are what is known by the first piece: a client that stops the answer early sees no more.
    """

    text: str
    logprobs: tuple[TokenLogprob, ...] = ()
    timings: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Done:
    """The last item of an answer. `timings` go into the response as they are."""

    reason: Literal["stop", "length", "filter"] = "stop"
    usage: Usage = field(default_factory=Usage)
    timings: dict[str, float] = field(default_factory=dict)


class Refused(Exception):
    """Raised by a generator that cannot serve the request; `frame` goes to the client."""

    def __init__(self, frame: ErrorFrame) -> None:
        super().__init__(frame.message)
        self.frame = frame


class Hangup(Exception):
    """Raised by a generator that wants the connection closed with this code; 1006 drops it without a word."""

    def __init__(self, code: int) -> None:
        super().__init__(f"hang up with {code}")
        self.code = code


Generate = Callable[[Create], AsyncGenerator[Piece | Done | str, None]]
"""Answers one request. Closing the generator cancels the work.

The request's `messages` hold the whole conversation, earlier answers included. A `str` is sent as
a frame of its own, which recordings use. With `generate=False` only the final `Done` counts.
"""
