"""Finding the model host, starting it when there is none, and replacing it when it does not answer.

Only the files of `state` are shared between processes. Who wants to start a host holds a lock
meanwhile, so that any number of editor windows that open at once start one host.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Literal

from lsp_server.engine.errors import ModelMissing, Unreachable
from lsp_server.local import weights
from lsp_server.local.face import RESPONSES, STATUS
from lsp_server.local.lock import file_lock
from lsp_server.local.places import host_dir
from lsp_server.local.processor import require_runtime
from lsp_server.local.state import (
    GENERATION,
    State,
    clear_state,
    log_path,
    read_state,
    running_pid,
)
from lsp_server.local.threads import in_thread
from lsp_server.texts import embedded as texts

START_PATIENCE = 20.0
"""Seconds for a new host to listen; it does so before it loads any weights."""

ANSWER_PATIENCE = 3.0
STOP_PATIENCE = 10.0
POLL = 0.05
MAX_LOG = 1_000_000


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to connect, and the headers that let one in. Loopback must never go through a proxy."""

    url: str
    headers: dict[str, str]


async def ensure_host(model: str = "") -> Endpoint:
    """The host of this user, started when it is not running; `model` is what it loads first.

    Raises ModelMissing when the weights or the runtime are not there, Unreachable when it cannot start.
    """
    return await in_thread(lambda: start_host(model), "host launcher")


def start_host(model: str = "") -> Endpoint:
    """As `ensure_host`; blocks."""
    require_runtime()
    if not weights.is_present(model):
        weights.find(model)
        raise ModelMissing(texts.INCOMPLETE)
    found = _living()
    if found is None:
        try:
            with file_lock(host_dir() / "start.lock"):
                found = _living() or _replaced(model)
        except OSError as error:
            raise Unreachable(texts.FOLDER_NEEDED.format(folder=host_dir(), reason=error.strerror)) from error
    return Endpoint(found.url + RESPONSES.removeprefix("/v1"), _headers(found))


def host_status() -> dict[str, Any] | None:
    """What the running host says of itself (see `Host.status`); None when there is none that answers."""
    found = read_state()
    answer = None if found is None else _ask(found)
    return answer if isinstance(answer, dict) else None


def stop_host() -> bool:
    """End the running host, politely and then by force. False when there was none."""
    pid = running_pid()
    if pid is None:
        clear_state()
        return False
    _end(pid, STOP_PATIENCE)
    return True


def _living() -> State | None:
    """The host that answers and understands us."""
    found = read_state()
    if found is None or found.generation < GENERATION:
        return None
    return found if isinstance(_ask(found), dict) else None


def _replaced(model: str) -> State:
    """A new host, in place of one that is dead, cannot be spoken to, or is still on its way."""
    pid = running_pid()
    if pid is not None:
        deadline = time.monotonic() + ANSWER_PATIENCE
        while (found := read_state()) is None or _ask(found) == "silent":
            if deadline < time.monotonic():
                break
            time.sleep(POLL)
        if living := _living():
            return living
        _end(pid, ANSWER_PATIENCE)
    clear_state()
    return _started(model)


def _started(model: str) -> State:
    process = _spawn(model)
    deadline = time.monotonic() + START_PATIENCE
    while time.monotonic() < deadline:
        if found := _living():
            # Reaped when it ends, for a child that nobody waits for stays as a zombie.
            threading.Thread(target=process.wait, name="host reaper", daemon=True).start()
            return found
        if process.poll() is not None:
            break
        time.sleep(POLL)
    ended = process.poll() is not None
    how = texts.HOW_ENDED.format(status=process.returncode) if ended else texts.HOW_SILENT
    if process.returncode is None:
        process.kill()
        process.wait()
    raise Unreachable(texts.HOST_FAILED.format(how=how, log=log_path()), detail=_tail(log_path()))


def _spawn(model: str) -> subprocess.Popen[bytes]:
    folder = host_dir()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    log = log_path()
    mode = "ab" if log.exists() and log.stat().st_size < MAX_LOG else "wb"
    # -P keeps the working directory off the import path.
    command = [sys.executable, "-P", "-m", "lsp_server", "host", "run", "--model", model]
    options: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        flags = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
        options = {"creationflags": flags}
    with log.open(mode) as output:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=folder, **options
        )


def _ask(found: State) -> dict[str, Any] | Literal["refused", "stranger", "silent"]:
    """The status, or why there is none."""
    connection = HTTPConnection("127.0.0.1", found.port, timeout=ANSWER_PATIENCE)
    try:
        connection.request("GET", STATUS, headers=_headers(found))
        response = connection.getresponse()
        status = json.loads(response.read()) if response.status == 200 else None
    except TimeoutError:
        return "silent"
    except OSError:
        return "refused"
    except (HTTPException, ValueError):
        return "stranger"
    finally:
        connection.close()
    return status if isinstance(status, dict) and status.get("pid") == found.pid else "stranger"


def _headers(found: State) -> dict[str, str]:
    return {"Authorization": f"Bearer {found.token()}"}


def _end(pid: int, patience: float) -> None:
    """End a host; the lock that it holds says when it is gone."""
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        with suppress(OSError):
            os.kill(pid, number)
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if running_pid() is None:
                clear_state()
                return
            time.sleep(POLL)
    raise Unreachable(texts.CANNOT_STOP.format(pid=pid))


def _tail(path: Path) -> str:
    try:
        return path.read_text(errors="replace")[-2000:]
    except OSError:
        return ""
