"""Anthropic's messages as a stream, through the anthropic SDK: fast mode, prompt caching, no prefill.

The reply is never begun for the model (prefill), because every model since 4.6 refuses that.
"""

from collections.abc import AsyncGenerator, Collection
from typing import Any, Literal

import anthropic
from anthropic import AsyncAnthropic

from lsp_server.core.prompt import Fill
from lsp_server.engine.errors import Rejected
from lsp_server.engine.ports import Delta, Event, Finish, Request, Usage
from lsp_server.model.hosts import FAST_BETA, fast_needs_header, takes_speed
from lsp_server.model.http import Http
from lsp_server.model.sdk import translated_sdk
from lsp_server.settings import Model
from lsp_server.texts import models as texts

CACHED = {"type": "ephemeral"}


class AnthropicDialect:
    """See `Dialect`."""

    vendor = "https://api.anthropic.com"
    vendor_key = "env:ANTHROPIC_API_KEY"

    def __init__(self, model: Model) -> None:
        self._model = model

    async def answer(
        self, http: Http, request: Request, omit: Collection[str]
    ) -> AsyncGenerator[Event, None]:
        fields = self.body(request, omit)
        client = AsyncAnthropic(
            api_key=http.key or "none",
            # The SDK adds the version to the path by itself.
            base_url=http.base.removesuffix("/v1"),
            default_headers=self.headers(http.headers, fields),
            http_client=http.client,
            max_retries=0,
        )
        reason: str | None = None
        usage = Usage()
        with translated_sdk(http.where, anthropic):
            stream = await client.messages.create(
                model=fields.pop("model"),
                max_tokens=fields.pop("max_tokens"),
                messages=fields.pop("messages"),
                stream=True,
                extra_body=fields,
            )
            async with stream:
                await http.check(stream.response)
                async for event in stream:
                    match event.type:
                        case "message_start":
                            usage = _usage(event.message.usage, usage)
                        case "content_block_delta" if event.delta.type == "text_delta":
                            yield Delta(event.delta.text)
                        case "message_delta":
                            usage = _usage(event.usage, usage)
                            reason = event.delta.stop_reason
                        case "message_stop":
                            yield Finish(_REASONS.get(reason or "", "stop"), usage)

    def body(self, request: Request, omit: Collection[str] = ()) -> dict[str, Any]:
        """The fields of a request, stable parts first; each of the two has a mark for the cache."""
        chat = request.prompt
        if isinstance(chat, Fill):
            raise Rejected(texts.INSTRUCTIONS_ONLY.format(model=self._model.name))
        model = self._model
        parts: list[dict[str, Any]] = [{"type": "text", "text": chat.question}]
        if chat.context:
            parts.insert(0, {"type": "text", "text": chat.context, "cache_control": CACHED})
        fields: dict[str, Any] = {
            "model": model.model,
            "max_tokens": request.max_tokens,
            "system": [{"type": "text", "text": chat.instructions, "cache_control": CACHED}],
            "messages": [{"role": "user", "content": parts}],
            "stream": True,
            "stop_sequences": [stop for stop in request.stop if stop.strip()] or None,
            "temperature": model.temperature,
            "output_config": {"effort": model.effort} if model.effort else None,
            "service_tier": model.tier or None,
            "speed": model.speed if model.speed and takes_speed(model.model) else None,
        }
        fields |= model.extra
        return {name: value for name, value in fields.items() if value is not None and name not in omit}

    def headers(self, added: dict[str, str], fields: dict[str, Any]) -> dict[str, str]:
        """The headers of the settings, and the beta that fast mode needs where it is a preview."""
        if fields.get("speed") != "fast" or not fast_needs_header(str(fields["model"])):
            return added
        usual = {name.lower(): value for name, value in added.items()}
        betas = [beta.strip() for beta in usual.get("anthropic-beta", "").split(",") if beta.strip()]
        return usual | {"anthropic-beta": ",".join(dict.fromkeys([*betas, FAST_BETA]))}

    def stops(self, request: Request) -> tuple[str, ...]:
        """The host takes no stop text made of blanks alone."""
        return tuple(stop for stop in request.stop if not stop.strip())

    async def prepare(self, http: Http, request: Request) -> None:
        """Nothing is sent ahead: the host fills its cache with the first request that carries the marks."""


_REASONS: dict[str, Literal["stop", "length", "filter"]] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "filter",
}


def _usage(counted: Any, before: Usage) -> Usage:
    """Usage is cumulative; input here includes what was read from and written to the cache, unlike there.

    A later event may leave out what an earlier one has told.
    """
    cached = counted.cache_read_input_tokens
    written = counted.cache_creation_input_tokens
    parts = (counted.input_tokens, cached, written)
    told = any(part is not None for part in parts) and counted.input_tokens is not None
    return Usage(
        input_tokens=sum(part or 0 for part in parts) if told else before.input_tokens,
        cached_tokens=before.cached_tokens if cached is None else cached,
        output_tokens=counted.output_tokens,
        written_tokens=before.written_tokens if written is None else written,
    )
