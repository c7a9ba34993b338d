"""One transfer of weights: how far it is, whether it is still wanted, and what can go wrong with it."""

import errno
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lsp_server.engine.errors import ModelMissing
from lsp_server.texts import embedded as texts

RATE_WINDOW = 5.0
"""Seconds over which the rate is averaged."""

REPORT_EVERY = 0.1
"""Seconds between two reports."""

SPARE = 64 * 1024 * 1024
"""Bytes that a download leaves free on the disk."""


class DigestMismatch(ModelMissing):
    """The bytes are not those of the catalogue; the file is gone."""


class DiskFull(ModelMissing):
    """There is no room for the weights."""


class SourceFailed(ModelMissing):
    """This source cannot deliver; the next one may."""


class Cancelled(Exception):
    """The transfer is no longer wanted. What has arrived stays for the next try."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a pull is: bytes, bytes per second, and seconds left where they can be told."""

    phase: Literal["downloading", "verifying"]
    source: str
    done: int
    total: int
    rate: float = 0.0
    left: float | None = None

    @property
    def percent(self) -> int:
        return min(100, self.done * 100 // max(1, self.total))


class Transfer:
    """What a source reports to, and asks whether to go on. Made once per pull, used from one thread."""

    def __init__(self, total: int, report: Callable[[Progress], None], cancelled: threading.Event) -> None:
        self.total = total
        self.source = ""
        self._report = report
        self._cancelled = cancelled
        self._seen: deque[tuple[float, int]] = deque()
        self._next = 0.0
        self._most = 0

    def began(self, source: str) -> None:
        self.source = source
        self._most = 0
        self._seen.clear()

    def reached(self, done: int, phase: Literal["downloading", "verifying"] = "downloading") -> None:
        """Report `done` bytes. Raises Cancelled when the transfer is no longer wanted."""
        self.check()
        if phase == "downloading":
            # A package is a little larger than what it holds, and a bar that goes back would look broken.
            done = self._most = min(self.total, max(done, self._most))
        now = time.monotonic()
        if now < self._next and done < self.total:
            return
        self._next = now + REPORT_EVERY
        self._seen.append((now, done))
        while now - self._seen[0][0] > RATE_WINDOW:
            self._seen.popleft()
        since, before = self._seen[0]
        rate = (done - before) / (now - since) if since < now else 0.0
        left = (self.total - done) / rate if rate > 0 else None
        self._report(Progress(phase, self.source, done, self.total, rate, left))

    def check(self) -> None:
        if self._cancelled.is_set():
            raise Cancelled


def require_room(folder: Path, needed: int) -> None:
    """Raises DiskFull when `needed` bytes do not fit into `folder` with something to spare."""
    free = shutil.disk_usage(folder).free
    if free < needed + SPARE:
        raise disk_full(folder, needed, free)


def disk_full(folder: Path, needed: int, free: int | None = None) -> DiskFull:
    room = texts.DISK_FULL if free is None else texts.DISK_FREE.format(free=megabytes(free))
    return DiskFull(texts.NO_ROOM.format(needed=megabytes(needed), folder=folder, room=room))


@contextmanager
def disk_errors(folder: Path, needed: int) -> Iterator[None]:
    """Turn a write that ran out of space into DiskFull, and one that is not allowed into a sentence."""
    try:
        yield
    except OSError as error:
        if is_disk_error(error):
            raise disk_full(folder, needed) from error
        if isinstance(error, PermissionError):
            raise ModelMissing(texts.CANNOT_STORE.format(folder=folder, reason=error.strerror)) from error
        raise


def is_disk_error(error: BaseException) -> bool:
    """Whether a write failed for want of room."""
    full = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return isinstance(error, OSError) and error.errno in full


def megabytes(size: float) -> str:
    """A size in words, in decimal units: `491 MB`, `1.12 GB`."""
    return f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
