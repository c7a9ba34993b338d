"""What every protocol reads from a model's settings: addresses, headers, styles, tasks."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit

from lsp_server.core.prompt import Style
from lsp_server.engine.errors import Unauthorized
from lsp_server.engine.ports import Request
from lsp_server.model.dial import Network
from lsp_server.settings import MissingKey, Model, resolve_key
from lsp_server.texts import models as texts

COMPLETION_PATIENCE = 10.0
"""Seconds that a completion waits for its first text."""

EDIT_PATIENCE = 30.0
"""Seconds that any other answer waits for its first text."""

REMOTE_CHAT = Style("chat", prefix_tokens=1024, suffix_tokens=384)
"""How remote models that take instructions want their completions: they gain from more context."""

REMOTE_FIM = Style("fim", prefix_tokens=1024, suffix_tokens=384)

HOST_OF_ONE = replace(REMOTE_FIM, context_tokens=0)
"""A model that somebody runs for himself may be small and slow; the user says so if it is not."""


def style_of(model: Model, default: Style) -> Style:
    """The style that the settings ask for; what they leave open is the protocol's default."""
    return Style(
        kind=default.kind if model.style == "auto" else model.style,
        prefix_tokens=model.prefix_tokens or default.prefix_tokens,
        suffix_tokens=default.suffix_tokens if model.suffix_tokens is None else model.suffix_tokens,
        budget=default.budget,
        block_kind=default.block_kind if model.style == "auto" else None,
        context_tokens=default.context_tokens if model.context_tokens is None else model.context_tokens,
    )


def patience(request: Request, *, local: bool = False) -> float:
    """Seconds to wait for the first text; the local host may have to load its weights first."""
    return COMPLETION_PATIENCE if request.task == "complete" and not local else EDIT_PATIENCE


def network(model: Model) -> Network:
    return Network(ca_file=model.ca_file, proxy=model.proxy)


def key_of(model: Model, usual: str, environment: Mapping[str, str] | None) -> str:
    """The API key; `usual` is the reference that the vendor's own address implies.

    Raises Unauthorized with a sentence that names what is missing, never the key.
    """
    reference = model.key or ("" if model.url else usual)
    try:
        return resolve_key(reference, environment)
    except MissingKey as missing:
        raise Unauthorized(texts.NO_KEY.format(model=model.name, missing=missing)) from None


def extra_headers(model: Model, environment: Mapping[str, str] | None) -> dict[str, str]:
    """The headers that the settings add; `env:NAME` and `keyring:NAME` stand for a secret."""
    headers: Mapping[str, str] = model.headers
    try:
        return {
            name: resolve_key(value, environment) if value.startswith(("env:", "keyring:")) else value
            for name, value in headers.items()
        }
    except MissingKey as missing:
        raise Unauthorized(texts.NO_HEADER.format(model=model.name, missing=missing)) from None


def joined(base: str, path: str) -> str:
    """The address of a resource below a base URL; a base that already ends in it stays as it is."""
    parts = urlsplit(base)
    place = parts.path.rstrip("/")
    if not place.endswith("/" + path):
        place = f"{place}/{path}"
    return urlunsplit((parts.scheme, parts.netloc, place, parts.query, ""))


def cache_key(request: Request) -> str | None:
    """The request's cache key, without what it tells: it may hold a path of the user's machine."""
    if not request.cache_key:
        return None
    return hashlib.sha256(request.cache_key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
