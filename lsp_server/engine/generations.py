"""The last edit of each document: running, or ended and still open to revert and redirect."""

from collections.abc import Iterator

from lsp_server.engine.errors import EditRefused
from lsp_server.engine.generation import Generation
from lsp_server.engine.workspace import Workspace
from lsp_server.texts import edits as texts


class Generations:
    """At most one a document; the newest is the last in the order."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._latest: dict[str, Generation] = {}

    def __iter__(self) -> Iterator[Generation]:
        return iter(list(self._latest.values()))

    def add(self, generation: Generation) -> None:
        """The newest of its document, and of all."""
        self._latest.pop(generation.job.uri, None)
        self._latest[generation.job.uri] = generation

    def of(self, uri: str) -> Generation | None:
        """The last one in a document."""
        return self._latest.get(uri)

    def running(self, uri: str) -> Generation | None:
        """The one that runs in a document."""
        generation = self._latest.get(uri)
        return generation if generation is not None and generation.running else None

    def interrupted(self, uri: str) -> bool:
        """True when the last edit was interrupted, so that a new instruction redirects it."""
        last = self._latest.get(uri)
        if last is None or last.running:
            return False
        # One that is still unwinding was cancelled just now.
        return not last.result.done() or last.result.result().outcome in ("typed_over", "stopped", "failed")

    def find(self, target: str | None) -> Generation:
        """The one with this id or in this document, else the newest. Raises EditRefused without any."""
        found = self._latest.get(target) if target else next(reversed(self._latest.values()), None)
        if found is None:
            found = next((each for each in self if each.job.id == target), None)
        if found is None:
            raise EditRefused(texts.NO_EDIT_HERE)
        return found

    def forget(self, uri: str) -> None:
        """Drop what would be needed to revert or redirect the last edit of a document."""
        last = self._latest.pop(uri, None)
        if last is not None:
            self._workspace.release(uri, last.region)
