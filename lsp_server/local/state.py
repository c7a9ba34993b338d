"""How the processes of one user find the model host: four small files in one folder.

`host.lock` is held by the host as long as it lives, `host.pid` says which process that is,
`host.json` where it listens, and `token` holds the bearer token, readable by the user alone.
"""

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from lsp_server.local.lock import is_locked
from lsp_server.local.places import host_dir

GENERATION = 1
"""Raised when clients need something of the host that an older one does not have."""


@dataclass(frozen=True, slots=True)
class State:
    """A host that listens. `url` is the base URL of the contract, `generation` what it understands."""

    pid: int
    url: str
    token_file: str
    generation: int = GENERATION

    @property
    def port(self) -> int:
        return int(self.url.removeprefix("ws://").partition("/")[0].rpartition(":")[2])

    def token(self) -> str:
        """The bearer token, empty when the file cannot be read."""
        try:
            return Path(self.token_file).read_text().strip()
        except (OSError, ValueError):
            return ""


def lock_path() -> Path:
    return host_dir() / "host.lock"


def log_path() -> Path:
    return host_dir() / "host.log"


def token_path() -> Path:
    return host_dir() / "token"


def read_state() -> State | None:
    """What the last host wrote, whether it still lives or not; None when nothing can be read."""
    try:
        return State(**json.loads((host_dir() / "host.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def write_state(state: State, token: str) -> None:
    """Tell others where to connect. Both files are the user's alone."""
    _write(token_path(), token)
    _write(host_dir() / "host.json", json.dumps(asdict(state)))


def write_pid(pid: int) -> None:
    _write(host_dir() / "host.pid", str(pid))


def running_pid() -> int | None:
    """The process of the host that lives now, whether it answers or not."""
    if not is_locked(lock_path()):
        return None
    try:
        return int((host_dir() / "host.pid").read_text())
    except (OSError, ValueError):
        return None


def clear_state() -> None:
    """Remove what a host left, once it is certain that none lives."""
    for name in ("host.json", "host.pid", "token"):
        with suppress(OSError):
            (host_dir() / name).unlink()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    fresh.replace(path)
