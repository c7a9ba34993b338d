"""Weights on this machine: finding them, pulling them, and being sure of them.

Weights are pulled into a temporary name, verified and then renamed, so that a file under its final
name was complete and right when it came. A note beside it remembers that, with the size and the
time of the file, and start-up does not have to hash half a gigabyte again.
"""

import asyncio
import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsp_server.engine.errors import ModelMissing
from lsp_server.local.catalogue import CATALOGUE, DEFAULT, Entry, entry_of
from lsp_server.local.lock import file_lock
from lsp_server.local.sources import SOURCES, Source
from lsp_server.local.threads import in_thread
from lsp_server.local.transfer import (
    DigestMismatch,
    Progress,
    SourceFailed,
    Transfer,
    disk_errors,
    require_room,
)
from lsp_server.settings.folders import named_path
from lsp_server.texts import embedded as texts

__all__ = [
    "CATALOGUE",
    "DEFAULT",
    "Entry",
    "Progress",
    "Weights",
    "entry_of",
    "find",
    "is_present",
    "pull",
    "pull_in_thread",
    "verify",
]

Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Weights:
    """A GGUF file that can be loaded. `entry` is None for a file of the user's own."""

    path: Path
    entry: Entry | None


def is_present(model: str) -> bool:
    """Whether the weights of this setting are there, by a look that costs nothing."""
    entry = entry_of(model)
    path = named_path(model) if entry is None else entry.path
    return path.is_file() and (entry is None or path.stat().st_size == entry.size)


def find(model: str) -> Weights:
    """The weights of a catalogue name or a path, verified where the catalogue knows them.

    Raises ModelMissing with what to do. A file of the wrong digest is deleted.
    """
    entry = entry_of(model)
    if entry is None:
        path = named_path(model)
        if not path.is_file():
            names = ", ".join(known.name for known in CATALOGUE)
            raise ModelMissing(texts.NO_FILE.format(file=path, names=names))
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise ModelMissing(texts.NO_GGUF.format(file=path))
        return Weights(path, None)
    if not entry.path.is_file():
        raise ModelMissing(texts.NOT_HERE.format(name=entry.name))
    verify(entry, entry.path)
    return Weights(entry.path, entry)


def pull(
    entry: Entry,
    report: Report = lambda _: None,
    *,
    cancelled: threading.Event | None = None,
    sources: Sequence[Source] = SOURCES,
) -> Path:
    """Bring the weights here and return their path; at once where they are here already.

    Blocks; may be called from any thread. Several processes may pull at the same time: one works and
    the others wait for it. Raises ModelMissing (and its kinds DigestMismatch and DiskFull) with a
    sentence, and Cancelled once `cancelled` is set.
    """
    transfer = Transfer(entry.size, report, cancelled or threading.Event())
    folder = entry.path.parent
    with disk_errors(folder, entry.size):
        folder.mkdir(parents=True, exist_ok=True)
        with file_lock(folder / f".{entry.file}.lock", waiting=transfer.check):
            if entry.path.is_file():
                try:
                    verify(entry, entry.path, transfer)
                    return entry.path
                except DigestMismatch:
                    # The damaged file is gone, and fetching it anew is what was asked for.
                    pass
            partial = folder / f".{entry.file}.partial"
            arrived = partial.stat().st_size if partial.exists() else 0
            require_room(folder, entry.size - arrived)
            _fetch(entry, partial, transfer, sources)
            verify(entry, partial, transfer)
            partial.replace(entry.path)
            _note_path(partial).replace(_note_path(entry.path))
    return entry.path


async def pull_in_thread(entry: Entry, report: Report = lambda _: None) -> Path:
    """`pull` beside the event loop; `report` is called on the loop. Cancelling it ends the transfer first."""
    loop = asyncio.get_running_loop()
    cancelled = threading.Event()

    def tell(step: Progress) -> None:
        loop.call_soon_threadsafe(report, step)

    ended = in_thread(lambda: pull(entry, tell, cancelled=cancelled), f"pull {entry.name}")
    try:
        return await asyncio.shield(ended)
    except asyncio.CancelledError:
        cancelled.set()
        await asyncio.wait({ended})
        ended.exception()
        raise


def verify(entry: Entry, path: Path, transfer: Transfer | None = None) -> None:
    """Raises DigestMismatch, and deletes the file, when it does not hold the bytes of the catalogue.

    A file that was verified before and has not changed since is not read again.
    """
    stat = path.stat()
    note = {"size": stat.st_size, "mtime": stat.st_mtime_ns, "sha256": entry.sha256}
    if _noted(path) == note:
        return
    found = _sha256(path, transfer)
    if found != entry.sha256:
        path.unlink()
        _note_path(path).unlink(missing_ok=True)
        raise DigestMismatch(texts.DAMAGED.format(name=entry.name, found=found, sha256=entry.sha256))
    try:
        _note_path(path).write_text(json.dumps(note))
    except OSError:
        # A cache that cannot be written only costs the time to hash again.
        return


def _fetch(entry: Entry, partial: Path, transfer: Transfer, sources: Sequence[Source]) -> None:
    refusals = []
    for source in sources:
        try:
            source(entry, partial, transfer)
            return
        except SourceFailed as refusal:
            refusals.append(str(refusal))
    raise ModelMissing(
        texts.NOT_FETCHED.format(
            name=entry.name, refusals="; ".join(refusals), file=entry.file, folder=entry.path.parent
        )
    )


def _sha256(path: Path, transfer: Transfer | None) -> str:
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while chunk := file.read(4 * 1024 * 1024):
            digest.update(chunk)
            done += len(chunk)
            if transfer is not None:
                transfer.reached(done, "verifying")
    return digest.hexdigest()


def _note_path(path: Path) -> Path:
    return path.with_name(path.name.removeprefix(".") + ".verified")


def _noted(path: Path) -> dict[str, object]:
    try:
        note = json.loads(_note_path(path).read_text())
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}
