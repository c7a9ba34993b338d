"""The one schema of settings, as frozen values.

Python names are snake_case; the external keys are the same names in camelCase. Every field carries its
description, and with its type and default that is the whole schema: the JSON Schema, the reference in
docs/settings.md and the settings that the VS Code extension contributes are generated from here.
"""

# `option` is `dataclasses.field` with a description, so calling it as a default shares nothing.
# ruff: noqa: RUF009

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ProtocolName = Literal["responses-ws", "responses-http", "chat-http", "anthropic-http", "fim-http", "local"]
CancelStrategy = Literal["event", "lane", "close"]
FimStyle = Literal["completions", "mistral", "deepseek", "mercury", "ollama", "llama-cpp"]
Auto = Literal["auto"]


def option(
    text: str,
    default: object,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    secret: bool = False,
    shorthand: str = "",
) -> Any:
    """A field with its description.

    `secret` values may only refer to a secret and are never repeated in a message. With `shorthand` a
    bare number stands for an object that sets that one key.
    """
    metadata = {
        "text": text,
        "minimum": minimum,
        "maximum": maximum,
        "secret": secret,
        "shorthand": shorthand,
    }
    if isinstance(default, dict):
        return field(default_factory=lambda: default, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Prices:
    """Money per million tokens, in one currency for all models."""

    input: float = option("Per million input tokens.", 0.0, minimum=0)
    cached: float | None = option(
        "Per million input tokens that the provider had cached; as input when absent.", None, minimum=0
    )
    output: float = option("Per million output tokens, reasoning included.", 0.0, minimum=0)
    fast: float = option("Multiplier for all of them while `speed` or `tier` asks for fast.", 1.0, minimum=0)
    written: float | None = option(
        "Per million input tokens that the provider newly put into its cache; as input when absent.",
        None,
        minimum=0,
    )
    date: str = option("The day these prices were read, for your own reference.", "")
    source: str = option("Where these prices were read, for your own reference.", "")


@dataclass(frozen=True, slots=True)
class Model:
    """One model under the name that `tasks` uses. `name` is the key it is configured under."""

    name: str = field(default="", metadata={"internal": True})
    protocol: ProtocolName = option("The wire protocol the host speaks.", "local")
    url: str = option("Base URL of the host; empty means the protocol's own vendor.", "")
    model: str = option(
        "The model's id at the host; for `local` a catalogue name or the path of a GGUF file.", ""
    )
    key: str = option(
        "Where the API key is: `env:NAME` or `keyring:NAME`, never the key itself.", "", secret=True
    )
    cancel: CancelStrategy | Auto = option("How the host learns that an answer is no longer wanted.", "auto")
    fallback: str = option("The model that takes over while this one cannot answer.", "")
    prices: Prices | None = option("Overrides the built-in price table.", None)
    style: Literal["auto", "plain", "fim", "chat"] = option("How completion prompts are laid out.", "auto")
    prefix_tokens: int | None = option("Tokens of code before the cursor, at most.", None, minimum=16)
    suffix_tokens: int | None = option("Tokens of code after the cursor, at most.", None, minimum=0)
    context_tokens: int | None = option(
        "Tokens of other code in a prompt, at most; absent means `context.maxTokens`, or none for the "
        "embedded model and for fill-in-the-middle hosts of your own, except llama.cpp.",
        None,
        minimum=0,
    )
    temperature: float | None = option(
        "Sampling temperature; absent means not sent.", None, minimum=0, maximum=2
    )
    effort: str = option("Reasoning effort, such as none, low or high; empty means not sent.", "")
    verbosity: str = option("Text verbosity of the Responses protocol; empty means not sent.", "")
    tier: str = option("Service tier, such as fast or priority; empty means not sent.", "")
    speed: Literal["", "standard", "fast"] = option("Anthropic's speed; empty means not sent.", "")
    fim: FimStyle | Auto = option("The field names of a fill-in-the-middle host.", "auto")
    edit_url: str = option("Full URL of an edit endpoint that answers in one piece (Mercury).", "")
    omit: tuple[str, ...] = option("Request fields that this host rejects.", ())
    extra: Mapping[str, Any] = option("Request fields to add as they are.", {})
    headers: Mapping[str, str] = option(
        "HTTP headers to add; a secret is written as `env:NAME` or `keyring:NAME`.", {}, secret=True
    )
    ca_file: str = option("PEM file of a certificate authority to trust beside the system's.", "")
    proxy: str = option("Proxy URL; empty means HTTPS_PROXY and NO_PROXY, `none` means no proxy.", "")


DEFAULT_MODEL = Model(name="local", protocol="local", model="qwen2.5-coder-0.5b")


@dataclass(frozen=True, slots=True)
class Tasks:
    """Which model does what; each is a name under `models`."""

    complete: str = option("Ghost text while you type.", "local")
    edit: str = option("Streamed edits of a function or selection.", "local")
    explain: str = option("Explanations.", "local")
    escalate: str = option("The deep tier that runs an edit again on request.", "local")


@dataclass(frozen=True, slots=True)
class Complete:
    """Ghost text."""

    enabled: bool = option("Offer completions.", True)
    languages: tuple[str, ...] = option(
        "Language ids to serve; `*` means every language and `!markdown` leaves one out.", ("*",)
    )
    debounce: int | Auto = option(
        "Milliseconds of rest before the model is asked; auto follows your typing and the model's latency.",
        "auto",
        minimum=0,
        maximum=5000,
    )
    via_completion: bool | Auto = option(
        "Offer the text in the completion list too; auto does so where the editor has no ghost text.", "auto"
    )
    max_tokens: int = option("Tokens of one completion, at most.", 128, minimum=1, maximum=4096)
    candidates: int = option("Alternatives to offer on explicit request.", 1, minimum=1, maximum=5)

    def serves(self, language: str) -> bool:
        """True where completions are wanted for this language id."""
        if not self.enabled or f"!{language}" in self.languages:
            return False
        return "*" in self.languages or language in self.languages


@dataclass(frozen=True, slots=True)
class Action:
    """A code action of the user's own."""

    title: str = option("What the menu shows.", "")
    instruction: str = option("What the model is told.", "")
    languages: tuple[str, ...] = option("Language ids it is offered in; empty means all.", ())
    model: str = option("The model that does it; empty means the one of `tasks.edit`.", "")


@dataclass(frozen=True, slots=True)
class Edit:
    """Streamed edits."""

    format: Literal["auto", "scope", "hunks"] = option(
        "Rewrite the whole scope, or send targeted hunks; auto chooses by model and size.", "auto"
    )
    delivery: Literal["stream", "atomic"] = option(
        "Show the edit while it is written, or land it as one change.", "stream"
    )
    on_foreign_change: Literal["cancel", "rebase"] = option(
        "What typing does to a running edit: end it, or let it go on when the change is outside its lines.",
        "cancel",
    )
    actions: tuple[Action, ...] = option("Your own code actions.", ())


@dataclass(frozen=True, slots=True)
class Context:
    """What else the model may see."""

    open_files: bool = option("Parts of other open files that are about the same.", True)
    recent_edits: bool = option("Your recent edits, in all open files.", True)
    definitions: bool = option("Definitions, in other open files, of what the code uses.", True)
    diagnostics: bool = option("Diagnostics at the code in question.", True)
    ignore: tuple[str, ...] = option(
        "Files that never leave this machine, in .gitignore syntax, beside the ignore files.", ()
    )
    max_tokens: int = option(
        "Tokens of context beside the file itself, at most; see `contextTokens` of a model.", 1024, minimum=0
    )


@dataclass(frozen=True, slots=True)
class Guard:
    """Scanning of generated code."""

    mode: Literal["off", "warn", "block"] = option("What a finding does.", "warn")
    rules: tuple[str, ...] = option("Rules to run; empty means all.", ())
    suppress: tuple[str, ...] = option("Rules to leave out.", ())


@dataclass(frozen=True, slots=True)
class Checks:
    """Self-correction after an edit."""

    lint: str = option("Command that checks a file; `{file}` is its path.", "")
    test: str = option("Command that tests the change.", "")
    rounds: int = option("Corrections to try, at most.", 1, minimum=0, maximum=5)


@dataclass(frozen=True, slots=True)
class ModelLimit:
    """The limit of one model; absent means none, 0 means that nothing is sent."""

    money: float | None = option("Money, in the currency of the prices.", None, minimum=0)
    tokens: int | None = option("Tokens, input and output together.", None, minimum=0)


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit over all models, and limits of single ones; absent means none, 0 means that nothing is sent."""

    money: float | None = option("Money, in the currency of the prices.", None, minimum=0)
    tokens: int | None = option("Tokens, input and output together.", None, minimum=0)
    models: Mapping[str, ModelLimit] = option(
        "Limits of single models; a bare number is money.", {}, shorthand="money"
    )


@dataclass(frozen=True, slots=True)
class Budget:
    """Hard limits; a request that would cross one is refused before it is sent."""

    per_day: Limit = option("Per calendar day; a bare number is money.", Limit(), shorthand="money")
    per_month: Limit = option("Per calendar month; a bare number is money.", Limit(), shorthand="money")


@dataclass(frozen=True, slots=True)
class Log:
    """Logging; keys, prompts and code are never written."""

    level: Literal["error", "warning", "info", "debug", "trace"] = option("How much is logged.", "warning")
    file: str = option("File to log to; empty means the editor's own log.", "")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything the user can set. `origins` says for each dotted key where its value came from."""

    models: Mapping[str, Model] = option(
        "The models you have, each under a name of your choice.", {"local": DEFAULT_MODEL}
    )
    tasks: Tasks = option("Which model does what.", Tasks())
    complete: Complete = option("Ghost text.", Complete())
    edit: Edit = option("Streamed edits.", Edit())
    context: Context = option("What else the model may see.", Context())
    guard: Guard = option("Scanning of generated code; accepted, without effect as yet.", Guard())
    checks: Checks = option("Self-correction after an edit; accepted, without effect as yet.", Checks())
    budget: Budget = option("Hard limits on money and tokens.", Budget())
    log: Log = option("Logging.", Log())
    trusted: bool | None = option(
        "Whether the workspace is trusted; absent means that the editor has no notion of trust.", None
    )
    origins: Mapping[str, str] = field(default_factory=dict, metadata={"internal": True})

    def model_for(self, task: Literal["complete", "edit", "explain", "escalate"]) -> Model:
        """The model that `tasks` names for this task."""
        return self.models[getattr(self.tasks, task)]
