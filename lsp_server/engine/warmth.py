"""Reading ahead: a model sees a file before the first key in it, and a function before what is to change."""

import asyncio
import contextlib
from collections.abc import Callable

from lsp_server.core.document import Document
from lsp_server.core.prompt import completion_prompt
from lsp_server.engine.context import ContextSource
from lsp_server.engine.errors import MidstreamError
from lsp_server.engine.job import Job
from lsp_server.engine.ports import Backend, Request
from lsp_server.engine.suggestion import is_weak

PATIENCE = 0.3
"""Seconds without another file being opened: an editor that restores a session opens dozens at once."""


class Warmth:
    """Warms a model for the file that was opened last, or for the edit that is to come, and for no other."""

    def __init__(self, backend: Callable[[], Backend], context: ContextSource) -> None:
        self._backend = backend
        self._context = context
        self._task: asyncio.Task[None] | None = None

    def opened(self, document: Document) -> None:
        """A file was opened. Weights that continue text gain nothing: their prompt is the cursor's."""
        self.stop()
        self._task = asyncio.create_task(self._warm(document), name=f"warm {document.uri}")

    def prepared(self, job: Job) -> None:
        """What the user wants of this edit is yet to come."""
        self.stop()
        self._task = asyncio.create_task(_read(job), name=f"prepare {job.uri}")

    def stop(self) -> None:
        """Nothing is read ahead any more."""
        if self._task is not None:
            self._task.cancel()

    async def close(self) -> None:
        """As `stop`, and wait for it."""
        self.stop()
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _warm(self, document: Document) -> None:
        await asyncio.sleep(PATIENCE)
        backend = self._backend()
        await self._context.prepare(document, backend.style)
        if is_weak(backend.style):
            return
        # Without snippets: those of a request depend on its place, and what does not match is paid twice.
        prompt = completion_prompt(document, 0, backend.style)
        await backend.warm(Request("complete", prompt, max_tokens=16, cache_key=document.uri))


async def _read(job: Job) -> None:
    """Where the model has no room for the code, the edit itself will say so."""
    with contextlib.suppress(MidstreamError):
        await job.backend.warm(job.request)
