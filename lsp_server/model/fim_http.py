"""Filling in the middle over HTTP: Mistral, DeepSeek, Inception, Ollama, llama.cpp, `/v1/completions`.

A host that only fills in cannot edit. Inception's edit endpoint can, and answers in one piece.
"""

import json
from collections import OrderedDict
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from typing import Any

from lsp_server.core.prompt import Chat, Fill, Style, with_comments
from lsp_server.engine.errors import Interrupted, Rejected
from lsp_server.engine.ports import Delta, Event, Request, Usage
from lsp_server.model.fim_hosts import HOSTS, Read
from lsp_server.model.hosting import joined
from lsp_server.model.hosts import fim_style_of
from lsp_server.model.http import Http, error_in_stream
from lsp_server.model.sse import EventDecoder, LineDecoder
from lsp_server.settings import Model
from lsp_server.texts import models as texts


class FimDialect:
    """See `Dialect`."""

    def __init__(self, model: Model) -> None:
        style = fim_style_of(model.url) if model.fim == "auto" else model.fim
        self._model = model
        self._host = HOSTS[style]
        self._slots = Slots() if style == "llama-cpp" else None
        self.vendor = self._host.vendor
        self.vendor_key = self._host.vendor_key

    async def answer(
        self, http: Http, request: Request, omit: Collection[str]
    ) -> AsyncGenerator[Event, None]:
        match request.prompt:
            case Chat() as chat:
                async with aclosing(self._edit(http, chat, request)) as events:
                    async for event in events:
                        yield event
            case Fill() as fill:
                fields = self.body(fill, request, omit)
                if self._slots is not None:
                    fields |= await self._slots.field_of(http, request.cache_key)
                usage = Usage()
                ended: Read | None = None
                async with aclosing(self._messages(http, fields)) as messages:
                    async for message in messages:
                        read = self._host.read(message)
                        if read.text:
                            yield read.delta
                        usage = read.usage or usage
                        # The usage may come in a message after the reason, so the end is the stream's.
                        ended = read if read.reason else ended
                if ended is not None:
                    yield ended.finish(usage)

    @property
    def style(self) -> Style:
        """How models of this host want completions."""
        return self._host.style

    def body(self, fill: Fill, request: Request, omit: Collection[str] = ()) -> dict[str, Any]:
        """The fields of a request in the host's own names."""
        fill = fill if self._host.extras else with_comments(fill)
        fields = self._host.body(self._model, fill, request) | dict(self._model.extra)
        return {name: value for name, value in fields.items() if value is not None and name not in omit}

    def stops(self, request: Request) -> tuple[str, ...]:
        return request.stop if isinstance(request.prompt, Chat) else ()

    async def prepare(self, http: Http, request: Request) -> None:
        """llama.cpp and Ollama read a prompt ahead when they are asked for no token at all."""
        if self._slots is None or not isinstance(request.prompt, Fill):
            return
        fields = self.body(request.prompt, request) | {"n_predict": 0}
        fields |= await self._slots.field_of(http, request.cache_key)
        async with aclosing(self._messages(http, fields)) as messages:
            async for _ in messages:
                pass

    async def _messages(self, http: Http, fields: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """The decoded messages of a stream. Raises the error that one of them may be."""
        url = joined(http.base, self._host.path)
        events, lines = EventDecoder(), LineDecoder()
        async with aclosing(http.post(url, fields)) as pieces:
            async for piece in pieces:
                texts = (
                    lines.push(piece) if self._host.lines else [event.data for event in events.push(piece)]
                )
                for text in texts:
                    message = _decoded(text)
                    if message is None:
                        continue
                    if error := message.get("error"):
                        raise error_in_stream(http.where, error)
                    yield message

    async def _edit(self, http: Http, chat: Chat, request: Request) -> AsyncGenerator[Event, None]:
        url = self._model.edit_url
        if not url:
            raise Rejected(texts.ONLY_FILLS_IN.format(model=self._model.name))
        if any(f"<|{mark}{name}|>" in chat.context + chat.question for name in _TAGS for mark in ("", "/")):
            raise Rejected(texts.HOLDS_TAG.format(model=self._model.name))
        fields = edit_body(self._model, chat, request)
        async with aclosing(http.post(url, fields)) as pieces:
            body = b"".join([piece async for piece in pieces])
        message = _decoded(body.decode("utf-8", "replace"))
        if message is None:
            raise Interrupted(texts.NOT_AN_ANSWER.format(host=http.where.host))
        read = HOSTS["mercury"].read(message)
        if read.text:
            yield Delta(read.text)
        yield read.finish(Usage())


class Slots:
    """Which of llama.cpp's slots keeps which document's prompt; the longest unused one is taken over."""

    def __init__(self) -> None:
        self._count: int | None = None
        self._slots: OrderedDict[str, int] = OrderedDict()

    async def field_of(self, http: Http, key: str) -> dict[str, int]:
        """`id_slot` for a document; nothing where the server does not tell how many slots it has."""
        if self._count is None:
            properties = await http.get_json(joined(http.base, "props"))
            count = properties.get("total_slots") if isinstance(properties, dict) else 0
            self._count = count if isinstance(count, int) else 0
        if self._count == 0 or not key:
            return {}
        if key not in self._slots:
            full = len(self._slots) >= self._count
            self._slots[key] = self._slots.popitem(last=False)[1] if full else len(self._slots)
        self._slots.move_to_end(key)
        return {"id_slot": self._slots[key]}


def edit_body(model: Model, chat: Chat, request: Request) -> dict[str, Any]:
    """A request to Inception's edit endpoint: one user message in its own tags, answered in one piece."""
    parts = [
        ("recently_viewed_code_snippets", ""),
        ("current_file_content", f"{chat.context}\n{_tagged('code_to_edit', chat.question)}"),
        ("edit_diff_history", ""),
    ]
    content = "\n\n".join([chat.instructions, *(_tagged(name, text) for name, text in parts)])
    fields = {
        "model": model.model,
        "messages": [{"role": "user", "content": content}],
        "max_tokens": request.max_tokens,
    }
    return fields | dict(model.extra)


_TAGS = (
    "recently_viewed_code_snippets",
    "current_file_content",
    "code_to_edit",
    "cursor",
    "edit_diff_history",
)


def _tagged(name: str, text: str) -> str:
    return f"<|{name}|>\n{text}\n<|/{name}|>"


def _decoded(text: str) -> dict[str, Any] | None:
    """The object in a message; None for `[DONE]`, for blank lines and for what is no object."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
