"""Chat completions as a stream, through the openai SDK: OpenAI, Gemini, Cerebras, Groq, SambaNova, vLLM,
SGLang, and any other compatible host."""

from collections.abc import AsyncGenerator, Collection
from typing import Any, Literal

import openai
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import Choice

from lsp_server.core.prompt import Chat, Fill
from lsp_server.engine.errors import Rejected
from lsp_server.engine.ports import Delta, Event, Finish, Request, Usage
from lsp_server.model.hosting import cache_key
from lsp_server.model.hosts import quirks_of
from lsp_server.model.http import Http
from lsp_server.model.responses import VENDOR, VENDOR_KEY
from lsp_server.model.sdk import translated_sdk
from lsp_server.settings import Model
from lsp_server.texts import models as texts


class ChatDialect:
    """See `Dialect`."""

    vendor = VENDOR
    vendor_key = VENDOR_KEY

    def __init__(self, model: Model) -> None:
        self._model = model
        self._quirks = quirks_of(model.url or VENDOR)

    async def answer(
        self, http: Http, request: Request, omit: Collection[str]
    ) -> AsyncGenerator[Event, None]:
        fields = self.body(request, omit)
        # The SDK wants a key even where the host wants none.
        client = AsyncOpenAI(
            api_key=http.key or "none",
            base_url=http.base,
            default_headers=http.headers,
            http_client=http.client,
            max_retries=0,
        )
        reason, usage = "", Usage()
        with translated_sdk(http.where, openai):
            stream = await client.chat.completions.create(
                model=fields.pop("model"),
                messages=fields.pop("messages"),
                stream=True,
                extra_body=fields,
            )
            async with stream:
                await http.check(stream.response)
                async for chunk in stream:
                    for choice in chunk.choices or ():
                        if choice.delta and (text := choice.delta.content):
                            yield Delta(text, _logprobs(choice))
                        reason = choice.finish_reason or reason
                    usage = _usage(chunk) or usage
        if reason:
            yield Finish(_REASONS.get(reason, "stop"), usage)

    def body(self, request: Request, omit: Collection[str] = ()) -> dict[str, Any]:
        """The fields of a request; the stable part of the prompt comes first, for the host's prefix cache."""
        chat = request.prompt
        if isinstance(chat, Fill):
            raise Rejected(texts.INSTRUCTIONS_ONLY.format(model=self._model.name))
        model = self._model
        fields: dict[str, Any] = {
            "model": model.model,
            "messages": messages(chat),
            "stream": True,
            "stream_options": {"include_usage": True},
            self._quirks.limit: request.max_tokens,
            "stop": list(request.stop[: self._quirks.stops]) or None,
            "temperature": model.temperature,
            "logprobs": request.logprobs or None,
            "reasoning_effort": model.effort or None,
            "service_tier": model.tier or None,
            "prompt_cache_key": cache_key(request),
        }
        left_out = {*omit, *(self._quirks.omit - model.extra.keys())}
        fields |= model.extra
        return {name: value for name, value in fields.items() if value is not None and name not in left_out}

    def stops(self, request: Request) -> tuple[str, ...]:
        return request.stop[self._quirks.stops :]

    async def prepare(self, http: Http, request: Request) -> None:
        """Nothing can be sent ahead; the host caches prefixes by itself."""


def messages(chat: Chat) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": chat.instructions},
        {"role": "user", "content": chat.context + chat.question},
    ]


_REASONS: dict[str, Literal["stop", "length", "filter"]] = {"length": "length", "content_filter": "filter"}


def _logprobs(choice: Choice) -> tuple[float, ...]:
    if choice.logprobs is None:
        return ()
    return tuple(token.logprob for token in choice.logprobs.content or ())


def _usage(chunk: ChatCompletionChunk) -> Usage | None:
    usage = chunk.usage
    if usage is None:
        return None
    details = usage.prompt_tokens_details
    # DeepSeek counts its cache in a field of its own.
    cached = details.cached_tokens if details else (usage.model_extra or {}).get("prompt_cache_hit_tokens")
    written = details.cache_write_tokens if details else None
    return Usage(usage.prompt_tokens, cached or 0, usage.completion_tokens, written_tokens=written or 0)
