"""What happens to an error that nobody expected: its trace goes to a file, and the user is told where."""

import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable
from pathlib import Path

from lsp_server import __version__
from lsp_server.core.guard import redact
from lsp_server.engine.logs import keys_in
from lsp_server.local.places import cache_dir
from lsp_server.settings import keys_read, load_user
from lsp_server.texts import commands as texts

LOG = "crash.log"
LARGEST = 1_000_000


def note(error: Exception) -> str:
    """Write the trace down, without keys; the sentence for the user."""
    trace = redact("".join(traceback.format_exception(error)), _secrets())
    head = f"{time.strftime('%Y-%m-%d %H:%M:%S')} midstream {__version__}, Python {platform.python_version()}"
    for folder in (cache_dir(), Path(tempfile.gettempdir())):
        path = folder / LOG
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _append(path, f"{head}, {sys.platform}, {sys.argv[1:2]}\n{trace}\n")
        except OSError:
            continue
        return texts.OWN_MISTAKE.format(path=path)
    return texts.OWN_MISTAKE_UNWRITTEN.format(name=type(error).__name__)


def _secrets() -> Iterable[str]:
    """The keys that this process knows; whatever is wrong with the settings must not end the report."""
    try:
        return keys_in(load_user(os.environ)[0], os.environ)
    except Exception:
        return keys_read()


def _append(path: Path, text: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    flags |= os.O_APPEND if path.exists() and path.stat().st_size < LARGEST else os.O_TRUNC
    with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
