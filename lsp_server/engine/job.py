"""What one generation is to do, fixed when it starts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from lsp_server.core.edits import Edit
from lsp_server.core.syntax.scope import Scope
from lsp_server.engine.ports import Backend, Request, Task


class Rewriter(Protocol):
    """Turns cleaned reply text into edits of the region; `screen` is the region's text after them."""

    screen: str

    def push(self, text: str) -> list[Edit]: ...

    def finish(self) -> list[Edit]:
        """The remaining edits. Raises EditRefused when the reply cannot be applied."""


class Filter(Protocol):
    """Cleans a raw reply; `complete` says that nothing useful can follow."""

    @property
    def complete(self) -> bool: ...

    def push(self, text: str) -> str: ...

    def finish(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Job:
    """What one generation is to do; everything in it is fixed when it starts."""

    id: str
    uri: str
    kind: Task
    scope: Scope
    instructions: tuple[str, ...]
    original: str
    make_request: Callable[[], Request]
    backend: Backend
    label: str
    delivery: Literal["stream", "atomic"]
    make_filter: Callable[[], Filter]
    make_rewriter: Callable[[str], Rewriter]

    @property
    def request(self) -> Request:
        """What the model is asked. Raises EditRefused when it has no room for the scope.

        Written when it is asked for, so that the user's command is not kept waiting by it.
        """
        return self.make_request()
