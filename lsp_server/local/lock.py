"""A lock between processes, released by the system when its holder dies."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PAUSE = 0.05
"""Seconds between two tries while another process holds the lock."""


@contextmanager
def file_lock(path: Path, *, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock file at `path`. `waiting` is called before each new try and may raise to give up."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while not _try_lock(descriptor):
            waiting()
            time.sleep(PAUSE)
        yield
    finally:
        # Closing releases the lock on every system.
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def is_locked(path: Path) -> bool:
    """Whether another process, or another part of this one, holds the lock."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _try_lock(descriptor)
    finally:
        os.close(descriptor)
