"""Nothing that is logged holds a key, a prompt or code."""

import io
import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lsp_server.engine.logs import WIRE_LOGGERS, RedactingFilter, configure, keys_in
from lsp_server.settings import Log, Settings, load, resolve_key

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


@pytest.fixture
def restored() -> Iterator[None]:
    """Logging as pytest has set it up is there again after the test."""
    root = logging.getLogger()
    before = root.handlers[:], root.level
    levels = {name: logging.getLogger(name).level for name in WIRE_LOGGERS}
    root.handlers[:] = []
    yield
    for handler in root.handlers:
        handler.close()
    root.handlers[:], root.level = before
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


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


def with_key(reference: str) -> Settings:
    model = {"protocol": "chat-http", "model": "m", "key": reference, "headers": {"api-key": "env:OTHER"}}
    return load(None, {}, {"models": {"x": model}}, None)[0]


@pytest.mark.parametrize("level", ["trace", "info", "error"])
def test_B115_a_log_file_at_any_level_holds_no_key_and_no_code(
    tmp_path: Path, level: str, restored: None
) -> None:
    file = tmp_path / "midstream.log"
    environment = {"K": KEY, "OTHER": "CANARY-OTHER-0123456789", "UNRELATED": "lsp_server"}
    configure(Log(level=level, file=str(file)), lambda: keys_in(with_key("env:K"), environment))  # type: ignore[arg-type]
    logging.getLogger("pygls.protocol").info("Sending data: %s", CODE)
    logging.getLogger("lsp_server.model").error("401 for %s and %s", KEY, environment["OTHER"])
    text = file.read_text()
    assert "401 for [key] and [key]" in text
    assert ("Sending data: <str>" in text) == (level == "trace")
    assert "canary" not in text.lower()
    assert file.stat().st_mode & 0o77 == 0


def test_a_log_file_that_cannot_be_written_is_stderr(tmp_path: Path, restored: None) -> None:
    configure(Log(file=str(tmp_path / "absent" / "x.log")))
    assert [type(handler) for handler in logging.getLogger().handlers] == [logging.StreamHandler]


def test_keys_that_are_not_set_are_not_looked_for() -> None:
    known = set(keys_in(with_key("env:K"), {}))
    assert known == set(keys_in(with_key("keyring:x"), {}))
    assert set(keys_in(with_key("env:K"), {"K": " a-key-of-its-own\n"})) == known | {"a-key-of-its-own"}


def test_keys_of_the_key_store_are_looked_for_once_they_were_read(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = "a key that only the key store has"
    assert stored not in keys_in(with_key("keyring:x"), {})
    monkeypatch.setattr("keyring.get_password", lambda service, name: stored)
    assert resolve_key("keyring:x") == stored
    assert stored in keys_in(with_key("keyring:x"), {})
