"""The Responses protocol over HTTP: the same events as on the WebSocket, as server-sent events."""

import json
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing

from lsp_server.core.prompt import Fill
from lsp_server.engine.errors import Rejected
from lsp_server.engine.ports import Delta, Event, Request
from lsp_server.model.failures import from_event, from_failed
from lsp_server.model.hosting import joined
from lsp_server.model.http import Http
from lsp_server.model.responses import VENDOR, VENDOR_KEY, body, finish_of
from lsp_server.model.sse import EventDecoder
from lsp_server.settings import Model
from lsp_server.texts import models as texts
from lsp_server.wire.client import Ended, ErrorEvent, TextDelta, event_of
from lsp_server.wire.errors import WireError


class ResponsesDialect:
    """See `Dialect`."""

    vendor = VENDOR
    vendor_key = VENDOR_KEY

    def __init__(self, model: Model) -> None:
        self._model = model

    async def answer(
        self, http: Http, request: Request, omit: Collection[str]
    ) -> AsyncGenerator[Event, None]:
        if isinstance(request.prompt, Fill):
            raise Rejected(texts.INSTRUCTIONS_ONLY.format(model=self._model.name))
        fields = body(self._model, request, continued=False, omit=omit) | {"stream": True}
        decoder = EventDecoder()
        async with aclosing(http.post(joined(http.base, "responses"), fields)) as pieces:
            async for piece in pieces:
                for sent in decoder.push(piece):
                    match _read(sent.data):
                        case TextDelta(text=text, logprobs=logprobs):
                            yield Delta(text, logprobs)
                        case Ended(status="failed") as ended:
                            raise from_failed(http.where, ended)
                        case Ended() as ended:
                            yield finish_of(ended)
                        case ErrorEvent() as error:
                            raise from_event(http.where, error)

    def stops(self, request: Request) -> tuple[str, ...]:
        return request.stop

    async def prepare(self, http: Http, request: Request) -> None:
        """Nothing can be sent ahead: without a connection there is no state to leave behind."""


def _read(data: str) -> object:
    try:
        return event_of(json.loads(data))
    except (WireError, ValueError, RecursionError):
        return None
