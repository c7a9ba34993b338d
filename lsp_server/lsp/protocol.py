"""The messages that Midstream adds to LSP: docs/protocol.md, type by type."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lsp_server.core.edits import Patch
    from lsp_server.engine.ports import Progress, Result, Status

STATUS = "midstream/status"
ENDED = "midstream/ended"
APPLY_PATCH = "midstream/applyPatch"

PREPARE = "midstream.prepare"
EDIT = "midstream.edit"
REDIRECT = "midstream.redirect"
STOP = "midstream.stop"
REVERT = "midstream.revert"
ACCEPT = "midstream.accept"
ESCALATE = "midstream.escalate"
EXPLAIN = "midstream.explain"
PAUSE = "midstream.pause"
SHOW_STATUS = "midstream.status"
USAGE = "midstream.usage"
DOCTOR = "midstream.doctor"
SHOW_PROMPT = "midstream.showPrompt"
ACCEPTED = "midstream.accepted"

COMMANDS = (
    PREPARE,
    EDIT,
    REDIRECT,
    STOP,
    REVERT,
    ACCEPT,
    ESCALATE,
    EXPLAIN,
    PAUSE,
    SHOW_STATUS,
    USAGE,
    DOCTOR,
    SHOW_PROMPT,
    ACCEPTED,
)


@dataclass(frozen=True, slots=True)
class Announced:
    """`capabilities.experimental.midstream`: what the client promises to serve."""

    apply_patch: bool = False
    status: bool = False
    ended: bool = False
    retrigger: bool = False


def announced(experimental: object) -> Announced:
    """Read a client's promises; whatever is missing or not `true` is not promised."""
    said = experimental.get("midstream") if isinstance(experimental, Mapping) else None
    if not isinstance(said, Mapping):
        return Announced()
    return Announced(
        apply_patch=said.get("applyPatch") is True,
        status=said.get("status") is True,
        ended=said.get("ended") is True,
        retrigger=said.get("retrigger") is True,
    )


def status_message(status: "Status") -> dict[str, Any]:
    """The payload of `midstream/status`."""
    message = camel(status)
    if status.generation is not None:
        message["generation"] = progress_message(status.generation)
    return message


def progress_message(progress: "Progress") -> dict[str, Any]:
    message = camel(progress)
    if not progress.tokens:
        message.pop("tokens", None)
    if not progress.tokens_per_second:
        message.pop("tokensPerSecond", None)
    return message


def result_message(result: "Result") -> dict[str, Any]:
    """The payload of `midstream/ended`, and the result of a command that waited."""
    return camel(result)


def patch_message(patch: "Patch", range_: object, generation: str, *, first: bool) -> dict[str, Any]:
    """The payload of `midstream/applyPatch`."""
    return {
        "generation": generation,
        "uri": patch.uri,
        "version": patch.version,
        "range": range_,
        "newText": patch.edit.text,
        "first": first,
    }


def camel(value: Any) -> dict[str, Any]:
    """A value's fields under their names on the wire; absent ones are left out."""
    message = {}
    for field in fields(value):
        content = getattr(value, field.name)
        if content is not None:
            head, *tail = field.name.split("_")
            message[head + "".join(part.title() for part in tail)] = content
    return message
