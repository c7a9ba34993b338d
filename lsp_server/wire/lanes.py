"""The names of lanes: independent streams on one socket, chosen by `stream_id`.

Requests on one lane are answered in order and never overlap; lanes run beside each other.
A request without `stream_id` uses the default lane, which counts towards no limit.
"""

import re

MAX_NAMES = 32
"""Distinct lane names that a provider accepts during the life of one connection."""

MAX_ACTIVE = 16
"""Answers that a provider runs at the same time on one connection; more are queued."""

LIFETIME = 60 * 60.0
"""Seconds after which a provider ends a connection."""

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,256}")


def is_lane(name: object) -> bool:
    """Whether a `stream_id` is well formed: 1 to 256 letters, digits, `_`, `-` and `.`."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def lane_names(count: int) -> tuple[str, ...]:
    """The names that a client rotates through, far below the limit of distinct names."""
    return tuple(f"m{number}" for number in range(count))
