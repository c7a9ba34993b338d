"""Everything that can happen between a user, an editor, the engine and a model, a step at a time."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

from lsp_server.core.text import Span
from lsp_server.engine.errors import EditRefused, Interrupted, MidstreamError
from lsp_server.engine.generation import Generation
from lsp_server.engine.suggestion import Ask
from tests.support.storm_editor import FOREVER, REVERT, SENTINEL
from tests.support.storm_stage import StormStage

URIS = ("file:///w/a.py", "file:///w/b.py")
SOURCE = """# §1 🌒

def first():
    one = 1
    moon = "🌒"; two = "🌓" + moon
    return one, two

# §2 🌒🌒

def second(value):
    return value

# §3
"""
REPLIES = {
    "longer": "    a{0} = 1\n    b{0} = '🌕🌖'\n\n    c = 3\n    return a{0}, b{0}, c\n",
    "shorter": "    return {0}\n",
    "moon": '    one = {0}\n    moon = "🌘"; two = "🌓" + moon\n    return one, two\n',
    "placeholder": "    one = {0}\n    # ... rest of the code unchanged ...\n",
    "nothing": "",
}
PLAIN_REPLIES = ("longer", "shorter", "moon")


class Storm(StormStage):
    """Each method is one thing that happens."""

    def has(self, what: str) -> bool:
        """True when there is a call to answer, an edit to speak of, or something for the client to do."""
        match what:
            case "calls":
                return self._call(0) is not None
            case "generations":
                return bool(self.generations)
            case "work":
                return self.editor.has_work
            case "messages":
                return bool(self.editor.outgoing)
        return self.editor.holding

    def open(self, uri: str) -> None:
        """Open a document, or open it again once the client has done what it had to do."""
        while self.editor.work():
            pass
        self.editor.open(uri, SOURCE.replace("\n", self.newline))
        buffer = self.editor.buffer(uri)
        lines = [line for line in SOURCE.splitlines() if line.startswith("#")]
        self.editor.tokens[uri] = dict.fromkeys(lines, FOREVER)
        for line in lines:
            start = buffer.text.index(line)
            buffer.authors[start : start + len(line)] = [SENTINEL] * len(line)

    def close(self, uri: str) -> None:
        self.editor.close(uri)

    def type(self, uri: str, where: int, near: bool, kind: str) -> None:
        """One key, at a place in the document or `near` the running edit."""
        place, key = self._place(uri, where, near), self._token(kind)
        if kind == "newline":
            return self._by_user(uri, lambda: self.editor.replace(uri, place, place, key))
        self.editor.put_cursor(uri, place)
        self._by_user(uri, lambda: self.editor.type(uri, key))
        if kind in ("key", "astral"):
            self.editor.tokens[uri][key] = self.editor.strokes
        return None

    def paste(self, uri: str, where: int, near: bool, length: int) -> None:
        """Several lines over up to `length` characters."""
        start = self._place(uri, where, near)
        end = self._whole(uri, min(len(self.editor.text(uri)), start + length))
        keys = self._token("key"), self._token("astral")
        text = "".join(key + self.newline for key in keys)
        self._by_user(uri, lambda: self.editor.replace(uri, start, end, text))
        self.editor.tokens[uri] |= dict.fromkeys(keys, self.editor.strokes)

    def delete(self, uri: str, where: int, near: bool, length: int) -> None:
        start = self._place(uri, where, near)
        end = self._whole(uri, min(len(self.editor.text(uri)), start + length))
        if start < end:
            self._by_user(uri, lambda: self.editor.replace(uri, start, end, ""))

    def undo(self, uri: str) -> None:
        self._by_user(uri, lambda: self.editor.undo(uri))

    def edit(self, uri: str, where: int, reply: str) -> None:
        document = self.workspace.get(uri)
        if document is not None:
            place = where % (document.length + 1)
            self._begin(lambda: self.assistant.edit(uri, Span(place, place), "change it"), reply)

    def redirect(self, target: str | None, reply: str) -> None:
        self._begin(lambda: self.assistant.redirect(target, "change it another way"), reply)

    def escalate(self, target: str | None, reply: str) -> None:
        self._begin(lambda: self.assistant.escalate(target), reply)

    def stop(self, target: str | None) -> None:
        self._wait_for(lambda: self.assistant.stop(target))

    def accept(self, target: str | None) -> None:
        self._wait_for(lambda: self.assistant.accept(target))

    def revert(self, target: str | None) -> None:
        try:
            generation = self.assistant.generations.find(target)
        except EditRefused:
            return
        self.editor.limits[f"{REVERT} {generation.job.uri}"] = self.editor.limits[generation.job.id]
        self._wait_for(lambda: self.assistant.revert(generation.job.id))

    def complete(self, uri: str, where: int) -> None:
        document = self.workspace.get(uri)
        if document is not None:
            ask = Ask(document, where % (document.length + 1), invoked=bool(where % 2))
            if (request := self._wait_for(lambda: self.assistant.complete(ask))) is not None:
                self.requests.append(request)

    def cancel_request(self) -> None:
        if self.requests:
            self.requests.pop().cancel()

    def say(self, number: int, size: int) -> None:
        """The next characters of an answer; at its end, the end."""
        if (call := self._call(number)) is None:
            return
        reply, at = (
            self.replies.setdefault(id(call.request), "ghost(1)\nghost(2)\n"),
            self.said.get(id(call), 0),
        )
        if at < len(reply):
            call.say(reply[at : at + size])
            self.said[id(call)] = at + size
        else:
            self._end(call)

    def fail(self, number: int) -> None:
        if (call := self._call(number)) is not None:
            call.fail(Interrupted("The connection broke off."))
            self.said[id(call)] = -1

    def refuse(self) -> None:
        """The client will refuse the next edit; one that lies about it never does so without a reason."""
        if self.editor.mode.refuses != "lie":
            self.refusals += 1
            self.editor.refuse_next()

    def deliver(self) -> None:
        """The server reads the next message."""
        self.editor.deliver()

    def _token(self, kind: str) -> str:
        """A key; those of kinds "key" and "astral" are like no other."""
        self._keys += 1
        match kind:
            case "newline":
                return self.newline
            case "key":
                return chr(0x4E00 + self._keys)
            case "astral":
                return chr(0x20000 + self._keys)
        return "a"

    def _place(self, uri: str, where: int, near: bool) -> int:
        text = self.editor.text(uri)
        last = self.assistant.generations.of(uri)
        if near and last is not None:
            span = last.region.span
            where = max(0, min(len(text), span.start - 1 + where % (len(span) + 3)))
        return self._whole(uri, where % (len(text) + 1))

    def _whole(self, uri: str, offset: int) -> int:
        """The offset, but not inside a line end."""
        text = self.editor.text(uri)
        return offset + (text[max(0, offset - 1) : offset + 1] == "\r\n")

    def _by_user(self, uri: str, happening: Callable[[], object]) -> None:
        before, guards = self.editor.text(uri), self._guards(uri)
        happening()
        self.editor.forget_missing(uri, before)
        if self._guards(uri) < guards:
            # What is left of such a line can be in a scope now.
            self.editor.unguard(uri)

    def _guards(self, uri: str) -> int:
        return sum(stroke == FOREVER for stroke in self.editor.tokens[uri].values())

    def _begin(self, start: Callable[[], Generation], reply: str) -> None:
        try:
            generation = start()
        except EditRefused:
            return
        uri, number, span = generation.job.uri, generation.job.id, generation.job.scope.span
        document = self.workspace.get(uri)
        assert document is not None
        text = document.slice(span.start, span.end)
        self.generations[number] = generation
        self.editor.limits[number] = self.editor.reported[uri]
        if "§" in text or "#" in text:
            self.editor.unguard(uri)
        body = REPLIES[reply].format(len(self.generations))
        write = whole_scope if self.settings.edit.format == "scope" else two_hunks
        said, expected = write(text.replace("\r\n", "\n"), body) if body else ("", "")
        self.replies[id(generation.job.request)] = said
        known = text.startswith(("def first():", "def second(value):"))
        # What a hunk is looked up in is not known here while a patch is under way, nor where it fits twice.
        unlike = len(set(text.splitlines())) == len(text.splitlines())
        sure = self.settings.edit.format == "scope" or (unlike and not self.workspace.busy(uri))
        if known and sure and reply in PLAIN_REPLIES and generation.job.scope.kind == "function":
            self.expected[number] = expected

    def _wait_for(self, start: Callable[[], Coroutine[None, None, Any]]) -> asyncio.Task[Any] | None:
        async def answer() -> None:
            with contextlib.suppress(MidstreamError):
                await waiting

        try:
            waiting = start()
        except EditRefused:
            return None
        task = self.loop.create_task(answer())
        self.waiting.add(task)
        return task


def whole_scope(text: str, body: str) -> tuple[str, str]:
    """A reply that rewrites the scope below its first line, and the scope as it then reads."""
    new = text.partition("\n")[0].rstrip() + "\n" + body
    return new, new


def two_hunks(text: str, body: str) -> tuple[str, str]:
    """A reply that puts the body in front of the second line and takes the last line away."""
    head, _, rest = text.partition("\n")
    kept, _, last = rest.rstrip("\n").rpartition("\n")
    said = "".join(
        f"<<<<<<< SEARCH\n{search}\n=======\n{replace}>>>>>>> REPLACE\n"
        for search, replace in ((head, f"{head}\n{body}"), (last, ""))
    )
    return said, f"{head}\n{body}{kept}"
