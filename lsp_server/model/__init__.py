"""The model side: one module for each protocol family, each with an implementation of `Backend`.

Modules are chosen by the `protocol` of a model's settings and imported only then, because the vendors'
SDKs cost up to two seconds.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from lsp_server.core.prompt import Style
from lsp_server.engine.ports import Backend
from lsp_server.model.dial import Address, Endpoint
from lsp_server.model.hosting import REMOTE_CHAT
from lsp_server.settings import Model
from lsp_server.texts import models as texts

if TYPE_CHECKING:
    from lsp_server.model.http_backend import Dialect

__all__ = ["Address", "Endpoint", "backend"]


def backend(
    model: Model,
    environment: Mapping[str, str] | None = None,
    *,
    local: Callable[[], Awaitable[Address]] | None = None,
    style: Style | None = None,
) -> Backend:
    """The backend of one model of the settings; nothing is connected before the first request.

    Keys are looked up in `environment`, by default the process's. `local` gives the address and the
    token of the local host, which it may start first. `style` is how the weights of a local model want
    their prompts; the settings override it.
    """
    match model.protocol:
        case "local" if local is None:
            raise ValueError(texts.NO_LOCAL_ADDRESS.format(model=model.name))
        case "local":
            from lsp_server.model.responses_ws import ResponsesBackend

            return ResponsesBackend(model, environment, local=local, style=style)
        case "responses-ws":
            from lsp_server.model.responses_auto import ResponsesAutoBackend
            from lsp_server.model.responses_ws import ResponsesBackend

            return ResponsesAutoBackend(
                ResponsesBackend(model, environment), lambda: over_http(model, environment)
            )
    return over_http(model, environment)


def over_http(model: Model, environment: Mapping[str, str] | None = None) -> Backend:
    """The backend of a model whose protocol has an HTTP form; a WebSocket address counts as its HTTP one."""
    from lsp_server.model.http_backend import HttpBackend

    model = replace(model, url=_http_url(model.url))
    dialect, style = dialect_of(model)
    return HttpBackend(model, environment, dialect, style)


def dialect_of(model: Model) -> "tuple[Dialect, Style]":
    """The dialect of an HTTP protocol, and how its models want completions."""
    match model.protocol:
        case "chat-http":
            from lsp_server.model.chat_http import ChatDialect

            return ChatDialect(model), REMOTE_CHAT
        case "anthropic-http":
            from lsp_server.model.anthropic_http import AnthropicDialect

            return AnthropicDialect(model), REMOTE_CHAT
        case "fim-http":
            from lsp_server.model.fim_http import FimDialect

            dialect = FimDialect(model)
            return dialect, dialect.style
    from lsp_server.model.responses_http import ResponsesDialect

    return ResponsesDialect(model), REMOTE_CHAT


def _http_url(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    return {"wss": "https", "ws": "http"}.get(scheme, scheme) + separator + rest
