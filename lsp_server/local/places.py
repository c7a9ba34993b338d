"""Where the embedded model keeps its files. `MIDSTREAM_CACHE` moves all of it."""

import os
import platform
import re
from pathlib import Path

from lsp_server.settings.folders import named_path, user_folder


def cache_dir() -> Path:
    """The user's cache directory of this product; it may not exist yet."""
    chosen = os.environ.get("MIDSTREAM_CACHE")
    return named_path(chosen) if chosen else user_folder("cache")


def models_dir() -> Path:
    """Where verified weights lie, one GGUF file each."""
    return cache_dir() / "models"


def host_dir() -> Path:
    """Where the running host of this machine is described. Homes can be shared between machines."""
    machine = re.sub(r"[^A-Za-z0-9_.-]", "_", platform.node()) or "localhost"
    return cache_dir() / "host" / machine
