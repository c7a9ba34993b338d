"""Streams over HTTP as push machines: server-sent events, and JSON lines.

They take bytes in any pieces, a character or a line end cut in two included. Source: the WHATWG HTML
standard, "Server-sent events", section on parsing; a byte order mark at the start is dropped.
"""

import re
from dataclasses import dataclass

_ENDS = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event; `kind` is "message" where the server names none."""

    kind: str
    data: str


class LineDecoder:
    """Cuts a stream into lines that end in LF, CRLF or CR."""

    def __init__(self) -> None:
        self._held = b""
        self._started = False

    def push(self, data: bytes) -> list[str]:
        data = self._held + data
        if not self._started:
            if len(data) < 3 and b"\xef\xbb\xbf".startswith(data):
                self._held = data
                return []
            self._started = True
            data = data.removeprefix(b"\xef\xbb\xbf")
        # A CR at the end may be the first half of a CRLF.
        last = data[-1:] if data.endswith(b"\r") else b""
        *lines, rest = _ENDS.split(data[: len(data) - len(last)])
        self._held = rest + last
        return [line.decode("utf-8", "replace") for line in lines]

    def finish(self) -> list[str]:
        """The last line, when the stream ended without ending it."""
        held, self._held = self._held.removesuffix(b"\r"), b""
        return [held.decode("utf-8", "replace")] if held else []


class EventDecoder:
    """Server-sent events from bytes. An event that the stream cuts off is dropped, as the standard says."""

    def __init__(self) -> None:
        self._lines = LineDecoder()
        self._kind = ""
        self._data: list[str] = []

    def push(self, data: bytes) -> list[Event]:
        events = [self._line(line) for line in self._lines.push(data)]
        return [event for event in events if event is not None]

    def _line(self, line: str) -> Event | None:
        if not line:
            event = Event(self._kind or "message", "\n".join(self._data)) if self._data else None
            self._kind, self._data = "", []
            return event
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._kind = value
        elif name == "data":
            self._data.append(value)
        return None
