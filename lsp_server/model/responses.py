"""What both transports of the Responses protocol share: the fields of a request, the end of an answer.

Field names: the openai SDK's `types/responses/response_create_params.py`.
"""

from collections.abc import Collection
from typing import Any

from lsp_server.core.prompt import Chat, Fill, with_comments
from lsp_server.engine.errors import Interrupted
from lsp_server.engine.ports import Finish, Request, Usage
from lsp_server.model.hosting import cache_key
from lsp_server.settings import Model
from lsp_server.texts import models as texts
from lsp_server.wire import client
from lsp_server.wire.server import LOGPROBS

VENDOR = "https://api.openai.com/v1"
VENDOR_KEY = "env:OPENAI_API_KEY"


def body(model: Model, request: Request, *, continued: bool, omit: Collection[str] = ()) -> dict[str, Any]:
    """The fields of a request, without transport, lane and parent.

    A `Fill` travels in the standard `prompt` field. A `Chat` is instructions and two user turns, the
    stable context first; `continued` leaves that one out, because the parent holds it.
    """
    fields: dict[str, Any] = {
        "model": model.model,
        "store": False,
        "max_output_tokens": request.max_tokens,
        "prompt_cache_key": cache_key(request),
    }
    match request.prompt:
        case Fill():
            fill = with_comments(request.prompt)
            variables = {"prefix": fill.prefix, "suffix": fill.suffix}
            if fill.blanks:
                variables["blanks"] = fill.blanks
            fields["prompt"] = {"id": fill.layout, "variables": variables}
        case Chat() as chat:
            fields["instructions"] = chat.instructions
            fields["input"] = turns(chat, continued=continued)
    if request.logprobs:
        fields["include"] = [LOGPROBS]
    if model.effort:
        fields["reasoning"] = {"effort": model.effort}
    if model.verbosity:
        fields["text"] = {"verbosity": model.verbosity}
    if model.tier:
        fields["service_tier"] = model.tier
    if model.temperature is not None:
        fields["temperature"] = model.temperature
    fields |= model.extra
    return {name: value for name, value in fields.items() if value is not None and name not in omit}


def turns(chat: Chat, *, continued: bool) -> str | list[dict[str, Any]]:
    if continued or not chat.context:
        return chat.request
    return [{"role": "user", "content": chat.context}, {"role": "user", "content": chat.request}]


def finish_of(ended: client.Ended) -> Finish:
    """The last item of a stream. Raises Interrupted where the host ended an answer that was still wanted."""
    usage = Usage(
        input_tokens=ended.usage.input_tokens,
        cached_tokens=ended.usage.cached_tokens,
        output_tokens=ended.usage.output_tokens,
        written_tokens=ended.usage.cache_write_tokens,
    )
    if ended.status == "completed":
        return Finish("stop", usage, ended.timings)
    if ended.reason == "content_filter":
        return Finish("filter", usage, ended.timings)
    if ended.reason == "cancelled":
        raise Interrupted(texts.ENDED_EARLY)
    return Finish("length", usage, ended.timings)
