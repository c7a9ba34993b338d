"""Decides which generation lives. Every cancel of an edit comes from here.

All methods that change state are synchronous; what must wait is a coroutine that they return.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial

from lsp_server.core.document import Change, Document
from lsp_server.core.prompt import Problem
from lsp_server.core.syntax.scope import scope_at
from lsp_server.core.text import Span
from lsp_server.engine import edits
from lsp_server.engine.candidates import candidates
from lsp_server.engine.completer import Completer
from lsp_server.engine.context import ContextSource
from lsp_server.engine.errors import EditRefused
from lsp_server.engine.generation import Generation
from lsp_server.engine.generations import Generations
from lsp_server.engine.job import Job
from lsp_server.engine.patches import Misplaced, Region
from lsp_server.engine.ports import Backend, Editor, Models, Outcome, Result, Status, Task
from lsp_server.engine.presence import Presence
from lsp_server.engine.suggestion import Accepted, Ask, Item, nothing
from lsp_server.engine.takeback import take_edit_back, take_patch_back
from lsp_server.engine.warmth import Warmth
from lsp_server.engine.workspace import Changed, Workspace
from lsp_server.settings import Settings
from lsp_server.texts import edits as texts


class Assistant:
    """One per server process."""

    def __init__(
        self, settings: Callable[[], Settings], workspace: Workspace, models: Models, editor: Editor
    ) -> None:
        self._settings = settings
        self._workspace = workspace
        self._models = models
        self._editor = editor
        self.generations = Generations(workspace)
        self._numbers = itertools.count(1)
        self._background: set[asyncio.Task[None]] = set()
        self.presence = Presence(settings, editor, self.generations, lambda: models.name_of("complete"))
        self.context = ContextSource(settings, workspace, self.presence.secrecy)
        backend = partial(models.backend, "complete")
        self._warmth = Warmth(backend, self.context)
        self.completer = Completer(settings, backend, editor, self.presence, self.context)

    def document_opened(self, uri: str, language: str, version: int, text: str) -> None:
        """didOpen."""
        if self._workspace.get(uri) is not None:
            self.document_closed(uri)
        document = self._workspace.open(uri, language, version, text)
        self.context.opened(document)
        if self.presence.silence(document) is None:
            self._warmth.opened(document)

    def document_changed(self, uri: str, changes: Sequence[Change], version: int) -> None:
        """didChange: acknowledge our own patch, cancel what the user's typing ends."""
        changed = self._workspace.change(uri, changes, version)
        if changed is None:
            return
        self.context.changed(changed)
        if changed.typing:
            self._typed(changed)
        if changed.typing or changed.echo:
            self.completer.changed(changed)
        if changed.misplaced is not None:
            self._repair(uri, changed.misplaced)

    def document_closed(self, uri: str) -> None:
        """didClose: nothing follows a document that is gone, nor one that was renamed."""
        self.completer.closed(uri)
        self.context.closed(uri)
        self._end(uri, "closed")
        self.generations.forget(uri)
        self._workspace.close(uri)

    def edit(
        self,
        uri: str,
        selection: Span,
        instruction: str,
        *,
        model: str = "",
        problems: Sequence[Problem] = (),
        directive: bool = False,
    ) -> Generation:
        """Start an edit of the scope at `selection`; a running one in the same document is superseded.

        `problems` are the diagnostics that the edit is about. With `directive` the selection is a comment
        that holds the instruction; its lines go away with the edit. Raises EditRefused when the document
        is not open or there is no instruction.
        """
        document = self._readable(uri)
        if not instruction.strip():
            raise EditRefused(texts.EMPTY_INSTRUCTION)
        job = self._job_at(document, selection, instruction, model, problems, directive=directive)
        self._warmth.stop()
        self.completer.stop(uri)
        self._end(uri, "superseded")
        self.generations.forget(uri)
        return self._launch(job, self._workspace.region(uri, job.id, job.scope.span))

    def prepare(self, uri: str, selection: Span, *, model: str = "") -> None:
        """The user is about to say what to change at `selection`: have the model read the code there ahead.

        Raises EditRefused when the document is not open.
        """
        document = self._open(uri)
        if not self.presence.paused and self.presence.secrecy(document) is None:
            self._warmth.prepared(self._job_at(document, selection, "", model))

    def redirect(
        self, target: str | None, instruction: str, *, model: str = "", directive: Span | None = None
    ) -> Generation:
        """Give the running edit, or the last one, a new direction from what is on screen now."""
        last = self.generations.find(target)
        if not instruction.strip():
            raise EditRefused(texts.EMPTY_REDIRECT)
        backend = self._models.backend("edit", model)
        return self._again(last, backend, "edit", (*last.job.instructions, instruction), directive)

    def escalate(self, target: str | None) -> Generation:
        """Run the last edit again on the deep tier, with everything that the fast one saw."""
        last = self.generations.find(target)
        backend = self._models.backend("escalate")
        return self._again(last, backend, "escalate", last.job.instructions, None)

    def stop(self, target: str | None) -> Coroutine[None, None, Result]:
        """End the running edit, or the completion with this id; what is on screen stays."""
        if target is not None and (uri := self.completer.end(target)) is not None:
            return asyncio.sleep(0, Result(id=target, uri=uri, outcome="stopped"))
        generation = self.generations.find(target)
        generation.cancel("stopped")
        return self._result(generation)

    def revert(self, target: str | None) -> Coroutine[None, None, Result]:
        """Put the text before the edit back, except lines that the user changed since."""
        generation = self.generations.find(target)
        generation.cancel("stopped")
        return self._revert(generation)

    def accept(self, target: str | None) -> Coroutine[None, None, Result]:
        """Keep the edit for good: nothing is left to revert."""
        generation = self.generations.find(target)
        generation.cancel("stopped")
        self.generations.forget(generation.job.uri)
        return self._result(generation)

    def explain(self, uri: str, selection: Span) -> Coroutine[None, None, str]:
        """Explain the scope at `selection` in Markdown."""
        document = self._readable(uri)
        scope = scope_at(document, self._workspace.tree(uri), selection)
        return edits.explanation(document, scope, self._models.backend("explain"), self.context)

    def complete(self, ask: Ask) -> Awaitable[list[Item]]:
        """Answer an inline completion request, with nothing where none is wanted."""
        reason = self.presence.silence(ask.document)
        self.presence.hushed(reason, invoked=ask.invoked)
        if reason is not None:
            return nothing()
        first, count = self.completer.request(ask), self._settings().complete.candidates
        if not ask.invoked or count < 2:
            return first
        return candidates(ask, first, count, self.completer, self._models.backend("complete"))

    def accepted(self, item: str) -> Accepted | None:
        """The user took a suggestion: whose it was, None when it is not known any more."""
        return self.completer.accepted(item)

    def pause(self, minutes: float | None) -> None:
        """No completions for `minutes`; None toggles without an end, 0 goes on at once."""
        self.presence.pause(minutes)
        self.completer.stop()
        self.presence.show()

    def status(self) -> Status:
        """The state of the product as the user would ask for it."""
        return self.presence.status()

    def show_prompt(self, uri: str, selection: Span, instruction: str) -> dict[str, str]:
        """Exactly what would be sent: for an edit with an instruction, else for a completion."""
        document = self._open(uri)
        self.context.catch_up(document)
        if instruction:
            return edits.shown_prompt(self._job_at(document, selection, instruction).request.prompt)
        return edits.shown_prompt(self.completer.prompt(Ask(document, selection.end, invoked=True)))

    async def shutdown(self) -> None:
        """End everything; returns when nothing runs any more."""
        generations = list(self.generations)
        for uri in self._workspace.uris():
            self.document_closed(uri)
        for generation in generations:
            await generation.gone()
        await self._warmth.close()
        await self.context.close()
        await self.completer.shutdown()
        await self._workspace.shutdown()
        for task in list(self._background):
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    def _open(self, uri: str) -> Document:
        document = self._workspace.get(uri)
        if document is None:
            raise EditRefused(texts.NOT_OPEN.format(uri=uri))
        return document

    def _readable(self, uri: str) -> Document:
        """An open document that a model may see."""
        document = self._open(uri)
        if (reason := self.presence.secrecy(document)) is not None:
            raise EditRefused(reason)
        return document

    def _typed(self, changed: Changed) -> None:
        generation = self.generations.running(changed.after.uri)
        if generation is None:
            return
        if self._settings().edit.on_foreign_change == "cancel" or generation.region.touched:
            generation.cancel("typed_over")

    def _job_at(
        self,
        document: Document,
        selection: Span,
        instruction: str,
        model: str = "",
        problems: Sequence[Problem] = (),
        *,
        directive: bool = False,
    ) -> Job:
        tree, backend = self._workspace.tree(document.uri), self._models.backend("edit", model)
        scope, without = edits.scope_for(document, tree, selection, directive=directive)
        original = document.slice(scope.span.start, scope.span.end)
        cursor = None if selection.end > selection.start else selection.start - scope.span.start
        number, settings = self._next_id(), self._settings().edit
        plan = edits.Plan(number, document, scope, (instruction,), original, "edit", backend, settings)
        return self._job(replace(plan, problems=tuple(problems), without=without, cursor=cursor))

    def _job(self, plan: edits.Plan) -> Job:
        document, span, style = plan.document, plan.scope.span, plan.backend.style
        return edits.job(replace(plan, snippets=lambda: self.context.snippets(document, span, style)))

    def _end(self, uri: str, reason: Outcome) -> None:
        generation = self.generations.of(uri)
        if generation is not None:
            generation.cancel(reason)

    def _next_id(self) -> str:
        return f"e{next(self._numbers)}"

    def _again(
        self,
        last: Generation,
        backend: Backend,
        kind: Task,
        instructions: tuple[str, ...],
        directive: Span | None,
    ) -> Generation:
        """A new generation over the region of an earlier one; the text to revert to stays the first."""
        uri, number = last.job.uri, self._next_id()
        document = self._open(uri)
        without = edits.whole_lines(document, directive) if directive is not None else None
        scope, original = replace(last.job.scope, span=last.region.span), last.job.original
        on_screen = self._workspace.expected_text(uri, last.region) if without is None else None
        if without is not None:
            scope, original = edits.with_lines(scope, without, document, original)
        settings = self._settings().edit
        plan = edits.Plan(number, document, scope, instructions, original, kind, backend, settings)
        job = self._job(replace(plan, half_finished=on_screen, without=without))
        last.cancel("redirected")
        self._workspace.hand_over(uri, last.region, number, scope.span)
        return self._launch(job, last.region)

    def _launch(self, job: Job, region: Region) -> Generation:
        generation = Generation(job, region, self._workspace, self._editor)
        self.generations.add(generation)
        self.presence.show()
        generation.result.add_done_callback(lambda result: self._ended(result.result()))
        return generation

    def _ended(self, result: Result) -> None:
        """Tell the client how a generation ended; a failure is told in words."""
        self._editor.ended(result)
        if result.message and result.outcome == "failed":
            self.presence.failed(result.message)
        elif result.outcome in ("done", "unchanged"):
            self.presence.recovered()
        self.presence.show()
        if result.message and result.outcome in ("failed", "rejected"):
            self._editor.show("warning", result.message)

    async def _result(self, generation: Generation) -> Result:
        return await asyncio.shield(generation.result)

    def _repair(self, uri: str, misplaced: Misplaced) -> None:
        """Take a misplaced patch back."""
        region = self._workspace.region(uri, "repair", Span(misplaced.undo.start, misplaced.undo.end))
        work = take_patch_back(uri, region, misplaced, self._workspace, self._editor)
        task = asyncio.create_task(work, name=f"repair {uri}")
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _revert(self, generation: Generation) -> Result:
        result = await take_edit_back(generation, self._workspace, self._editor)
        if self.generations.of(generation.job.uri) is generation:
            self.generations.forget(generation.job.uri)
        return result
