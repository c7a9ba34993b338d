"""Nothing that is logged holds a key, a prompt or code."""

import io
import logging
from collections.abc import Callable, Iterator

import pytest

from lsp_server.engine.logs import RedactingFilter

KEY = "CANARY-KEY-0123456789"
CODE = "def canary():\n    return 1\n"


@pytest.fixture
def logged() -> Iterator[Callable[[str], str]]:
    """Log through the filter at every level; gives what a logger of that name wrote."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(RedactingFilter(lambda: [KEY]))
    root = logging.getLogger()
    before = root.handlers[:], root.level
    root.handlers[:] = [handler]
    root.setLevel(1)
    yield lambda name: stream.getvalue()
    root.handlers[:], root.level = before


def test_B115_no_library_logs_a_body(logged: Callable[[str], str]) -> None:
    for name in ("pygls.protocol.json_rpc", "websockets.client", "openai._base_client", "httpcore.http11"):
        logger = logging.getLogger(name)
        logger.info("Sending data: %s", f'{{"text": "{CODE}"}}')
        logger.debug('Received result for message "%s": %s', 7, {"text": CODE})
        logger.debug("Sending request with id %(id)s: %(params)s", {"id": 8, "params": [CODE]})
        logger.error("Unable to deserialize message\n" + CODE * 20)
        logger.debug("> TEXT '%s' [%d bytes]", CODE, 40)
        try:
            raise ValueError(f"bad message {CODE}")
        except ValueError:
            logger.exception('Exception occurred for message "%s"', 9)
    assert "canary" not in logged("pygls")
    assert 'Exception occurred for message "9"' in logged("pygls")
    assert "ValueError\n" in logged("pygls")


def test_B115_no_key_is_logged_by_anyone(logged: Callable[[str], str]) -> None:
    logger = logging.getLogger("lsp_server.model")
    logger.warning("refused: %s", f"Authorization: Bearer {KEY}")
    logger.warning(f"refused {KEY[:12]}…")
    logger.warning("100% {KEY} sure".replace("{KEY}", KEY))
    logger.warning("bad format %d", KEY)
    try:
        try:
            raise OSError(KEY)
        except OSError as error:
            raise RuntimeError(f"handshake with {KEY}") from error
    except RuntimeError:
        logger.exception("failed")
    assert "CANARY-K" not in logged("lsp_server")
    assert "RuntimeError: handshake with [key]" in logged("lsp_server")
    assert "caused by OSError" in logged("lsp_server")


def test_ordinary_records_stay_as_they_are(logged: Callable[[str], str]) -> None:
    logging.getLogger("lsp_server").info("listening on %s port %d", "127.0.0.1", 80)
    logging.getLogger("pygls.server").info("Starting TCP server on %s:%s", "127.0.0.1", 80)
    assert logged("").splitlines() == [
        "listening on 127.0.0.1 port 80",
        "Starting TCP server on 127.0.0.1:80",
    ]
