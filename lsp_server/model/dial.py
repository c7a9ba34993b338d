"""Opening one WebSocket: TLS, proxies, redirects, and a named error for each way it can fail."""

import errno
import logging
import re
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidStatus, ProxyError

from lsp_server.engine.errors import BackendError, Unreachable
from lsp_server.model.failures import Where, from_status, words_of
from lsp_server.texts import models as texts

MAX_SIZE = 16 * 1024 * 1024
"""Bytes of the largest frame taken; a larger one ends the connection with a sentence."""

OPEN_TIMEOUT = 10.0
KEEP_ALIVE = 20.0

# At the debug level websockets logs headers and frames, the key and the user's code among them.
_quiet = logging.getLogger("lsp_server.model.websocket")
_quiet.setLevel(logging.WARNING)

_HARMLESS = {"user-agent", "accept", "content-type", "openai-beta", "anthropic-beta", "anthropic-version"}


class UpgradeRefused(Unreachable):
    """The host answers, but speaks no WebSocket at this address; another protocol may work there."""

    code = "upgrade_refused"
    retryable = False


class Address(Protocol):
    """Where to connect: a `ws:` or `wss:` URL, and the headers of the upgrade, Authorization among them."""

    @property
    def url(self) -> str: ...
    @property
    def headers(self) -> Mapping[str, str]: ...


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address as a value."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Network:
    """How to connect. `proxy`: a URL, "" for HTTPS_PROXY and NO_PROXY, "none" for no proxy.

    `ca_file` is a PEM file trusted beside the system's certificates.
    """

    ca_file: str = ""
    proxy: str = ""


class _Connect(connect):
    """Follows no redirect: it could lead, with the key, to another host."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


async def dial(where: Where, endpoint: Address, network: Network) -> ClientConnection:
    """Open a WebSocket. Raises one of the engine's BackendErrors with a sentence for the user."""
    parts = urlsplit(endpoint.url)
    options: dict[str, Any] = {"proxy": proxy_for(parts.hostname or "", network)}
    if parts.scheme == "wss":
        options["ssl"] = tls_context(network.ca_file)
    if not is_loopback(parts.hostname or ""):
        # A family that does not work (IPv6 without a route) must not use up the time for the other one.
        options["happy_eyeballs_delay"] = 0.25
    try:
        return await _Connect(
            endpoint.url,
            additional_headers=dict(endpoint.headers),
            user_agent_header="midstream",
            compression=None,
            max_size=MAX_SIZE,
            open_timeout=OPEN_TIMEOUT,
            ping_interval=KEEP_ALIVE,
            ping_timeout=KEEP_ALIVE,
            close_timeout=1,
            logger=_quiet,
            **options,
        )
    except (OSError, InvalidHandshake, InvalidMessage, EOFError, ValueError, ssl.SSLError) as error:
        raise from_exception(where, error) from None


def where_of(model: str, endpoint: Address) -> Where:
    """Whom sentences about this endpoint name, and the secrets in its headers."""
    values = [value for name, value in endpoint.headers.items() if name.lower() not in _HARMLESS]
    secrets = tuple(value.removeprefix("Bearer ") for value in values)
    return Where(model, urlsplit(endpoint.url).netloc.rpartition("@")[2] or endpoint.url, secrets)


def is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def proxy_for(host: str, network: Network) -> str | bool | None:
    """What `websockets` and the HTTP clients take: a URL, True for the environment's, None for no proxy."""
    if is_loopback(host) or network.proxy == "none":
        return None
    return network.proxy or True


def tls_context(ca_file: str) -> ssl.SSLContext:
    """The system's certificates, and those of `ca_file`. Raises Unreachable when the file is no good."""
    # Imported here because it costs start-up time and only remote hosts need it.
    import truststore

    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca_file:
        try:
            context.load_verify_locations(cafile=ca_file)
        except (OSError, ssl.SSLError) as error:
            raise Unreachable(texts.NO_CERTIFICATE.format(file=ca_file, reason=error)) from None
    return context


def from_exception(where: Where, error: Exception) -> BackendError:
    """The error of a connection that did not come to be, or of a request that could not be sent."""
    words = where.quote(str(error))
    match error:
        case InvalidStatus():
            return _from_response(where, error)
        case ssl.SSLCertVerificationError():
            return Unreachable(
                texts.UNTRUSTED.format(host=where.host, reason=error.verify_message),
                detail=words,
            )
        case ssl.SSLError():
            reason = error.reason or words
            return Unreachable(texts.NOT_SECURE.format(host=where.host, reason=reason), detail=words)
        case socket.gaierror():
            return Unreachable(texts.NO_NAME.format(host=where.host), detail=words)
        case OSError() if refused_everywhere(error):
            return Unreachable(texts.NOTHING_LISTENS.format(host=where.host), detail=words)
        case ConnectionError():
            return Unreachable(texts.NOT_OPENED.format(host=where.host), detail=words)
        case TimeoutError():
            return Unreachable(texts.NO_ANSWER.format(host=where.host), detail=words)
        case ProxyError():
            return Unreachable(texts.PROXY_FAILED.format(host=where.host, reason=words), detail=words)
        case InvalidMessage() | EOFError():
            return UpgradeRefused(texts.NO_WEBSOCKET.format(host=where.host), detail=words)
        case InvalidHandshake():
            return UpgradeRefused(texts.WEBSOCKET_REFUSED.format(host=where.host, reason=words), detail=words)
    return Unreachable(texts.NO_CONNECTION.format(host=where.host, reason=words), detail=words)


def refused_everywhere(error: Exception) -> bool:
    """True where nothing listens; of a host with several addresses asyncio joins the errors in one text."""
    numbers = set(re.findall(r"\[Errno (\d+)\]", str(error)))
    return isinstance(error, ConnectionRefusedError) or numbers == {str(errno.ECONNREFUSED)}


def _from_response(where: Where, error: InvalidStatus) -> BackendError:
    response = error.response
    status = response.status_code
    headers = {name.lower(): value for name, value in response.headers.raw_items()}
    words = words_of(bytes(response.body or b""))
    if 300 <= status < 400:
        target = urlsplit(headers.get("location", "")).netloc or texts.ANOTHER_ADDRESS
        return Unreachable(texts.REDIRECTS.format(host=where.host, target=where.quote(target)))
    if status < 400 or status in (400, 404, 405, 426, 501):
        return UpgradeRefused(
            texts.NO_WEBSOCKET_STATUS.format(host=where.host, status=status), detail=where.quote(words)
        )
    return from_status(where, status, words, headers)


async def closed_quietly(connection: ClientConnection) -> None:
    """Close politely; whatever goes wrong no longer matters."""
    try:
        await connection.close()
    except (TimeoutError, OSError):
        connection.transport.abort()
