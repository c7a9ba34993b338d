"""docs/privacy.md lists everything that is sent."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SENDERS = [*sorted((ROOT / "lsp_server" / "model").glob("*.py")), ROOT / "lsp_server" / "wire" / "client.py"]
LISTED = set(re.findall(r"`([^`]+)`", (ROOT / "docs" / "privacy.md").read_text(encoding="utf-8")))
NOT_SENT = {
    *("happy_eyeballs_delay", "proxy", "ssl", "request", "response", "trace"),
    *("http", "https", "ws", "wss"),
    *("h", "m", "ms", "s"),
    "message",
}
"""Keys of objects that stay inside: options and hooks of a connection, schemes, units, an error's text."""


def fields(source: str) -> Iterator[str]:
    """Every key that a function puts into an object. Tables at the top of a module are not sent."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            keys: list[ast.expr | None] = []
            if isinstance(node, ast.Dict):
                keys = list(node.keys)
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                keys = [node.slice]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
                yield from (keyword.arg for keyword in node.keywords if keyword.arg)
            yield from (
                key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)
            )


@pytest.mark.parametrize("path", SENDERS, ids=lambda path: path.stem)
def test_every_field_that_is_sent_is_listed(path: Path) -> None:
    missing = set(fields(path.read_text(encoding="utf-8"))) - LISTED - NOT_SENT
    assert not missing, f"say in docs/privacy.md what these fields hold: {', '.join(sorted(missing))}"


def test_a_field_that_is_not_listed_is_found() -> None:
    source = 'def body():\n    fields = {"a": {"b": 1}}\n    fields["c"] = dict(d=1)\nTABLE = {"e": 1}\n'
    assert set(fields(source)) == {"a", "b", "c", "d"}


def test_the_responses_protocol_is_really_read() -> None:
    sent = {field for path in SENDERS for field in fields(path.read_text(encoding="utf-8"))}
    assert {"instructions", "input", "prompt_cache_key", "stream_id", "Authorization"} <= sent
