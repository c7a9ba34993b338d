"""The Responses WebSocket as a server on loopback.

One path speaks the contract (`/v1/responses`), one answers a plain GET with the status as JSON
(`/v1/status`). Both want the bearer token. A request that carries an Origin comes from a web page
and is turned away, and so is one whose Host is not this machine's loopback address: a page that
rebinds its name to 127.0.0.1 still sends its own name.
"""

import hmac
import json
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from lsp_server.local.answers import Generate
from lsp_server.local.session import Counters, Rules, Session

RESPONSES = "/v1/responses"
STATUS = "/v1/status"
BASE = "/v1"
MAX_FRAME = 16 * 1024 * 1024
DEFAULT_RULES = Rules()

# A handshake that ends in a plain answer is everyday business here, and websockets reports it as an error.
_quiet = logging.getLogger("midstream.face")
_quiet.setLevel(logging.CRITICAL)


class Face:
    """Serves clients until it is closed; use it as an asynchronous context manager.

    `status` gives the body of the status answer. `changed` is called when a client comes or goes.
    """

    def __init__(
        self,
        generate: Generate,
        *,
        token: str,
        rules: Rules = DEFAULT_RULES,
        status: Callable[[], dict[str, Any]] = dict,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.clients = 0
        self.counters = Counters()
        self.sockets: set[ServerConnection] = set()
        self._generate = generate
        self._token = token
        self._rules = rules
        self._status = status
        self._changed = changed
        self._server: Server | None = None

    async def __aenter__(self) -> "Face":
        self._server = await serve(
            self._serve,
            "127.0.0.1",
            0,
            process_request=self._admit,
            compression=None,
            max_size=MAX_FRAME,
            close_timeout=1,
            logger=_quiet,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    @property
    def port(self) -> int:
        assert self._server is not None, "the face is not open"
        port: int = next(iter(self._server.sockets)).getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """The base URL for clients of the contract, without the path of the resource."""
        return f"ws://127.0.0.1:{self.port}/v1"

    async def _serve(self, socket: ServerConnection) -> None:
        self.clients += 1
        self.sockets.add(socket)
        self._changed()
        try:
            await Session(socket, self._generate, self._rules, self.counters).serve()
        finally:
            self.clients -= 1
            self.sockets.discard(socket)
            self._changed()

    def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        path = request.path.partition("?")[0]
        if request.headers.get("Host", "") not in self._own_names():
            return _refusal(connection, HTTPStatus.FORBIDDEN, "This is not the host that was asked for.")
        if "Origin" in request.headers:
            return _refusal(connection, HTTPStatus.FORBIDDEN, "Web pages are not served.")
        if not _is_bearer(request.headers.get("Authorization", ""), self._token):
            return _refusal(connection, HTTPStatus.UNAUTHORIZED, "The bearer token is missing or wrong.")
        if path == STATUS:
            response = connection.respond(HTTPStatus.OK, json.dumps(self._status()) + "\n")
            del response.headers["Content-Type"]
            response.headers["Content-Type"] = "application/json"
            return response
        if path not in (RESPONSES, BASE):
            return _refusal(connection, HTTPStatus.NOT_FOUND, f"There is nothing at {path}.")
        return None

    def _own_names(self) -> tuple[str, ...]:
        return tuple(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost"))


def _is_bearer(authorization: str, token: str) -> bool:
    return hmac.compare_digest(authorization.encode(), f"Bearer {token}".encode())


def _refusal(connection: ServerConnection, status: HTTPStatus, sentence: str) -> Response:
    return connection.respond(status, sentence + "\n")
