"""What must not leave: files by their ignore rules, secrets inside text, keys inside messages."""

from lsp_server.core.guard.ignoring import IgnoreFile, may_leave, path_of
from lsp_server.core.guard.masking import Masked, Unmask, mask
from lsp_server.core.guard.redaction import redact
from lsp_server.core.guard.secrets import find_secrets, is_prepared, prepare

__all__ = [
    "IgnoreFile",
    "Masked",
    "Unmask",
    "find_secrets",
    "is_prepared",
    "mask",
    "may_leave",
    "path_of",
    "prepare",
    "redact",
]
