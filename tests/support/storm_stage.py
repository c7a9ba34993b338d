"""The stage of the typing storm: the engine between an editor and a model, and what must hold there.

`check` holds after everything that happens, `come_to_rest` at the end.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

from lsp_server.core.document import Change
from lsp_server.core.edits import Patch
from lsp_server.core.text import Encoding
from lsp_server.engine.assistant import Assistant
from lsp_server.engine.generation import Generation
from lsp_server.engine.ports import Result
from lsp_server.engine.takeback import MAXIMUM_UNEXPLAINED
from lsp_server.engine.workspace import Workspace
from lsp_server.settings import Complete, Edit, Settings
from tests.support.scripted_model import Call, OneModel, ScriptedModel
from tests.support.storm_editor import StormEditor
from tests.support.virtual_time import VirtualTimeLoop, passes, turns


class StormStage:
    """`counts` says how often what happened."""

    def __init__(self, mode: str, *, edit: Edit, newline: str, counts: Counter[str]) -> None:
        self.counts = counts
        self.loop = VirtualTimeLoop()
        self.loop.set_exception_handler(lambda _, context: self._problem(f"the loop caught {context}"))
        self.settings = Settings(edit=edit, complete=Complete())
        self.model = ScriptedModel()
        self.workspace = Workspace(Encoding.UTF16)
        self.editor = StormEditor(
            mode,
            self._changed,
            lambda *opened: self.assistant.document_opened(*opened),
            lambda uri: self.assistant.document_closed(uri),
            may_send=self._forbidden,
            judge=self._judge,
            must_end=self._must_end,
            counts=counts,
        )
        self.assistant = Assistant(lambda: self.settings, self.workspace, OneModel(self.model), self.editor)
        self.newline = newline if self.editor.mode.keeps_line_ends else "\n"
        self.generations: dict[str, Generation] = {}
        self.replies: dict[int, str] = {}
        self.said: dict[int, int] = {}
        self.expected: dict[str, str] = {}
        self.waiting: set[asyncio.Task[Any]] = set()
        self.requests: list[asyncio.Task[Any]] = []
        self.refusals = 0
        self._misplaced = 0
        self._keys = 0

    def run(self, happening: Callable[[], object], count: int) -> None:
        """Let something happen, then the loop take `count` turns."""

        async def happen() -> None:
            happening()
            await turns(count)

        self.loop.run_until_complete(happen())

    def check(self) -> None:
        """What holds at every moment."""
        assert not self.editor.problems, self.editor.problems
        for uri in self.workspace.uris():
            document = self.workspace.get(uri)
            assert document is not None and (document.version, document.text) == self.editor.known[uri]
        running = Counter(each.job.uri for each in self.generations.values() if each.running)
        assert all(count == 1 for count in running.values()), running
        ended = Counter(result.id for result in self.editor.results)
        assert all(count == 1 for count in ended.values()), ended

    def come_to_rest(self) -> None:
        """Let everything end by itself, then look at what is left."""
        for _ in range(4):
            while self._call(0) is not None:
                self.run(lambda: self.finish(0), 2)
            self.settle()
            self.wait(6.0)
            self.check()
        for number, generation in self.generations.items():
            assert not generation.running and generation.result.done(), f"{number} goes on"
        assert sorted(self.generations) == sorted(each.id for each in self.editor.results), (
            "not each was answered"
        )
        assert all(task.done() for task in self.waiting), "a request was not answered"
        assert not self.model.open_calls, "a model still speaks"
        for uri in self.workspace.uris():
            document = self.workspace.get(uri)
            assert document is not None and document.text == self.editor.text(uri), "the mirror is wrong"
            assert not self.workspace.busy(uri), "a patch is still under way"
            missing = [token for token in self.editor.tokens[uri] if token not in document.text]
            assert not missing or self._refuses_repairs(), f"{missing} is not in {document.text!r}"
        told = sum("you typed at the same moment" in sentence for _, sentence in self.editor.shown)
        repairs, misplaced = self.editor.repairs, self._misplaced
        assert repairs <= misplaced == told, f"{misplaced} misplaced, {repairs} repaired, {told} told"
        self.loop.run_until_complete(self.assistant.shutdown())
        self.run(lambda: None, 3)
        assert not asyncio.all_tasks(self.loop), asyncio.all_tasks(self.loop)
        self.check()

    def free(self) -> None:
        """End everything, whatever state it is in."""
        self.loop.run_until_complete(self.assistant.shutdown())
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.run(lambda: None, 5)
        self.loop.close()

    def finish(self, number: int) -> None:
        """All that is left, and the end."""
        if (call := self._call(number)) is not None:
            reply, at = self.replies.get(id(call.request), "ghost()\n"), self.said.get(id(call), 0)
            call.say(reply[at:])
            self._end(call)

    def settle(self) -> None:
        """The client and the wire do all that they can; timers are not waited for."""
        self.loop.run_until_complete(self.editor.settle())

    def wait(self, seconds: float) -> None:
        self.loop.run_until_complete(passes(seconds))

    def _changed(self, uri: str, changes: list[Change], version: int) -> None:
        misplaced = []
        original = self.workspace.change

        def change(*arguments: Any) -> Any:
            changed = original(*arguments)
            misplaced.append(changed is not None and changed.misplaced is not None)
            return changed

        self.workspace.change = change  # type: ignore[method-assign]
        try:
            self.assistant.document_changed(uri, changes, version)
        finally:
            del self.workspace.change
        self._misplaced += sum(misplaced)

    def _refuses_repairs(self) -> bool:
        """True when the client refused a repair again and again, for no reason, and the user was told."""
        told = any("undo takes it back" in sentence for _, sentence in self.editor.shown)
        return told and self.refusals >= MAXIMUM_UNEXPLAINED

    def _problem(self, sentence: str) -> None:
        self.editor.problems.append(sentence)

    def _end(self, call: Call) -> None:
        call.finish()
        self.said[id(call)] = -1

    def _forbidden(self, number: str, patch: Patch) -> str:
        generation = self.generations.get(number)
        if generation is None:
            return ""
        span = generation.region.span
        if not generation.running:
            return "it had ended"
        return "" if span.start <= patch.edit.start <= patch.edit.end <= span.end else f"its scope is {span}"

    def _judge(self, result: Result) -> str:
        """What is wrong with how a generation ended, or nothing."""
        generation = self.generations[result.id]
        region, uri = generation.region, generation.job.uri
        if result.outcome == "typed_over" and self.editor.reported[uri] <= self.editor.limits[result.id]:
            return "nobody typed"
        if result.outcome not in ("done", "unchanged") or result.id not in self.expected or region.touched:
            return ""
        document = self.workspace.get(uri)
        if document is None or not self.workspace.follows(uri, region):
            return ""
        text = without_blanks(document.slice(region.span.start, region.span.end))
        expected = without_blanks(self.expected[result.id])
        return "" if text == expected else f"{text!r} is not {expected!r}"

    def _must_end(self, uri: str) -> list[Generation]:
        if self.settings.edit.on_foreign_change == "rebase":
            return []
        return [each for each in self.generations.values() if each.running and each.job.uri == uri]

    def _call(self, number: int) -> Call | None:
        """One of the calls that still want to be answered."""
        calls = [call for call in self.model.open_calls if self.said.get(id(call), 0) >= 0]
        return calls[number % len(calls)] if calls else None


def without_blanks(text: str) -> str:
    """A text without trailing blanks and blank lines at its end."""
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip()
