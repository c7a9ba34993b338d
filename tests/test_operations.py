"""What a keystroke costs, in counts that are the same on every machine.

Time would tell of the machine; counts tell of the program: none may grow with the file.
"""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from lsp_server.core.document import Change
from lsp_server.core.prompt import Style
from lsp_server.core.text import Position, Range, Span
from lsp_server.engine.edits import shown_prompt
from lsp_server.engine.suggestion import Ask, Item
from lsp_server.lsp.convert import to_changes
from lsp_server.lsp.readers import did_change
from lsp_server.settings import Complete
from tests.engine.stage import URI, Stage
from tests.support.operations import allocated, steps
from tests.support.virtual_time import passes, run_virtual, turns

PART = (
    "def part(path):\n    rows = []\n    for name in path:\n        rows.append(name)\n    return rows\n\n\n"
)
SMALL, LARGE = 203, 20_006
GROWTH = 1.3
MOST_STEPS = {"key": 450, "request": 650}
STYLE = Style("chat", prefix_tokens=1024, suffix_tokens=384)


class Typist:
    """Keys in the middle of a document of so many lines; only what the server does is counted."""

    def __init__(self, lines: int) -> None:
        self.stage = Stage(PART * (lines // 7), complete=Complete(debounce="auto"), style=STYLE)
        self.row, self.column, self.version = lines // 14 * 7 + 1, 4, 1
        self.answers: list[asyncio.Future[list[Item]]] = []

    def key(self) -> None:
        place = Position(self.row, self.column)
        self.column, self.version = self.column + 1, self.version + 1
        self.stage.assistant.document_changed(URI, [Change(Range(place, place), "x")], self.version)

    def ask(self, *, invoked: bool = False) -> Ask:
        document = self.stage.workspace.get(URI)
        assert document
        return Ask(document, document.line_start(self.row) + self.column, invoked)

    def request(self) -> None:
        self.answers.append(asyncio.ensure_future(self.stage.assistant.complete(self.ask())))

    async def close(self) -> None:
        await self.stage.assistant.shutdown()
        await asyncio.gather(*self.answers, return_exceptions=True)


def costs(measured: Callable[[Callable[[], object]], int], what: str) -> tuple[int, int]:
    """The cost of the third key or request, in a small and in a large document."""
    found: list[int] = []

    async def run(lines: int) -> None:
        # What asyncio notes down for its debug mode is nothing that a user waits for.
        asyncio.get_running_loop().set_debug(False)
        typist = Typist(lines)
        for _ in range(2):
            typist.key()
            typist.request()
        if what == "request":
            typist.key()
        found.append(measured(getattr(typist, what)))
        await typist.close()

    for lines in (SMALL, LARGE):
        run_virtual(run(lines))
    return found[0], found[1]


@pytest.mark.parametrize("what", ["key", "request"])
def test_steps_of_python_do_not_grow_with_the_file(what: str) -> None:
    small, large = costs(steps, what)
    assert large <= small * GROWTH
    assert large <= MOST_STEPS[what]


@pytest.mark.parametrize("what", ["key", "request"])
def test_nothing_of_the_size_of_the_file_is_copied(what: str) -> None:
    _, large = costs(allocated, what)
    assert large < len(PART) * (LARGE // 7) / 5


def test_the_prompt_does_not_grow_with_the_file() -> None:
    sizes: list[int] = []

    async def run(lines: int) -> None:
        typist = Typist(lines)
        shown = shown_prompt(typist.stage.assistant.completer.prompt(typist.ask()))
        sizes.append(sum(map(len, shown.values())))
        await typist.close()

    for lines in (1_001, LARGE):
        run_virtual(run(lines))
    assert sizes[1] <= sizes[0] * 1.1


def test_a_scope_is_found_in_a_window_of_the_file() -> None:
    async def run() -> None:
        typist = Typist(LARGE)
        tree, document = typist.stage.workspace.tree(URI), typist.ask().document
        assert tree
        at = document.line_start(typist.row)
        parsed = tree.parse(document, Span(at, at))
        assert parsed
        assert len(parsed.source) < len(PART) * 100
        await typist.close()

    run_virtual(run())


def test_steady_typing_reaches_the_model_once() -> None:
    async def run() -> None:
        typist = Typist(SMALL)
        for _ in range(50):
            typist.key()
            typist.request()
        typist.key()
        typist.request()
        await passes(1.0)
        call = await typist.stage.call()
        call.say("y")
        call.finish()
        await typist.answers[-1]
        assert len(typist.stage.model.calls) == 1
        await typist.close()

    run_virtual(run())


def test_the_messages_of_a_key_are_structured_in_few_steps() -> None:
    place = {"line": 7, "character": 4}
    changes = [{"range": {"start": place, "end": place}, "text": "x"}]
    message = json.dumps({"textDocument": {"uri": URI, "version": 2}, "contentChanges": changes})
    assert steps(lambda: to_changes(did_change(json.loads(message)).content_changes)) <= 150


def test_a_key_that_asks_costs_a_timer_until_the_typing_pauses() -> None:
    made: list[str] = []

    def make(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> "asyncio.Task[Any]":
        made.append(work.__qualname__)
        return asyncio.Task(work, loop=loop, **options)

    async def run() -> None:
        typist = Typist(LARGE)
        typist.key()
        typist.request()
        await turns()
        shown = len(typist.stage.editor.statuses)
        asyncio.get_running_loop().set_task_factory(make)
        for _ in range(20):
            typist.key()
            typist.request()
            await turns()
        assert not made
        assert len(typist.stage.editor.statuses) == shown
        assert not typist.stage.model.calls
        await typist.close()

    run_virtual(run())
