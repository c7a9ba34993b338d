"""The two ports of the engine: the model side and the editor side.

`model/` implements `Backend` once per protocol family, `lsp/` implements `Editor`.
Tests implement both (tests/support), which keeps them honest and small.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from lsp_server.core.edits import Patch
from lsp_server.core.prompt import Prompt, Style

Task = Literal["complete", "edit", "explain", "escalate"]
Since = Literal["request", "diagnostic"]
"""What the time to an accepted answer is counted from."""


@dataclass(frozen=True, slots=True)
class Request:
    """One model call. `max_tokens` bounds the answer; `cache_key` is stable per document.

    `stop` ends the answer before the given text. `logprobs` asks for one natural-log
    probability per token where the model can give them.
    """

    task: Task
    prompt: Prompt
    max_tokens: int
    stop: tuple[str, ...] = ()
    cache_key: str = ""
    logprobs: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer. `estimated` marks an answer that was cancelled before the provider counted it.

    The input holds what the provider found in its cache, `cached_tokens`, and what it newly put there,
    `written_tokens`.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    written_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Quota:
    """What a host still takes of its nearest limit: so many requests or tokens for `reset` seconds."""

    remaining: int
    reset: float


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of the answer, with the log probabilities of its tokens where asked for.

    `timings` is what the host said of its own work with this piece: the embedded model's host tells
    with the first one how many prompt tokens it found in its cache and how many it evaluated. `quota`
    comes with the first piece, from hosts that tell it.
    """

    text: str
    logprobs: tuple[float, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    quota: Quota | None = None


@dataclass(frozen=True, slots=True)
class Finish:
    """The last item of a stream that ended well. `length` means that max_tokens cut it.

    `timings` holds what the host measured, in its own names (milliseconds and token counts).
    """

    reason: Literal["stop", "length", "filter"]
    usage: Usage = field(default_factory=Usage)
    timings: Mapping[str, float] = field(default_factory=dict)


Event = Delta | Finish


class Backend(Protocol):
    """One configured model. Errors are `BackendError`s; a stream without `Finish` never ends silently."""

    @property
    def name(self) -> str:
        """The model's name in the settings."""

    @property
    def style(self) -> Style:
        """How this model wants its completion prompts."""

    def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Hold it in `contextlib.aclosing`: closing it is what cancels the call at the provider."""

    async def warm(self, request: Request) -> None:
        """Connect, and let the provider read the prompt ahead where it can; failures are silent."""

    async def close(self) -> None:
        """End every stream and connection."""


class Models(Protocol):
    """The configured models."""

    def backend(self, task: Task, name: str = "") -> Backend:
        """The model for a task, or the one named. Raises Rejected for a name that is not configured."""

    def name_of(self, task: Task) -> str:
        """The configured name of the model for a task."""


ApplyReply = Literal["applied", "refused"]


class Editor(Protocol):
    """What the engine asks of the client. Only didChange tells what became of a patch."""

    async def apply(self, patch: Patch, *, generation: str, first: bool, label: str) -> ApplyReply:
        """Send one patch; the reply is a hint: `refused` is believed, `applied` is not."""

    def status(self, status: "Status") -> None:
        """Show the state of the product."""

    def ended(self, result: "Result") -> None:
        """A generation ended; closes its undo group."""

    def show(self, kind: Literal["info", "warning", "error"], sentence: str) -> None:
        """Tell the user something to act on."""

    @property
    def retriggers(self) -> bool:
        """True where the client asks for a completion again when told that more of it has come."""

    @property
    def groups_undo(self) -> bool:
        """True where the client joins the patches of one generation into one undo step."""

    def checks_version(self, version: int) -> bool:
        """True where the client drops a patch bound to `version` once its text is newer."""


Outcome = Literal[
    "done", "unchanged", "superseded", "typed_over", "redirected", "stopped", "rejected", "failed", "closed"
]
State = Literal["starting", "downloading", "ready", "working", "paused", "error"]


@dataclass(frozen=True, slots=True)
class Progress:
    """A running generation as shown to the user."""

    id: str
    uri: str
    kind: Task
    tokens: int = 0
    tokens_per_second: float = 0.0
    first_token_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """The payload of `midstream/status`."""

    state: State
    model: str | None = None
    percent: int | None = None
    message: str | None = None
    command: str | None = None
    generation: Progress | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """How one edit generation ended; the payload of `midstream/ended`."""

    id: str
    uri: str
    outcome: Outcome
    edits: int = 0
    characters_added: int = 0
    characters_deleted: int = 0
    output_tokens: int = 0
    first_token_ms: float | None = None
    total_ms: float = 0.0
    message: str | None = None


def total(usages: Sequence[Usage]) -> Usage:
    """The sum of several usages; estimated when any part is."""
    return Usage(
        input_tokens=sum(usage.input_tokens for usage in usages),
        cached_tokens=sum(usage.cached_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens for usage in usages),
        estimated=any(usage.estimated for usage in usages),
        written_tokens=sum(usage.written_tokens for usage in usages),
    )
