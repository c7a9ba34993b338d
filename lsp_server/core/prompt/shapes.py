"""The shapes of a prompt: what a model will see, before an adapter puts it on its wire."""

from dataclasses import dataclass
from typing import Literal

Layout = Literal["plain", "fim"]


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of another place that helps to understand this one: whole lines of code, or of a diff.

    `path` is the file and its folder.
    """

    path: str
    text: str
    kind: Literal["code", "definition", "edit"] = "code"


@dataclass(frozen=True, slots=True)
class Fill:
    """A prompt for a model that continues or fills in code.

    `prefix` is a true suffix of the text before the cursor, less the trailing blanks that a plain layout
    drops; `suffix` is a true prefix of the text after it, empty when the layout is plain. `blanks` are those
    that were dropped behind code; a host that can make the answer begin with them does.
    The host knows the model's own tokens and arranges the parts; `snippets` hold code, the most stable first.
    """

    prefix: str
    suffix: str
    layout: Layout
    one_line: bool
    path: str
    language: str
    snippets: tuple[Snippet, ...] = ()
    blanks: str = ""


@dataclass(frozen=True, slots=True)
class Chat:
    """A prompt for a model that takes instructions; the text sent is `context + request + wish`.

    The parts are ordered by how often they change, for the sake of prefix caches: `instructions` are
    stable per task, `context` is stable per file, `request` changes with each keystroke. `wish` is what the
    user says of the code in `request`; a model can read the rest before it is there.
    """

    instructions: str
    context: str
    request: str
    wish: str = ""

    @property
    def question(self) -> str:
        """What comes after the context."""
        return self.request + self.wish


Prompt = Fill | Chat


@dataclass(frozen=True, slots=True)
class Style:
    """How a model wants its prompts. Tokens are estimated, never counted with a tokenizer.

    `prefix_tokens` and `suffix_tokens` bound the code around the cursor in a completion, `budget` the whole
    prompt of an edit, an explanation or a chat completion. `block_kind` is the layout for answers of several
    lines where it differs from `kind`. `context_tokens` bounds what is shown of other places: None means as
    the settings say, 0 is for models that gain nothing from it.
    """

    kind: Literal["plain", "fim", "chat"]
    prefix_tokens: int = 256
    suffix_tokens: int = 128
    budget: int = 8000
    block_kind: Literal["plain", "fim", "chat"] | None = None
    context_tokens: int | None = None
