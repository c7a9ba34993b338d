"""One reply streamed into one region: a reader half that listens, a writer half that patches.

The reader buffers text, never edits: an edit is computed only when nothing else is under way to the
document, so it always meets the text that the client last reported.
"""

import asyncio
import contextlib

from lsp_server.core.edits import Edit, Patch, replacement
from lsp_server.engine.errors import EditRefused, Interrupted, MidstreamError
from lsp_server.engine.job import Job
from lsp_server.engine.pace import Pace, joined, merged, safe_parts
from lsp_server.engine.patches import Landing, Region
from lsp_server.engine.ports import (
    ApplyReply,
    Delta,
    Editor,
    Finish,
    Outcome,
    Progress,
    Result,
    Status,
    Usage,
)
from lsp_server.engine.workspace import Workspace
from lsp_server.texts import edits as texts

CONFIRM_PATIENCE = 5.0
"""Seconds to wait for the client's report of a patch: eglot takes 0.5 s after the last key."""

REFUSAL_PATIENCE = 1.0
"""Seconds in which a refused patch must be followed by the change that explains the refusal."""


class Generation:
    """A running or ended job. `region` follows its text, also after the end."""

    def __init__(self, job: Job, region: Region, workspace: Workspace, editor: Editor) -> None:
        self.job = job
        self.region = region
        self._workspace = workspace
        self._editor = editor
        self._reason: Outcome | None = None
        self._pending: list[str] = []
        self._arrived = asyncio.Event()
        self._heard_all = asyncio.Event()
        self._whole = False
        self._first_token: float | None = None
        self._tokens = 0
        self._usage: Usage | None = None
        self.edits = 0
        self._added = 0
        self._deleted = 0
        loop = asyncio.get_running_loop()
        self._started = loop.time()
        self.result: asyncio.Future[Result] = loop.create_future()
        self._task = loop.create_task(self._run(), name=f"generation {job.id}")
        self._task.add_done_callback(self._ended)

    @property
    def running(self) -> bool:
        """True until the result is known; a cancelled generation counts as ended at once."""
        return self._reason is None and not self._task.done()

    def cancel(self, reason: Outcome) -> bool:
        """End it for `reason`; False when it had ended already. Only the assistant calls this."""
        if not self.running:
            return False
        self._reason = reason
        self._task.cancel()
        return True

    async def gone(self) -> None:
        """Wait until nothing of it runs any more."""
        await asyncio.wait([self._task])

    def progress(self) -> Progress:
        """What the user sees of it while it runs."""
        elapsed = self._now() - self._started
        first = self._first_token
        streaming = elapsed - first if first is not None else 0.0
        return Progress(
            id=self.job.id,
            uri=self.job.uri,
            kind=self.job.kind,
            tokens=self._tokens,
            tokens_per_second=round(self._tokens / streaming, 1) if streaming > 0 else 0.0,
            first_token_ms=None if first is None else round(first * 1000, 1),
        )

    def _now(self) -> float:
        return self.result.get_loop().time()

    async def _run(self) -> Outcome:
        reader = asyncio.create_task(self._read(), name=f"reader {self.job.id}")
        try:
            await self._write()
            await reader
        except EditRefused as refused:
            if refused.restores:
                await self._restore()
            raise
        finally:
            reader.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await reader
        return "done" if self.edits else "unchanged"

    async def _read(self) -> None:
        """Clean the reply as it comes; stop listening once it is complete."""
        cleaner = self.job.make_filter()
        finished = False
        try:
            async with contextlib.aclosing(self.job.backend.stream(self.job.request)) as stream:
                async for event in stream:
                    match event:
                        case Delta(text=text):
                            self._heard(cleaner.push(text))
                        case Finish(reason=reason, usage=usage):
                            self._usage = usage
                            finished = True
                            if reason == "length":
                                raise Interrupted(texts.LONGER_THAN_ALLOWED)
                    if cleaner.complete:
                        finished = True
                        break
            if not finished:
                raise Interrupted(texts.BROKE_OFF)
            self._pending.append(cleaner.finish())
            self._whole = True
        finally:
            self._heard_all.set()
            self._arrived.set()

    def _heard(self, text: str) -> None:
        self._tokens += 1
        if self._first_token is None:
            self._first_token = self._now() - self._started
        if text:
            self._pending.append(text)
            self._arrived.set()

    async def _write(self) -> None:
        await self._quiet()
        span = self.region.span
        document = self._workspace.get(self.job.uri)
        rewriter = self.job.make_rewriter(document.slice(span.start, span.end) if document else "")
        pace = Pace(grouped=self._editor.groups_undo, atomic=self.job.delivery == "atomic")
        while not self._heard_all.is_set():
            await self._arrived.wait()
            if not await self._reached(pace.next()):
                break
            before = rewriter.screen
            edits = rewriter.push(self._take())
            await self._land(before, edits)
            self._editor.status(Status("working", model=self.job.backend.name, generation=self.progress()))
        before = rewriter.screen
        edits = rewriter.push(self._take())
        if self._whole:
            edits += rewriter.finish()
        await self._land(before, edits)

    async def _reached(self, moment: float | None) -> bool:
        """Wait until `moment` on the loop's clock (None: never); False once the reply is whole."""
        if moment is None or asyncio.get_running_loop().time() < moment:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(moment):
                    await self._heard_all.wait()
        return not self._heard_all.is_set()

    def _take(self) -> str:
        text = "".join(self._pending)
        self._pending.clear()
        self._arrived.clear()
        return text

    async def _land(self, before: str, edits: list[Edit]) -> None:
        """Bring edits to the client in as few patches as may be, or as one where each is an undo step."""
        if self._editor.groups_undo:
            edits = joined(before, edits)
        elif edits:
            edits = [part for edit in merged(before, edits) for part in safe_parts(edit, before)]
        for edit in edits:
            await self._land_one(edit)

    async def _land_one(self, edit: Edit) -> None:
        """Send one edit until the client reports it. Raises EditRefused when that cannot be."""
        refusals = 0
        while True:
            await self._quiet()
            document = self._workspace.get(self.job.uri)
            if document is None:
                raise EditRefused(texts.CLOSED_MEANWHILE)
            start = self.region.span.start
            absolute = Edit(start + edit.start, start + edit.end, edit.text)
            outstanding = self._workspace.send(
                self.job.uri,
                absolute,
                self.job.id,
                blind=not self._editor.checks_version(document.version),
                send=self._apply,
            )
            await asyncio.wait([outstanding.landing], timeout=CONFIRM_PATIENCE)
            if not outstanding.landing.done():
                raise EditRefused(texts.NOT_REPORTED)
            match outstanding.landing.result():
                case Landing.LANDED:
                    self.edits += 1
                    self._added += len(edit.text)
                    self._deleted += edit.end - edit.start
                    return
                case Landing.MISPLACED:
                    raise EditRefused(texts.MET_A_KEY)
                case Landing.CLOSED:
                    raise EditRefused(texts.CLOSED_MEANWHILE)
                case Landing.REFUSED:
                    explained = await self._workspace.changed(
                        self.job.uri, document.version, REFUSAL_PATIENCE
                    )
                    refusals += 1
                    if not explained or refusals > MAXIMUM_REFUSALS:
                        raise EditRefused(texts.EDIT_REFUSED)
                case Landing.LOST:
                    pass

    async def _apply(self, patch: Patch) -> ApplyReply:
        """Send a patch, unless the generation was cancelled in the turn of the loop before this one."""
        if not self.running:
            return "refused"
        return await self._editor.apply(
            patch, generation=self.job.id, first=self.edits == 0, label=self.job.label
        )

    async def _quiet(self) -> None:
        """Wait until no patch is under way to the document."""
        if not await self._workspace.settled(self.job.uri, CONFIRM_PATIENCE):
            raise EditRefused(texts.EARLIER_NOT_REPORTED)

    async def _restore(self) -> None:
        """Put the region back as it was before the generation."""
        document = self._workspace.get(self.job.uri)
        if document is None or self.edits == 0:
            return
        screen = document.slice(self.region.span.start, self.region.span.end)
        back = replacement(screen, self.job.original)
        if back is not None:
            await self._land(screen, [back])

    def _ended(self, task: asyncio.Task[Outcome]) -> None:
        """Resolve the result exactly once, however the task ended, even if it never ran."""
        message: str | None = None
        outcome: Outcome
        if task.cancelled():
            outcome = self._reason or "closed"
        elif (error := task.exception()) is None:
            outcome = task.result()
        elif isinstance(error, EditRefused):
            outcome, message = "rejected", str(error)
        elif isinstance(error, MidstreamError):
            outcome, message = "failed", str(error)
        else:
            outcome, message = (
                "failed",
                texts.EDIT_FAILED.format(name=type(error).__name__),
            )
            task.get_loop().call_exception_handler(
                {"message": f"generation {self.job.id} failed", "exception": error, "task": task}
            )
        usage = self._usage
        self.result.set_result(
            Result(
                id=self.job.id,
                uri=self.job.uri,
                outcome=outcome,
                edits=self.edits,
                characters_added=self._added,
                characters_deleted=self._deleted,
                output_tokens=usage.output_tokens if usage else self._tokens,
                first_token_ms=None if self._first_token is None else round(self._first_token * 1000, 1),
                total_ms=round((self._now() - self._started) * 1000, 1),
                message=message,
            )
        )


MAXIMUM_REFUSALS = 50
