"""Whether Midstream may speak up, and what is the matter when it does not."""

import asyncio
import math
from collections.abc import Callable

from lsp_server.core.document import Document
from lsp_server.engine.errors import MidstreamError
from lsp_server.engine.ignore import IgnoreFiles
from lsp_server.engine.ports import Editor, Status
from lsp_server.settings import Settings


class Presence:
    """Pauses, refusals and troubles; each cause is told once a session. `trouble` is the last failure."""

    def __init__(self, settings: Callable[[], Settings], editor: Editor) -> None:
        self._settings = settings
        self._editor = editor
        self._ignored = IgnoreFiles()
        self._told: set[str] = set()
        self._paused_until: float | None = None
        self.trouble: str | None = None

    @property
    def paused(self) -> bool:
        """True while the user wants no completions."""
        if self._paused_until is None:
            return False
        if asyncio.get_running_loop().time() < self._paused_until:
            return True
        self._paused_until = None
        return False

    def pause(self, minutes: float | None) -> None:
        """No completions for `minutes`; None toggles without an end, 0 goes on at once."""
        if minutes is None:
            self._paused_until = None if self.paused else math.inf
        else:
            now = asyncio.get_running_loop().time()
            self._paused_until = now + minutes * 60 if minutes > 0 else None

    def silence(self, document: Document) -> str | None:
        """Why a document gets no completions, in a sentence; None when it does."""
        if self.paused:
            return "Midstream is paused."
        if not self._settings().complete.serves(document.language):
            return f"Completions are switched off for {document.language} in the settings."
        return self.secrecy(document)

    def secrecy(self, document: Document) -> str | None:
        """Why nothing of a document may leave, in a sentence; None when it may."""
        if self._settings().trusted is False:
            return "The workspace is not trusted, so nothing of it is sent; trust it in the editor first."
        return self._ignored.reason(document.uri, self._settings().context.ignore)

    def tell(self, reason: str) -> None:
        """Say once a session why an explicit request is not answered."""
        if reason not in self._told:
            self._told.add(reason)
            self._editor.show("info", reason)

    def report(self, error: MidstreamError) -> None:
        """Tell of a failure once per cause and session; the status keeps it."""
        self.trouble = str(error)
        self._editor.status(Status("error", message=str(error), command="midstream.doctor"))
        if error.code not in self._told:
            self._told.add(error.code)
            self._editor.show("warning", str(error))

    def recovered(self) -> None:
        """A model answered: the trouble is over."""
        if self.trouble is not None:
            self.trouble = None
            self._editor.status(Status("ready"))
