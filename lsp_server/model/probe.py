"""The way to a model's host, one step at a time, so that a failure can be told by its step.

Nothing of the user's is sent here; the key only with the upgrade, as every connection sends it.
"""

import asyncio
import base64
import ipaddress
import socket
import ssl
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from lsp_server.engine.errors import BackendError, Unauthorized, Unreachable
from lsp_server.model import dialect_of
from lsp_server.model.dial import (
    OPEN_TIMEOUT,
    Endpoint,
    Network,
    closed_quietly,
    dial,
    from_exception,
    proxy_for,
    tls_context,
    where_of,
)
from lsp_server.model.failures import Where
from lsp_server.model.hosting import extra_headers, key_of, network
from lsp_server.model.responses_ws import endpoint_of
from lsp_server.settings import Model
from lsp_server.texts import doctor as texts

PORTS = {"https": 443, "wss": 443, "http": 80, "ws": 80}
PROXY_SCHEMES = {
    "wss": ("wss", "socks", "https"),
    "ws": ("ws", "socks", "https", "http"),
    "https": ("https", "all"),
    "http": ("http", "all"),
}
"""Which of the environment's proxies the clients take for a URL, the first that is set."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what was found, or the error that ended it."""

    name: str
    found: str = ""
    error: BackendError | None = None


async def approach(model: Model, environment: Mapping[str, str] | None = None) -> AsyncGenerator[Step, None]:
    """The key, and each step of a connection up to where a request could be sent; ends after a failed one.

    A remote model only: the local host is started first, and has no more than a port.
    """
    try:
        usual = dialect_of(model)[0].vendor_key
        named = (model.key or ("" if model.url else usual), *model.headers.values())
        key_of(model, usual, environment)
        extra_headers(model, environment)
        endpoint = destination(model, environment)
    except BackendError as error:
        yield Step("key", error=error)
        return
    if keys := [reference for reference in named if reference.startswith(("env:", "keyring:"))]:
        yield Step("key", texts.KEY_FOUND.format(keys=", ".join(keys)))
    parts = urlsplit(endpoint.url)
    proxy = proxy_of(parts, network(model))
    where = where_of(model.name, endpoint)
    line = Line(parts, proxy, network(model))
    first = where if proxy is None else Where(model.name, place_of(proxy))
    steps: list[tuple[str, Where, Callable[[], Awaitable[str]]]] = []
    if not _is_number(line.host):
        steps.append(("DNS", first, line.look_up))
    steps.append(("TCP", first, line.connect))
    if proxy is not None and proxy.scheme == "http" and PORTS[parts.scheme] == 443:
        steps.append(("proxy", where, line.ask_proxy))
    tunnelled = proxy is None or proxy.scheme == "http"
    if PORTS[parts.scheme] == 443 and tunnelled:
        steps.append(("TLS", where, line.secure))
    try:
        for name, whom, work in steps:
            step = await _tried(name, whom, work)
            yield step
            if step.error is not None:
                return
    finally:
        line.close()
    if model.protocol == "responses-ws":
        step = await _tried("upgrade", where, lambda: _upgraded(where, endpoint, network(model)))
        yield Step("auth", error=step.error) if isinstance(step.error, Unauthorized) else step


def destination(model: Model, environment: Mapping[str, str] | None) -> Endpoint:
    """Where the requests of a model go. Raises a BackendError where its URL is none."""
    if model.protocol == "responses-ws":
        endpoint = endpoint_of(model, environment)
    else:
        endpoint = Endpoint(model.url or dialect_of(model)[0].vendor, extra_headers(model, environment))
    parts = urlsplit(endpoint.url)
    if parts.scheme not in PORTS or not parts.hostname:
        raise Unreachable(texts.BAD_URL.format(model=model.name))
    return endpoint


def proxy_of(url: SplitResult, network: Network) -> SplitResult | None:
    """The proxy between here and a URL, from the settings or the environment; None for a direct way."""
    host = url.hostname or ""
    proxy = proxy_for(host, network)
    if proxy is True:
        found = getproxies()
        named = next((found[scheme] for scheme in PROXY_SCHEMES[url.scheme] if scheme in found), None)
        proxy = None if proxy_bypass(f"{host}:{port_of(url)}") else named
    if not isinstance(proxy, str) or not proxy:
        return None
    return urlsplit(proxy if "://" in proxy else f"http://{proxy}")


def port_of(url: SplitResult) -> int:
    return url.port or PORTS.get(url.scheme, 1080)


def place_of(url: SplitResult) -> str:
    """Host and port, without the name and password that a proxy's URL may hold."""
    return f"{url.hostname}:{port_of(url)}"


class Line:
    """One connection while it is made: to the host, or to the proxy before it."""

    def __init__(self, url: SplitResult, proxy: SplitResult | None, network: Network) -> None:
        self._url = url
        self._proxy = proxy
        self._network = network
        near = proxy or url
        self.host, self._port = near.hostname or "", port_of(near)
        self._through = "" if proxy is None else f"{texts.THE_PROXY} "
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def look_up(self) -> str:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(self.host, self._port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(address[4][0]) for address in found))
        more = f" {texts.AND_MORE.format(count=len(addresses) - 3)}" if len(addresses) > 3 else ""
        return texts.ADDRESSES.format(
            through=self._through, host=self.host, addresses=", ".join(addresses[:3]), more=more
        )

    async def connect(self) -> str:
        self._reader, self._writer = await asyncio.open_connection(
            self.host, self._port, happy_eyeballs_delay=0.25
        )
        address, port = self._writer.get_extra_info("peername")[:2]
        return texts.CONNECTED.format(through=self._through, address=address, port=port)

    async def ask_proxy(self) -> str:
        """CONNECT, as the clients ask for it. Raises Unreachable with the proxy's own words."""
        assert self._proxy is not None and self._reader is not None and self._writer is not None
        target, name = place_of(self._url), place_of(self._proxy)
        lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
        if self._proxy.username:
            pair = f"{unquote(self._proxy.username)}:{unquote(self._proxy.password or '')}"
            lines.append(f"Proxy-Authorization: Basic {base64.b64encode(pair.encode()).decode()}")
        self._writer.write("\r\n".join([*lines, "", ""]).encode())
        try:
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            raise Unreachable(texts.PROXY_UNREADABLE.format(name=name)) from None
        version, _, said = head.partition("\r\n")[0].partition(" ")
        if not version.startswith("HTTP/"):
            raise Unreachable(texts.PROXY_NO_HTTP.format(name=name))
        if not said.startswith("2"):
            wants = f" {texts.PROXY_WANTS_PASSWORD}" if said.startswith("407") else ""
            raise Unreachable(
                texts.PROXY_REFUSED.format(name=name, target=target, said=said.strip(), wants=wants)
            )
        return texts.PROXY_CONNECTS.format(name=name, target=target)

    async def secure(self) -> str:
        assert self._writer is not None
        await self._writer.start_tls(tls_context(self._network.ca_file), server_hostname=self._url.hostname)
        secured: ssl.SSLObject = self._writer.get_extra_info("ssl_object")
        ends = (secured.getpeercert() or {}).get("notAfter")
        until = texts.VALID_UNTIL.format(ends=ends) if ends else ""
        return texts.TRUSTED.format(version=secured.version(), until=until)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.transport.abort()


async def _tried(name: str, where: Where, work: Callable[[], Awaitable[str]]) -> Step:
    started = time.perf_counter()
    try:
        async with asyncio.timeout(OPEN_TIMEOUT):
            found = await work()
    except BackendError as error:
        return Step(name, error=error)
    except (OSError, EOFError, ValueError) as error:
        return Step(name, error=from_exception(where, error))
    return Step(name, f"{found} ({(time.perf_counter() - started) * 1000:.0f} ms)")


async def _upgraded(where: Where, endpoint: Endpoint, network: Network) -> str:
    await closed_quietly(await dial(where, endpoint, network))
    return texts.SPEAKS_WEBSOCKET


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
