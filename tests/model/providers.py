"""The HTTP providers under test: their settings, a request, and a recorded body of an answer."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2

from lsp_server.core.prompt import Chat, Fill
from lsp_server.engine.ports import Request
from lsp_server.settings import Model

BODIES = Path(__file__).parent / "bodies"
TEXT = "a = '🦊é'"
ENVIRONMENT = {"KEY": "sk-canary-0123456789abcdef"}

CHAT = Request("complete", Chat("Be brief.", "the file", " the task"), max_tokens=32, cache_key="file:///a")
FILL = replace(CHAT, prompt=Fill("def f(", "):\n", "fim", True, "a.py", "python"))


@dataclass(frozen=True)
class Provider:
    """One row of the table of providers. `cached` is whether its answers tell of cached tokens."""

    name: str
    model: Model
    request: Request
    path: str
    cached: bool = True

    @property
    def body(self) -> bytes:
        return next(BODIES.glob(f"{self.name}.*")).read_bytes()

    def at(self, url: str, **changes: Any) -> Model:
        return replace(self.model, url=url + self.model.url, **changes)


def _provider(name: str, path: str, base: str, request: Request, **options: Any) -> Provider:
    cached = options.pop("cached", True)
    model = Model(name="fast", model="m", url=base, key="env:KEY", **options)
    return Provider(name, model, request, path, cached)


PROVIDERS = [
    _provider("responses-http", "/v1/responses", "/v1", CHAT, protocol="responses-http"),
    _provider("chat-http", "/v1/chat/completions", "/v1", CHAT, protocol="chat-http"),
    _provider("anthropic-http", "/v1/messages", "", CHAT, protocol="anthropic-http"),
    _provider("fim-completions", "/v1/completions", "/v1", FILL, protocol="fim-http", fim="completions"),
    _provider("fim-mistral", "/v1/fim/completions", "/v1", FILL, protocol="fim-http", fim="mistral"),
    _provider("fim-deepseek", "/beta/completions", "/beta", FILL, protocol="fim-http", fim="deepseek"),
    _provider("fim-mercury", "/v1/fim/completions", "/v1", FILL, protocol="fim-http", fim="mercury"),
    _provider("fim-ollama", "/api/generate", "", FILL, protocol="fim-http", fim="ollama", cached=False),
    _provider("fim-llama-cpp", "/infill", "", FILL, protocol="fim-http", fim="llama-cpp"),
]


class Pieces(httpx2.AsyncByteStream):
    """A response body in these pieces."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece
