"""What a decoded JSON value must be to count as a message."""

from typing import Any


def is_message(value: Any) -> bool:
    """True for a request, a notification or a response of JSON-RPC 2.0."""
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return False
    method, number = value.get("method"), value.get("id")
    if not isinstance(number, int | str | None) or not isinstance(method, str | None):
        return False
    return method is not None or "id" in value


def valid_id(params: Any) -> bool:
    """True for the parameters of a cancel whose id can be one."""
    return isinstance(params, dict) and isinstance(params.get("id"), int | str)
