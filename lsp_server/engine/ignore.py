"""The ignore files that hold for a document, read again as soon as they change on disk."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lsp_server.core.guard import IgnoreFile, may_leave, path_of

NAMES = (".gitignore", ".aiignore", ".copilotignore", ".cursorignore")
LARGEST = 1_000_000
"""Bytes of an ignore file that are read, at most."""

REMEMBERED = 1000

Stamp = tuple[int, int, int]
Basis = tuple[tuple[IgnoreFile, ...], tuple[str, ...]]


@dataclass(slots=True)
class IgnoreFiles:
    """Says which documents must stay on the machine.

    Every question looks at the ignore files of the document's directory and all above it: one `stat` each,
    a read only where something changed. It is asked on the way to each request, so an answer is kept for as
    long as it rests on the same rules.
    """

    _read: dict[str, tuple[Stamp, IgnoreFile]] = field(default_factory=dict)
    _answers: dict[str, tuple[Basis, str | None]] = field(default_factory=dict)

    def reason(self, uri: str, own: Sequence[str] = ()) -> str | None:
        """Why nothing of this document may be sent, as a sentence; None when it may.

        `own` are the patterns of `context.ignore`. A link is judged by its own name and by its target's.
        """
        path = path_of(uri)
        if not path.startswith("/") or "\0" in path:
            return self._judged(path, (), tuple(own))
        real = path_of(os.path.realpath(_native(path)))
        reason = self._judged(path, self._files_above(path), tuple(own))
        if reason is None and real != path:
            reason = self._judged(real, self._files_above(real), tuple(own))
        return reason

    def _judged(self, path: str, files: tuple[IgnoreFile, ...], own: tuple[str, ...]) -> str | None:
        known = self._answers.get(path)
        if known is not None and known[0] == (files, own):
            return known[1]
        if len(self._answers) >= REMEMBERED:
            self._answers.clear()
        reason = may_leave(path, files, own, fold=sys.platform in ("win32", "darwin"))
        self._answers[path] = (files, own), reason
        return reason

    def _files_above(self, path: str) -> tuple[IgnoreFile, ...]:
        """The ignore files that speak of a path. A `.gitignore` above the repository does not."""
        found: list[IgnoreFile] = []
        in_repository = True
        directory = path
        while "/" in directory:
            directory = directory.rpartition("/")[0]
            for name in NAMES:
                if (name != ".gitignore" or in_repository) and (file := self._file(directory, name)):
                    found.append(file)
            in_repository = in_repository and not os.path.lexists(_native(f"{directory}/.git"))
        return tuple(found)

    def _file(self, directory: str, name: str) -> IgnoreFile | None:
        path = f"{directory}/{name}"
        try:
            # Most of these files do not exist, and making a Path costs more than asking.
            status = os.stat(_native(path))  # noqa: PTH116
            stamp = status.st_mtime_ns, status.st_size, status.st_ino
            known = self._read.get(path)
            if known is None or known[0] != stamp:
                with Path(_native(path)).open("rb") as stream:
                    text = stream.read(LARGEST).decode("utf-8-sig", "replace")
                known = self._read[path] = stamp, IgnoreFile(directory, name, text)
        except OSError:
            self._read.pop(path, None)
            return None
        return known[1]


def _native(path: str) -> str:
    """`/c:/w` -> `c:/w` on Windows, which takes forward slashes; elsewhere the path itself."""
    return path[1:] if sys.platform == "win32" and path[2:3] == ":" else path
