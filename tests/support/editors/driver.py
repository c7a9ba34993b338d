"""What every driven editor can do, so that one test runs on all of them."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Driver(Protocol):
    """One editor with one language server."""

    def open(self, path: Path) -> None:
        """Open a file and put the cursor at its start."""

    def wait_until_served(self) -> None:
        """Wait until the server has taken the file."""

    def type(self, text: str) -> None:
        """Type at the cursor, as a user does."""

    def go_to_end(self) -> None:
        """Put the cursor at the end of the last line that has text."""

    def go_to(self, text: str) -> None:
        """Begin to insert behind the first place that reads so."""

    def run(self, command: str, argument: Mapping[str, Any]) -> None:
        """Run a command of the server, as a key of the user's would; its result is not waited for."""

    def undo(self) -> None:
        """Take back one undo step."""

    def rest(self) -> None:
        """Let more time pass than the editor ever holds changes back."""

    def text(self) -> str:
        """The true text of the buffer."""

    def close(self) -> None:
        """End the editor and all that it started."""


def wait_for(look: Callable[[], T], what: str, seconds: float = 30.0, *, pause: float = 0.02) -> T:
    """Look until there is something to see, and give it back."""
    end = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < end, f"waited {seconds:.0f} s for {what}; last seen: {seen!r}"
        time.sleep(pause)
    return seen
