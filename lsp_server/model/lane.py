"""One answer in flight on a WebSocket, and the request it belongs to."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

from lsp_server.model.inbox import Inbox
from lsp_server.wire.client import Created, Ended, ServerEvent, TextDelta
from lsp_server.wire.text import SurrogateJoiner


@dataclass(frozen=True, slots=True)
class Call:
    """One request, before its socket and lane are chosen.

    `build` makes the frame from the lane's name and from the response to continue from, either None.
    `continues` names the context it can continue from, `provides` the one that a warm-up leaves behind.
    """

    build: Callable[[str | None, str | None], str]
    continues: Hashable | None = None
    provides: Hashable | None = None


class Lane(Inbox[ServerEvent]):
    """`live` means that somebody waits for the answer; `created` and `ended`, that its first and its last
    event have come."""

    def __init__(self, name: str | None, call: Call) -> None:
        super().__init__()
        self.name = name
        self.call = call
        self.created = False
        self.ended = False
        self._joiner = SurrogateJoiner()

    def push(self, event: ServerEvent) -> None:
        if isinstance(event, TextDelta):
            self.deltas += 1
            text = self._joiner.push(event.text)
            event = event if text == event.text else replace(event, text=text)
        elif isinstance(event, Created):
            self.created = True
        elif isinstance(event, Ended) and (rest := self._joiner.finish()):
            self.put(TextDelta(rest))
        self.put(event)
