"""One HTTP client for one model: HTTP/1.1, connections kept alive, no redirects, named errors.

HTTP/1.1 because there an abort closes the connection, which is the only cancel that a provider sees;
over HTTP/2 the client sends no reset and the provider generates on.
"""

import json
import logging
import socket
import ssl
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx2

from lsp_server.engine.errors import BackendError, Interrupted, Rejected, Stalled, Unreachable
from lsp_server.engine.ports import Quota
from lsp_server.model.dial import from_exception, is_loopback, tls_context
from lsp_server.model.failures import Where, from_code, from_status, words_of
from lsp_server.model.hosting import extra_headers, key_of
from lsp_server.model.inbox import PAUSE, Lost
from lsp_server.model.waits import quota_of
from lsp_server.settings import Model
from lsp_server.texts import models as texts

# Below this level they log requests, the key and the user's code among them.
for _name in ("httpx2", "httpcore2", "openai", "anthropic"):
    logging.getLogger(_name).setLevel(logging.WARNING)

KEPT_ALIVE = 600.0
"""Seconds that an idle connection is kept."""

CONNECT = 10.0
"""Seconds to open a connection."""


class Http:
    """`base` is the URL below which a provider's resources lie, `headers` those the settings add.

    `sent` is called when a POST has left, on the connection that it then keeps busy. `quota` is what the
    last answer told of the host's limits. Raises Unauthorized when the key that the settings name is not
    there.
    """

    def __init__(
        self,
        model: Model,
        environment: Mapping[str, str] | None,
        *,
        vendor: str,
        vendor_key: str,
        sent: Callable[[], None] = lambda: None,
    ) -> None:
        self.base = (model.url or vendor).rstrip("/")
        self.quota: Quota | None = None
        self._model = model
        self._environment = environment
        self._vendor_key = vendor_key
        self.authorize()
        parts = urlsplit(self.base)
        proxied = not is_loopback(parts.hostname or "") and model.proxy != "none"
        self.client = httpx2.AsyncClient(
            http2=False,
            follow_redirects=False,
            verify=tls_context(model.ca_file) if parts.scheme == "https" else False,
            proxy=(model.proxy or None) if proxied else None,
            trust_env=proxied and not model.proxy,
            timeout=httpx2.Timeout(PAUSE, connect=CONNECT, pool=CONNECT),
            limits=httpx2.Limits(max_connections=20, keepalive_expiry=KEPT_ALIVE),
            event_hooks={"request": [self._watch], "response": [self._heard]},
        )
        self._sent = sent

    def authorize(self) -> None:
        """Read the key and the headers, afresh after the host has refused them."""
        self.key = key_of(self._model, self._vendor_key, self._environment)
        self.headers = extra_headers(self._model, self._environment)
        host = urlsplit(self.base).netloc.rpartition("@")[2]
        self.where = Where(self._model.name, host, (self.key, *self.headers.values()))

    async def post(self, url: str, body: Mapping[str, Any]) -> AsyncGenerator[bytes, None]:
        """Send JSON and read the answer as it comes. Hold it in `aclosing`: closing it aborts the request.

        Raises BackendErrors, and Lost when the connection broke before anything was answered.
        """
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        headers |= {"Content-Type": "application/json", "User-Agent": "midstream"} | self.headers
        with translated(self.where):
            async with self.client.stream(
                "POST", url, content=json.dumps(body).encode(), headers=headers
            ) as response:
                await self.check(response)
                async for data in response.aiter_bytes():
                    yield data

    async def get_json(self, url: str) -> Any:
        """A small JSON document; None when there is none."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        try:
            response = await self.client.get(url, headers=headers | self.headers)
            return response.json() if response.status_code == 200 else None
        except (httpx2.HTTPError, ValueError):
            return None

    async def check(self, response: httpx2.Response) -> None:
        """Raise the error that a response stands for, a page of a portal included."""
        if response.status_code < 300:
            if "text/html" in response.headers.get("content-type", ""):
                raise Unreachable(texts.WEB_PAGE.format(host=self.where.host))
            return
        body = await response.aread()
        raise error_of(self.where, response.status_code, body, response.headers)

    async def open_idle(self) -> None:
        """Open a connection ahead of need, without the key: what the host answers does not matter."""
        with suppress(httpx2.HTTPError):
            await self.client.head(self.base, headers={"User-Agent": "midstream"})

    async def _watch(self, request: httpx2.Request) -> None:
        if request.method == "POST":
            request.extensions["trace"] = self._trace

    async def _heard(self, response: httpx2.Response) -> None:
        if response.request.method == "POST":
            self.quota = quota_of(_lowered(response.headers))

    async def _trace(self, event: str, _: Mapping[str, Any]) -> None:
        if event == "http11.send_request_body.complete":
            self._sent()

    async def close(self) -> None:
        await self.client.aclose()


def error_of(where: Where, status: int, body: bytes, headers: Mapping[str, str]) -> BackendError:
    """The error of a response that is not an answer."""
    lowered = _lowered(headers)
    if status < 400:
        target = urlsplit(lowered.get("location", "")).netloc or texts.ANOTHER_ADDRESS
        return Unreachable(texts.REDIRECTS.format(host=where.host, target=where.quote(target)))
    error = _error_object(body)
    param = error.get("param")
    named = param if isinstance(param, str) else None
    return from_status(where, status, words_of(body), lowered, named)


def error_in_stream(where: Where, value: object) -> BackendError:
    """The error of an `error` object inside a stream that began well."""
    error = value if isinstance(value, dict) else {"message": str(value)}
    code = error.get("code") or error.get("type")
    status = code if isinstance(code, int) else 500
    words = str(error.get("message", ""))
    return from_code(where, code if isinstance(code, str) else None, status, words, {})


@contextmanager
def translated(where: Where) -> Iterator[None]:
    """Turns what the HTTP client raises into the engine's errors, and into Lost where nothing had come."""
    try:
        yield
    except httpx2.HTTPError as error:
        raise translation(where, error) from None
    except httpx2.InvalidURL as error:
        raise Rejected(texts.BAD_URL.format(model=where.model, reason=where.quote(str(error)))) from None


def translation(where: Where, error: httpx2.HTTPError) -> Exception:
    """The BackendError, or Lost, that an error of the HTTP client stands for."""
    match error:
        case httpx2.ConnectTimeout() | httpx2.PoolTimeout():
            return Unreachable(texts.NO_ANSWER.format(host=where.host))
        case httpx2.TimeoutException():
            return Stalled(texts.STOPPED_ANSWERING.format(host=where.host))
        case httpx2.ConnectError():
            return from_exception(where, _cause(error))
        case httpx2.ProxyError():
            return Unreachable(texts.PROXY_FAILED.format(host=where.host, reason=where.quote(str(error))))
        case httpx2.UnsupportedProtocol():
            return Rejected(texts.HTTP_URL.format(model=where.model))
    return Lost(Interrupted(texts.BROKE_IN_ANSWER.format(host=where.host)), resend=True)


# Chains of causes may run in a circle.
_DEPTH = 10


def _cause(error: BaseException) -> Exception:
    """The operating system's own error under the client's wrapping."""
    found: BaseException | None = error
    for _ in range(_DEPTH):
        if isinstance(found, (ssl.SSLError, socket.gaierror, ConnectionRefusedError)):
            return found
        if isinstance(found, BaseExceptionGroup):
            # One error for each address of the host.
            found = found.exceptions[-1]
        else:
            found = found and (found.__cause__ or found.__context__)
    return Exception(str(error))


def _lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _error_object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, dict) else {}
