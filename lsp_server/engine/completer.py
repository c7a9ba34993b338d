"""Ghost text: which suggestion answers which request, and which stream lives.

Each document has at most one live stream. A request joins it, or a finished suggestion that still
fits, or starts a new one after the debounce. Typing decides at once: along the suggestion it lives
on, any other way it is cancelled.
"""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Callable

from lsp_server.core.document import Document
from lsp_server.core.prompt import Prompt
from lsp_server.engine.context import ContextSource
from lsp_server.engine.debounce import Rhythm
from lsp_server.engine.desk import Desk, dismiss, is_empty, recall, typed_along
from lsp_server.engine.errors import MidstreamError
from lsp_server.engine.listening import News, listen, request_of
from lsp_server.engine.ports import Backend, Editor, Progress, Status
from lsp_server.engine.presence import Presence
from lsp_server.engine.suggestion import Accepted, Ask, Item, Suggestion, Waiter, framed, item_for
from lsp_server.engine.workspace import Changed
from lsp_server.settings import Settings

logger = logging.getLogger(__name__)

LINE_PATIENCE = 0.15
"""Seconds that a block may go on after its first line before a client that cannot ask again gets it."""

HEAD_START = 1 / 8
"""The part of the debounce, at its end, in which the prompt is written: the request need not wait for it."""

TICK = 0.001
"""Seconds by which a loop that watches files by `epoll` wakes up late: it counts in whole milliseconds."""


class Completer:
    """Answers every request exactly once; the assistant tells it of every change."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        backend: Callable[[], Backend],
        editor: Editor,
        presence: Presence,
        context: ContextSource,
    ) -> None:
        self._settings = settings
        self._backend = backend
        self._editor = editor
        self._presence = presence
        self.context = context
        self._desks: dict[str, Desk] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._numbers = itertools.count(1)
        self.rhythm = Rhythm()

    def request(self, ask: Ask) -> "asyncio.Future[list[Item]]":
        """Take one request; a cancel of the future that it returns is the client's cancel."""
        desk = self._desks.setdefault(ask.document.uri, Desk())
        dismiss(desk)
        waiter = Waiter(ask, asyncio.get_running_loop().create_future())
        document, cursor = ask.virtual()
        if (remembered := recall(desk, document, cursor)) is not None:
            waiter.resolve([item_for(remembered[0], ask, *remembered[1])])
        elif (
            desk.live is not None
            and desk.live.follows(document, cursor)
            and not (ask.invoked and asyncio.get_running_loop().time() < desk.live.due)
        ):
            self._join(desk, desk.live, waiter)
        else:
            self._drop_live(desk)
            self._join(desk, self._start(desk, ask, document, cursor), waiter)
        return waiter.answer

    def superseded(self, ask: Ask) -> asyncio.Future[list[Item]]:
        """Resolved with nothing by the next change or request of the document."""
        waiter = Waiter(ask, asyncio.get_running_loop().create_future())
        self._desks.setdefault(ask.document.uri, Desk()).waiting.append(waiter)
        return waiter.answer

    def changed(self, changed: Changed) -> None:
        """A document changed by other hands: open requests are superseded, the stream lives or dies."""
        self.rhythm.key(asyncio.get_running_loop().time())
        desk = self._desks.get(changed.after.uri)
        if desk is None:
            return
        dismiss(desk)
        live = desk.live
        if live is None:
            return
        if live.started and typed_along(live, changed):
            live.adopted = True
        else:
            self._drop_live(desk)

    def closed(self, uri: str) -> None:
        """Forget a document."""
        desk = self._desks.pop(uri, None)
        if desk is not None:
            dismiss(desk)
            self._drop_live(desk)

    def stop(self, uri: str | None = None) -> None:
        """Cancel the streams of one document, or of all."""
        for key, desk in self._desks.items():
            if uri in (None, key):
                dismiss(desk)
                self._drop_live(desk)

    def end(self, item: str) -> str | None:
        """Cancel the stream of this id; the URI of its document, None when no such stream runs."""
        uri = next((uri for uri, desk in self._desks.items() if desk.live and desk.live.id == item), None)
        if uri is not None:
            self.stop(uri)
        return uri

    def accepted(self, item: str) -> Accepted | None:
        """The user took a suggestion: what it was is over, whatever of it was left."""
        for desk in self._desks.values():
            for suggestion in [each for each in (desk.live, *desk.recent) if each and each.id == item]:
                if suggestion is desk.live:
                    self._drop_live(desk)
                else:
                    desk.recent.remove(suggestion)
                now = asyncio.get_running_loop().time()
                return Accepted(suggestion.model, (now - suggestion.asked) * 1000)
        return None

    async def shutdown(self) -> None:
        """End everything and wait until nothing runs."""
        for uri in list(self._desks):
            self.closed(uri)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _answered(self, desk: Desk, waiter: Waiter) -> None:
        """A request is over; when it was cancelled its stream ends, unless something else lives on it."""
        if waiter in desk.waiting:
            desk.waiting.remove(waiter)
        live = desk.live
        if not waiter.answer.cancelled() or live is None or waiter not in live.waiters:
            return
        live.waiters.remove(waiter)
        if not live.adopted and not any(not other.answer.done() for other in live.waiters):
            self._drop_live(desk)

    def _join(self, desk: Desk, suggestion: Suggestion, waiter: Waiter) -> None:
        suggestion.waiters.append(waiter)
        desk.waiting.append(waiter)
        waiter.answer.add_done_callback(lambda _: self._answered(desk, waiter))
        self._serve(suggestion)

    def _start(self, desk: Desk, ask: Ask, document: Document, cursor: int) -> Suggestion:
        """A new suggestion; while more keys may come, it costs no more than a timer."""
        loop = asyncio.get_running_loop()
        asked, delay = loop.time(), self._delay(ask)
        suggestion = Suggestion(f"c{next(self._numbers)}", document, cursor, asked=asked, due=asked + delay)
        desk.live = suggestion
        if delay > 0:
            suggestion.timer = loop.call_later(delay * (1 - HEAD_START), self._begin, desk, suggestion)
        else:
            self._begin(desk, suggestion)
        return suggestion

    def _begin(self, desk: Desk, suggestion: Suggestion) -> None:
        name = f"complete {suggestion.document.uri}"
        suggestion.task = asyncio.create_task(self._stream(desk, suggestion), name=name)
        self._tasks.add(suggestion.task)
        suggestion.task.add_done_callback(self._tasks.discard)

    def _delay(self, ask: Ask) -> float:
        debounce = self._settings().complete.debounce
        if ask.invoked:
            return 0.0
        return self.rhythm.delay() if debounce == "auto" else debounce / 1000

    def _drop_live(self, desk: Desk) -> None:
        """The one place that cancels a completion's stream."""
        live, desk.live = desk.live, None
        if live is None:
            return
        for waiter in live.waiters:
            waiter.resolve([])
        if live.timer is not None:
            live.timer.cancel()
        if live.task is not None and not live.task.done():
            live.task.cancel()

    async def _stream(self, desk: Desk, suggestion: Suggestion) -> None:
        try:
            await self._listen(suggestion)
            suggestion.done = True
            desk.recent.append(suggestion)
        except MidstreamError as error:
            suggestion.failed = True
            self._presence.report(error)
        finally:
            suggestion.done = True
            self._serve(suggestion)
            if desk.live in (None, suggestion):
                desk.live = None
                self._presence.show()

    async def _listen(self, suggestion: Suggestion) -> None:
        backend = self._backend()
        style, limit = backend.style, self._settings().complete.max_tokens
        suggestion.model = backend.name
        suggestion.frame(style)
        document, at, block = suggestion.document, suggestion.at, suggestion.block
        prompt = self.context.prompt(document, at, style, block=block)
        if is_empty(prompt):
            return
        request = request_of(suggestion, prompt, style, limit)
        loop = asyncio.get_running_loop()
        if (left := suggestion.due - TICK - loop.time()) > 0:
            await asyncio.sleep(left)
        asked = loop.time()
        events = backend.stream(request)
        words = listen(suggestion, events, style, loop.time)
        async with contextlib.aclosing(words) as news:
            async for new in news:
                if new is News.BEGINNING:
                    self._presence.recovered()
                elif new is News.FIRST_LINE:
                    self.rhythm.answered(loop.time() - asked)
                    loop.call_later(LINE_PATIENCE, self._out_of_patience, suggestion)
                else:
                    self._serve(suggestion)
        if suggestion.first_line is None:
            self.rhythm.answered(loop.time() - asked)

    def _out_of_patience(self, suggestion: Suggestion) -> None:
        if not suggestion.done:
            self._serve(suggestion)

    def prompt(self, ask: Ask) -> Prompt:
        """What a request would send, without sending it."""
        document, cursor = ask.virtual()
        style = self._backend().style
        _, block = framed(document, cursor, style)
        return self.context.prompt(document, cursor, style, block=block)

    def _serve(self, suggestion: Suggestion) -> None:
        """Answer the open requests of a suggestion when there is enough of it to show."""
        waiting = [waiter for waiter in suggestion.waiters if not waiter.answer.done()]
        if not waiting:
            self._announce(suggestion)
        elif not (suggestion.done or self._enough(suggestion)):
            return
        for waiter in waiting:
            document, cursor = waiter.ask.virtual()
            rest = suggestion.rest(document, cursor)
            if rest is not None and rest[0].strip():
                waiter.resolve([item_for(suggestion, waiter.ask, *rest)])
            elif suggestion.done:
                waiter.resolve([])

    def _enough(self, suggestion: Suggestion) -> bool:
        if suggestion.first_line is None or not suggestion.block:
            return False
        if self._editor.retriggers:
            return True
        return asyncio.get_running_loop().time() >= suggestion.first_line + LINE_PATIENCE

    def _announce(self, suggestion: Suggestion) -> None:
        """Tell a client that asks again that more has come."""
        if self._editor.retriggers and suggestion.first_line is not None:
            progress = Progress(suggestion.id, suggestion.document.uri, "complete", suggestion.tokens)
            self._editor.status(Status("working", model=self._backend().name, generation=progress))
