"""How real clients differ, as data, and what they exchange with a server.

Every line of `MODES` was measured on the real client; tests/editors/test_conformance.py keeps it true.
"""

from dataclasses import dataclass, replace
from typing import Literal

from lsp_server.core.document import Change
from lsp_server.core.text import Range
from tests.support.fake_buffer import Landed

Verdict = Literal["applied", "refused", "error"]


@dataclass(frozen=True, slots=True)
class Mode:
    """How a client behaves."""

    name: str
    delay: float = 0.0
    """Seconds for which changes are held back before they are reported; with 0 each is reported at once."""
    replies_first: bool = False
    """A change that is reported at once still comes after the reply to the edit that made it."""
    checks: Literal["any other", "older", "none"] = "any other"
    """The versions that are refused, compared with the client's own, reported or not."""
    refuses: Literal["reply", "error", "lie"] = "reply"
    """How: with `applied: false`, with an error, or with `applied: true` and nothing done."""
    zero_is_unknown: bool = False
    """Takes version 0 for one that need not be compared."""
    first_version: int = 0
    versioned: bool = True
    """Understands `documentChanges`; one that does not never learns of a version."""
    two_steps: bool = False
    """The text lives in another process than the client, so that a key can get in between unseen."""
    full_text: bool = False
    line_diff: bool = False
    """Reports what a look at the changed lines shows, not what was done."""
    minimizes: bool = False
    """Takes an edit apart into the smallest changes of UTF-16 units, before it applies it."""
    groups_undo: bool = False
    merges_undone: bool = False
    """Reports what one undo took back as one change."""
    splits_undone: bool = False
    """Reports each change of an undo by itself."""
    modal: bool = False
    """All that changes while the user is in insert mode is one undo step, whoever changed it."""
    joins_undo: bool = False
    """An edit from outside is not a command: it belongs to the undo step that came before, unless a timer
    has ended that one (`FakeClient.ends_step_after_keys`)."""
    keeps_line_ends: bool = True
    rested: Literal["waits", "reports first", "replies first"] = "waits"
    """What a client does with a change that comes when nothing has happened for longer than `delay`: it
    waits all the same, it reports it ahead of the reply, or after the reply. Neovim counts from its last
    report, Emacs from the user's last key."""


NEOVIM = Mode(
    "neovim",
    delay=0.15,
    checks="older",
    refuses="lie",
    zero_is_unknown=True,
    line_diff=True,
    merges_undone=True,
    modal=True,
    rested="reports first",
)
MODES = {
    mode.name: mode
    for mode in (
        Mode("vscode", first_version=1, two_steps=True, replies_first=True, minimizes=True),
        NEOVIM,
        replace(NEOVIM, name="neovim0", delay=0.0, rested="waits"),
        Mode(
            "eglot",
            delay=0.5,
            refuses="error",
            rested="replies first",
            joins_undo=True,
            keeps_line_ends=False,
        ),
        Mode("lspmode", zero_is_unknown=True, splits_undone=True, joins_undo=True, keeps_line_ends=False),
        Mode("helix"),
        Mode("plain", checks="none", versioned=False),
        Mode("full", delay=0.25, first_version=1, two_steps=True, full_text=True, minimizes=True),
        Mode("neovimpatch", line_diff=True, merges_undone=True, modal=True, groups_undo=True),
        Mode("applypatch", first_version=1, two_steps=True, merges_undone=True, groups_undo=True),
    )
}


@dataclass(frozen=True, slots=True)
class TextEdit:
    """One edit as the client gets it."""

    range: Range
    text: str


@dataclass(frozen=True, slots=True)
class EditRequest:
    """Edits of one document, all relative to the same text. `token` comes back in the reply."""

    token: int
    uri: str
    version: int | None
    edits: tuple[TextEdit, ...]
    first: bool = True


@dataclass(frozen=True, slots=True)
class Opened:
    """The document was opened."""

    uri: str
    language: str
    version: int
    text: str


@dataclass(frozen=True, slots=True)
class Changed:
    """Changes of one document in their order; `text` is what the client had after them."""

    uri: str
    version: int
    changes: tuple[Change, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Closed:
    """The document was closed."""

    uri: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to an `EditRequest`."""

    token: int
    verdict: Verdict


Message = Opened | Changed | Closed | Reply


@dataclass(frozen=True, slots=True)
class Landing:
    """An edit of the server that the buffer took; `foreign` are the keystrokes that it deleted."""

    uri: str
    landed: Landed
    foreign: tuple[int, ...]
