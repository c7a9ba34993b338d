"""The engine between a fake editor and a scripted model, for one test."""

from collections.abc import Sequence

from lsp_server.core.prompt import Style
from lsp_server.core.text import Encoding, Span
from lsp_server.engine.assistant import Assistant
from lsp_server.engine.generation import Generation
from lsp_server.engine.ports import Result
from lsp_server.engine.suggestion import Ask, Item
from lsp_server.engine.workspace import Workspace
from lsp_server.settings import Complete, Edit, Settings
from tests.support.fake_editor import FakeEditor
from tests.support.marked import parse
from tests.support.scripted_model import Call, OneModel, ScriptedModel
from tests.support.virtual_time import turns

URI = "file:///w/a.py"


class Stage:
    """One document unless more are opened. Time is virtual: run tests with `run_virtual`."""

    def __init__(
        self,
        source: str,
        mode: str = "vscode",
        *,
        language: str = "python",
        edit: Edit | None = None,
        complete: Complete | None = None,
        style: Style | None = None,
        automatic: bool = True,
    ) -> None:
        self.settings = Settings(edit=edit or Edit(format="scope"), complete=complete or Complete())
        self.model = ScriptedModel(style=style)
        self.workspace = Workspace(Encoding.UTF16)
        self.editor = FakeEditor(
            mode,
            lambda uri, changes, version: self.assistant.document_changed(uri, changes, version),
            lambda *opened: self.assistant.document_opened(*opened),
            lambda uri: self.assistant.document_closed(uri),
            automatic=automatic,
        )
        self.assistant = Assistant(lambda: self.settings, self.workspace, OneModel(self.model), self.editor)
        self.source = parse(source)
        self.editor.open(URI, self.source.text, language)
        self.deliver()

    def deliver(self) -> None:
        """Bring the server everything that the client has said."""
        while self.editor.work() or self.editor.deliver():
            pass

    def edit(self, instruction: str = "change it", selection: Span | None = None) -> Generation:
        return self.assistant.edit(URI, selection or self.source.span, instruction)

    def text(self, uri: str = URI) -> str:
        return self.editor.text(uri)

    def type(self, text: str, at: str | int, uri: str = URI) -> None:
        """The user inserts `text` before the first occurrence of `at`, or at an offset."""
        offset = self.text(uri).index(at) if isinstance(at, str) else at
        self.editor.replace(uri, offset, offset, text)
        self.deliver()

    async def call(self, number: int = 0) -> Call:
        """The model's call of this number, once it has come."""
        for _ in range(1000):
            if len(self.model.calls) > number:
                return self.model.calls[number]
            await turns(1)
        raise AssertionError(f"the model was asked {len(self.model.calls)} times, not {number + 1}")

    async def said(self, call: Call, *chunks: str) -> None:
        """The model says these chunks; everything that follows from each has happened."""
        for chunk in chunks:
            call.say(chunk)
            await self.rest()

    async def rest(self) -> None:
        """Until nobody has anything to do now; timers are not waited for."""
        await turns(30)

    async def result(self, generation: Generation) -> Result:
        result = await generation.result
        await self.rest()
        return result

    def ask(self, cursor: int, *, invoked: bool = True) -> Ask:
        document = self.workspace.get(URI)
        assert document is not None
        return Ask(document, cursor, invoked)

    async def close(self) -> None:
        """Nothing runs any more, and the mirror is what the client has."""
        for uri in self.workspace.uris():
            document = self.workspace.get(uri)
            assert document is not None and document.text == self.editor.text(uri)
        await self.assistant.shutdown()
        assert not self.model.open_calls
        assert self.editor.problems == []


def accepted(text: str, items: Sequence[Item]) -> str:
    """The buffer after the first item was accepted."""
    assert items, "no item was offered"
    item = items[0]
    return text[: item.span.start] + item.text + text[item.span.end :]
