"""Whether Midstream may speak up, and what is the matter when it does not."""

import asyncio
import math
from collections.abc import Callable

from lsp_server.core.document import Document
from lsp_server.engine.errors import MidstreamError
from lsp_server.engine.generations import Generations
from lsp_server.engine.ignore import IgnoreFiles
from lsp_server.engine.ports import Editor, Status
from lsp_server.settings import Settings
from lsp_server.texts import edits as texts


class Presence:
    """Pauses, refusals and troubles; each cause is told once a session.

    `trouble` is the failure that lasts, `quiet` why the last request was not served at all.
    """

    def __init__(
        self,
        settings: Callable[[], Settings],
        editor: Editor,
        generations: Generations,
        model: Callable[[], str],
    ) -> None:
        self._settings = settings
        self._editor = editor
        self._generations = generations
        self._model = model
        self._ignored = IgnoreFiles()
        self._told: set[str] = set()
        self._paused_until: float | None = None
        self.trouble: str | None = None
        self.quiet: str | None = None

    def status(self) -> Status:
        """The state of the product as the user would ask for it."""
        running = next((each for each in self._generations if each.running), None)
        model = self._model()
        if self.paused:
            return Status("paused", model=model, message=texts.PAUSED, command="midstream.pause")
        if running is not None:
            return Status("working", model=running.job.backend.name, generation=running.progress())
        if self.trouble is not None:
            return Status("error", model=model, message=self.trouble, command="midstream.doctor")
        return Status("ready", model=model, message=self.quiet)

    def show(self) -> None:
        """Show the state as it is now."""
        self._editor.status(self.status())

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
            return texts.PAUSED
        if not self._settings().complete.serves(document.language):
            return texts.SWITCHED_OFF.format(language=document.language)
        return self.secrecy(document)

    def secrecy(self, document: Document) -> str | None:
        """Why nothing of a document may leave, in a sentence; None when it may."""
        if self._settings().trusted is False:
            return texts.UNTRUSTED
        return self._ignored.reason(document.uri, self._settings().context.ignore)

    def hushed(self, reason: str | None, *, invoked: bool) -> None:
        """A request is not served for this reason, or served (None): the status keeps it.

        Who asked for a completion is told once a session; who only types is not interrupted.
        """
        if reason != self.quiet:
            self.quiet = reason
            self.show()
        if reason is not None and invoked and reason not in self._told:
            self._told.add(reason)
            self._editor.show("info", reason)

    def report(self, error: MidstreamError) -> None:
        """Tell of a failure once per cause and session; the status keeps it."""
        self.failed(str(error))
        if error.code not in self._told:
            self._told.add(error.code)
            self._editor.show("warning", str(error))

    def failed(self, sentence: str) -> None:
        """A model failed, and the user has heard of it."""
        self.trouble = sentence
        self.show()

    def recovered(self) -> None:
        """A model answered: the trouble is over."""
        if self.trouble is not None:
            self.trouble = None
            self.show()
