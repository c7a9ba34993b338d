"""An editor without a window: the command line's way through the same engine."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from lsp_server.core.document import Change, Document
from lsp_server.core.edits import Patch
from lsp_server.core.text import Encoding, Range
from lsp_server.engine.assistant import Assistant
from lsp_server.engine.errors import MidstreamError
from lsp_server.engine.ports import ApplyReply, Models, Result, Status
from lsp_server.engine.workspace import Workspace
from lsp_server.settings import Settings
from lsp_server.texts import commands as texts

LANGUAGES = {
    ".py": "python", ".pyi": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".jsx": "javascriptreact", ".ts": "typescript", ".mts": "typescript", ".tsx": "typescriptreact",
    ".go": "go", ".rs": "rust", ".java": "java", ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp",
    ".cxx": "cpp", ".hpp": "cpp", ".cs": "csharp", ".rb": "ruby", ".php": "php", ".f90": "fortran",
    ".f": "fortran", ".f95": "fortran", ".f03": "fortran", ".f08": "fortran", ".sh": "shellscript",
    ".bash": "shellscript", ".lua": "lua", ".html": "html", ".htm": "html", ".css": "css", ".kt": "kotlin",
    ".hs": "haskell", ".cob": "cobol", ".cbl": "cobol", ".md": "markdown",
}  # fmt: skip


class HeadlessEditor:
    """Implements the engine's `Editor`: applies each patch at once and reports it, as a fast client would."""

    groups_undo = True
    retriggers = False

    def __init__(
        self, settings: Settings, models: Models, on_change: Callable[[Document], None] | None = None
    ) -> None:
        self.workspace = Workspace(Encoding.UTF32)
        self.assistant = Assistant(lambda: settings, self.workspace, models, self)
        self._on_change = on_change

    def open(self, path: Path) -> Document:
        """Open a file. Raises MidstreamError when it cannot be read as text."""
        text = read_source(path)
        uri = path.resolve().as_uri()
        self.assistant.document_opened(uri, LANGUAGES.get(path.suffix.lower(), "plaintext"), 1, text)
        document = self.workspace.get(uri)
        assert document is not None
        return document

    def checks_version(self, version: int) -> bool:
        return True

    async def apply(self, patch: Patch, *, generation: str, first: bool, label: str) -> ApplyReply:
        document = self.workspace.get(patch.uri)
        if document is None or document.version != patch.version:
            return "refused"
        encoding = self.workspace.encoding
        where = Range(
            document.position(patch.edit.start, encoding), document.position(patch.edit.end, encoding)
        )
        self.assistant.document_changed(patch.uri, [Change(where, patch.edit.text)], patch.version + 1)
        changed = self.workspace.get(patch.uri)
        if self._on_change is not None and changed is not None:
            self._on_change(changed)
        return "applied"

    def status(self, status: Status) -> None:
        if status.state == "downloading":
            print("\r" + texts.FETCHING.format(percent=status.percent), end="", file=sys.stderr)

    def ended(self, result: Result) -> None:
        pass

    def show(self, kind: Literal["info", "warning", "error"], sentence: str) -> None:
        print(f"midstream: {sentence}", file=sys.stderr)


def read_source(path: Path) -> str:
    """A file's text with its line ends as they are. Raises MidstreamError with what is wrong."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise MidstreamError(texts.NO_FILE.format(file=path)) from None
    except UnicodeDecodeError:
        raise MidstreamError(texts.NOT_UTF8.format(file=path)) from None
    except OSError as error:
        raise MidstreamError(texts.CANNOT_BE_READ.format(file=path, reason=error.strerror)) from None


def place(text: str, *, column: bool) -> tuple[Path, int, int]:
    """FILE:LINE or FILE:LINE:COLUMN, 1-based. Raises MidstreamError for anything else."""
    parts = text.rsplit(":", 2 if column else 1)
    wanted = "FILE:LINE:COLUMN" if column else "FILE:LINE"
    if len(parts) != (3 if column else 2) or not all(part.isdigit() and int(part) > 0 for part in parts[1:]):
        raise MidstreamError(texts.NOT_A_PLACE.format(wanted=wanted, text=text))
    return Path(parts[0]), int(parts[1]), int(parts[2]) if column else 1


def offset_of(document: Document, line: int, column: int) -> int:
    """A 1-based place in code points; the column clamps. Raises MidstreamError past the last line."""
    if line > document.line_count:
        raise MidstreamError(texts.NO_LINE.format(line=line, count=document.line_count))
    start = document.line_start(line - 1)
    return min(start + column - 1, start + len(document.line(line - 1).rstrip("\r\n")))
