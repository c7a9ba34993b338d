"""A model behind the Responses WebSocket: OpenAI, xAI, Azure, gateways, and our own local host.

What stays the same between requests is sent once where it can be: a warm-up leaves the stable part of
a prompt with the host, and later requests continue from it.
"""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from lsp_server.core.prompt import Chat, Style
from lsp_server.engine.errors import BackendError
from lsp_server.engine.ports import Delta, Event, Finish, Request, Usage
from lsp_server.model.connection import Cancel, Connection, Options
from lsp_server.model.dial import Address, Endpoint
from lsp_server.model.failures import FieldRefused
from lsp_server.model.hosting import (
    EDIT_PATIENCE,
    REMOTE_CHAT,
    cache_key,
    extra_headers,
    joined,
    key_of,
    network,
    patience,
    style_of,
)
from lsp_server.model.inbox import Clock
from lsp_server.model.lane import Call
from lsp_server.model.responses import (
    VENDOR,
    VENDOR_KEY,
    body,
    finish_of,
    readable_ahead,
    user_turn,
)
from lsp_server.model.stops import StopCutter
from lsp_server.settings import Model
from lsp_server.wire.client import Ended, TextDelta, create_frame

log = logging.getLogger(__name__)

LOCAL_STYLE = Style("plain", budget=1500, context_tokens=0)


class ResponsesBackend:
    """One model of the settings on one `Connection`.

    `local` gives the address of the local host before each connection; every other address, and the
    key, come from the settings and the environment. Fields that the host refuses by name are left out
    of every further request.
    """

    def __init__(
        self,
        model: Model,
        environment: Mapping[str, str] | None = None,
        *,
        local: Callable[[], Awaitable[Address]] | None = None,
        style: Style | None = None,
        clock: Clock | None = None,
        options: Options | None = None,
    ) -> None:
        self._local = model.protocol == "local"
        self._model = model
        self._style = style_of(model, style or (LOCAL_STYLE if self._local else REMOTE_CHAT))
        self._omit = set(model.omit)
        self._environment = environment
        self._address = self._configured if local is None else local
        self._options = replace(options or Options(), cancel=self._cancel(), network=network(model))
        self._clock = clock
        self._opened: Connection | None = None

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def style(self) -> Style:
        return self._style

    @property
    def wasted_tokens(self) -> int:
        """Output tokens of answers that nobody waited for any longer, as far as they are known."""
        return 0 if self._opened is None else self._opened.wasted_tokens

    @property
    def lanes(self) -> bool | None:
        """Whether the host takes several answers on one connection; None while that is not known."""
        return None if self._opened is None else self._opened.lanes

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """See `Backend.stream`."""
        while True:
            try:
                async with aclosing(self._attempt(request)) as events:
                    async for event in events:
                        yield event
                return
            except FieldRefused as refused:
                # Refused before anything was generated, so nothing was yielded yet.
                if refused.field in self._omit:
                    raise
                log.info("model %s: %s takes no `%s`", self.name, self._model.model, refused.field)
                self._omit.add(refused.field)
                self._connection.cancel = self._cancel()

    async def warm(self, request: Request) -> None:
        """See `Backend.warm`."""
        context = self._context(request)
        readable = self._local or context is not None
        call = Call(self._builder(request, generate=False), provides=context) if readable else None
        try:
            await self._connection.warm(call, first_token=EDIT_PATIENCE, long=request.task != "complete")
        except BackendError as error:
            log.debug("model %s: not warmed up: %s", self.name, error)

    async def close(self) -> None:
        """See `Backend.close`."""
        if self._opened is not None:
            await self._opened.close()

    @property
    def _connection(self) -> Connection:
        if self._opened is None:
            self._opened = Connection(self.name, self._address, self._options, self._clock)
        return self._opened

    async def _attempt(self, request: Request) -> AsyncGenerator[Event, None]:
        call = Call(self._builder(request, generate=True), continues=self._context(request))
        cutter = StopCutter(() if self._local else request.stop)
        tokens = 0
        long = request.task != "complete"
        answer = self._connection.stream(call, first_token=patience(request, local=self._local), long=long)
        async with aclosing(answer) as events:
            async for event in events:
                match event:
                    case TextDelta():
                        tokens += 1
                        if kept := cutter.push(event.text):
                            yield Delta(kept, event.logprobs, event.timings)
                        if cutter.stopped:
                            break
                    case Ended():
                        if rest := cutter.finish():
                            yield Delta(rest)
                        yield finish_of(event)
                        return
        # The stop text is our own doing here, so the call is cancelled and its tokens are ours to count.
        yield Finish("stop", Usage(output_tokens=tokens, estimated=True))

    def _builder(self, request: Request, *, generate: bool) -> Callable[[str | None, str | None], str]:
        def build(lane: str | None, parent: str | None) -> str:
            fields = body(self._model, request, continued=parent is not None, omit=self._omit)
            if self._local:
                fields |= _for_local(request)
            elif not generate and isinstance(request.prompt, Chat):
                fields["input"] = [user_turn(part) for part in readable_ahead(request.prompt, request)]
            return create_frame(
                self._model.model, lane=lane, previous_response_id=parent, generate=generate, extra=fields
            )

        return build

    def _context(self, request: Request) -> tuple[str, tuple[str, ...], str | None] | None:
        """The part of a prompt that a warm-up can leave with the host; the local host keeps its own cache."""
        chat = request.prompt
        if self._local or not isinstance(chat, Chat) or not (ahead := readable_ahead(chat, request)):
            return None
        return (chat.instructions, ahead, cache_key(request))

    def _cancel(self) -> Cancel:
        if self._model.cancel != "auto":
            return self._model.cancel
        if self._local:
            return "event"
        # Without a bound on its length an abandoned answer could run on for ever.
        return "close" if "max_output_tokens" in self._omit else "lane"

    async def _configured(self) -> Endpoint:
        return endpoint_of(self._model, self._environment)


def endpoint_of(model: Model, environment: Mapping[str, str] | None) -> Endpoint:
    """The address of a remote model's socket. Raises Unauthorized when its key is not there."""
    url = joined(model.url or VENDOR, "responses")
    key = key_of(model, VENDOR_KEY, environment)
    scheme = {"https": "wss", "http": "ws"}.get(urlsplit(url).scheme)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return Endpoint(
        url if scheme is None else f"{scheme}:{url.partition(':')[2]}",
        headers | extra_headers(model, environment),
    )


def _for_local(request: Request) -> dict[str, Any]:
    """Our own host ends at stop texts, and caches prefixes itself: a chat is one user turn for it."""
    fields: dict[str, Any] = {}
    if request.stop:
        fields["stop"] = list(request.stop)
    if isinstance(request.prompt, Chat):
        fields["input"] = request.prompt.context + request.prompt.question
    return fields
