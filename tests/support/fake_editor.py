"""The fake client as the engine's `Editor`: patches come in, document changes go out by callbacks.

    editor = FakeEditor("neovim", on_change=workspace.change)
    editor.open(URI, "def f(): ...")
    editor.deliver()                  # the server learns of it
    task = asyncio.create_task(edit())
    await editor.settle()             # everything runs until nobody has anything to do
    assert editor.text(URI) == "..."; assert not editor.problems

Nothing happens by itself unless it is made with `automatic=True`. Otherwise a test steps: `work()` lets the
client take a patch, `flush()` lets its timer fire, `deliver()` brings the server the next message.
"""

import asyncio
from collections.abc import Callable
from itertools import count

from lsp_server.core.document import Change
from lsp_server.core.edits import Patch
from lsp_server.core.text import Encoding
from lsp_server.engine.ports import ApplyReply, Result, Status
from tests.support.fake_buffer import range_of
from tests.support.fake_client import FakeClient
from tests.support.fake_modes import Changed, Closed, EditRequest, Opened, Reply, TextEdit


class FakeEditor(FakeClient):
    """`on_change(uri, changes, version)`, `on_open(uri, language, version, text)` and `on_close(uri)` are the
    server's plain handlers.

    `known` is what the server has been told of each document. `problems` collects what a server must never
    do; assert that it is empty. `statuses`, `results` and `shown` hold what the user was told.
    """

    def __init__(
        self,
        mode: str,
        on_change: Callable[[str, list[Change], int], object],
        on_open: Callable[[str, str, int, str], object] | None = None,
        on_close: Callable[[str], object] | None = None,
        *,
        encoding: Encoding = Encoding.UTF16,
        automatic: bool = False,
    ) -> None:
        super().__init__(mode, encoding)
        self.on_change, self.on_open, self.on_close = on_change, on_open, on_close
        self.known: dict[str, tuple[int, str]] = {}
        self.problems: list[str] = []
        self.statuses: list[Status] = []
        self.results: list[Result] = []
        self.shown: list[tuple[str, str]] = []
        self.retriggers = False
        self.patches: list[Patch] = []
        self._automatic = automatic
        self._tokens = count()
        self._outstanding: dict[int, str] = {}
        self._waiting: dict[int, asyncio.Future[ApplyReply]] = {}

    # The port.

    async def apply(self, patch: Patch, *, generation: str, first: bool, label: str) -> ApplyReply:
        """Put the patch on the wire, and wait for the client's reply."""
        version, text = self.known.get(patch.uri, (None, ""))
        if version != patch.version:
            self.problems.append(f"patch for version {patch.version}, but the server knows {version}")
            return "refused"
        if patch.uri in self._outstanding.values():
            self.problems.append(f"two patches at once for {patch.uri}")
        if not 0 <= patch.edit.start <= patch.edit.end <= len(text):
            self.problems.append(f"{patch.edit} is not in a document of {len(text)} characters")
            return "refused"
        self.patches.append(patch)
        token = next(self._tokens)
        self._outstanding[token] = patch.uri
        range_ = range_of(text, patch.edit.start, patch.edit.end, self.encoding)
        self._waiting[token] = asyncio.get_running_loop().create_future()
        self.incoming.append(
            EditRequest(
                token,
                patch.uri,
                patch.version if self.mode.versioned else None,
                (TextEdit(range_, patch.edit.text),),
                first,
            )
        )
        self.wake()
        try:
            return await self._waiting[token]
        finally:
            del self._waiting[token]

    def status(self, status: Status) -> None:
        """Remember the status."""
        self.statuses.append(status)

    def ended(self, result: Result) -> None:
        """Remember the result."""
        self.results.append(result)

    def show(self, kind: str, sentence: str) -> None:
        """Remember the sentence."""
        self.shown.append((kind, sentence))

    @property
    def groups_undo(self) -> bool:
        """True where the patches of a generation make one undo step."""
        return self.mode.groups_undo

    def checks_version(self, version: int) -> bool:
        """True where a patch bound to `version` is dropped once the text is newer."""
        return self.mode.checks != "none" and not (self.mode.zero_is_unknown and version == 0)

    # The wire back to the server.

    def deliver(self) -> bool:
        """Bring the server the next message of `outgoing`; False when there is none."""
        if not self.outgoing:
            return False
        match self.outgoing.popleft():
            case Opened(uri, language, version, text):
                self.known[uri] = (version, text)
                if self.on_open:
                    self.on_open(uri, language, version, text)
            case Changed(uri, version, changes, text):
                self.known[uri] = (version, text)
                self.on_change(uri, list(changes), version)
            case Closed(uri):
                del self.known[uri]
                if self.on_close:
                    self.on_close(uri)
            case Reply(token, verdict):
                del self._outstanding[token]
                waiting = self._waiting.get(token)
                if waiting and not waiting.done():
                    waiting.set_result("applied" if verdict == "applied" else "refused")
        return True

    def step(self) -> bool:
        """The next thing that anybody but the user has to do; False when there is none."""
        return self.work() or self.deliver() or self.flush()

    async def settle(self, idle_turns: int = 10) -> None:
        """Run everything until the loop had some turns without anything to do. Timers are not waited for."""
        idle = 0
        while idle < idle_turns:
            idle = 0 if self.step() else idle + 1
            await asyncio.sleep(0)

    def wake(self) -> None:
        """In an automatic editor, let the client and the wire do their work at the next turn of the loop."""
        if not self._automatic:
            return
        loop = asyncio.get_running_loop()
        loop.call_soon(self._run)
        if self.holding:
            loop.call_later(self.mode.delay, self._flush_and_run)

    def _flush_and_run(self) -> None:
        self.flush()
        self._run()

    def _run(self) -> None:
        while self.work() or self.deliver():
            pass
