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

    A `Fill` travels in the standard `prompt` field. A `Chat` is instructions and a user turn for each part,
    the stable context first; `continued` leaves out what the parent holds.
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
            fields["input"] = turns(chat, request, continued=continued)
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


def turns(chat: Chat, request: Request, *, continued: bool) -> str | list[dict[str, Any]]:
    """The parts of a prompt as user turns; a text where there is only one."""
    ahead = readable_ahead(chat, request)
    parts = [part for part in (chat.context, chat.request, chat.wish) if part]
    kept = parts[len(ahead) :] if continued else parts
    return kept[0] if len(kept) == 1 else [user_turn(part) for part in kept]


def readable_ahead(chat: Chat, request: Request) -> tuple[str, ...]:
    """The parts that a host can read before the rest is known: all but what the user asks, or types."""
    parts = (chat.context, chat.request) if request.task == "edit" and chat.wish else (chat.context,)
    return tuple(part for part in parts if part)


def user_turn(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


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
