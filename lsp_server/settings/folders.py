"""The user's folders, also where the user has no home."""

import os
from pathlib import Path
from typing import Literal

HOMELESS = {"cache": ".cache", "config": ".config", "data": ".local/share"}


def user_folder(kind: Literal["cache", "config", "data"]) -> Path:
    """Where this product keeps such files; an absolute path, which may not exist.

    Without a home the root stands in for it, as in a container whose HOME is `/`: a relative path would be
    one inside the project that happens to be open.
    """
    import platformdirs

    try:
        path = getattr(platformdirs, f"user_{kind}_path")("midstream", appauthor=False)
    except RuntimeError:
        return Path(os.sep, HOMELESS[kind], "midstream")
    # Older releases leave the `~` in place.
    return path if path.is_absolute() else Path(os.sep, *path.parts[1:])


def named_path(text: str) -> Path:
    """A path that the user wrote, `~` included; it stays as it is where there is no home."""
    return Path(os.path.expanduser(text))  # noqa: PTH111 (`Path.expanduser` raises without a home)
