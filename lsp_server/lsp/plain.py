"""Plain JSON out of what pygls structured without knowing its type."""

from typing import Any


def plain(value: Any) -> Any:
    """The plain JSON of what pygls structured without knowing its type."""
    if hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
