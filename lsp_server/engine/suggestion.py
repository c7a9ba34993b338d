"""One suggestion: text that a model is still speaking, or has spoken, for one place in a document."""

import asyncio
from dataclasses import dataclass, field, replace

from lsp_server.core.completion import (
    Context,
    begin,
    context_at,
    finish,
    finish_over,
    remainder,
    wants_block,
)
from lsp_server.core.document import Document
from lsp_server.core.edits import Edit
from lsp_server.core.prompt import Style
from lsp_server.core.text import Span

NEIGHBOURS = 3
"""How many lines on each side must be unchanged for an old suggestion to be offered again."""

NOWHERE = Context("", "")


@dataclass(frozen=True, slots=True)
class Selected:
    """The entry that the editor's own completion list has selected: `text` would replace `span`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Ask:
    """One request, as its handler saw the document. `cursor` is a code-point offset."""

    document: Document
    cursor: int
    invoked: bool
    selected: Selected | None = None

    def virtual(self) -> tuple[Document, int]:
        """The document and cursor as they would be with the selected entry accepted."""
        if self.selected is None:
            return self.document, self.cursor
        edit = Edit(self.selected.span.start, self.selected.span.end, self.selected.text)
        return self.document.edited(edit, self.document.version), edit.start + len(edit.text)


@dataclass(frozen=True, slots=True)
class Item:
    """What the editor shows: `text` replaces `span` of the document that was asked about."""

    id: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Accepted:
    """A suggestion that the user took: whose it was, and the milliseconds since it was asked for."""

    model: str
    lead_ms: float


@dataclass(eq=False, slots=True)
class Suggestion:
    """`text` grows until `done`. `at` is where it begins; `document` is the text it was made for.

    `timer` runs until shortly before `due`, when the model may be asked, and `task` from then on; so long
    are `context`, `block` and `first_line_only` not known. `block` asks for several lines, `first_line_only`
    offers just the first of them; `first_line` is when that had come. `adopted`: the user typed along it, so
    that it outlives the request that started it.
    """

    id: str
    document: Document
    at: int
    context: Context = NOWHERE
    block: bool = False
    first_line_only: bool = False
    model: str = ""
    asked: float = 0.0
    due: float = 0.0
    timer: asyncio.TimerHandle | None = None
    task: asyncio.Task[None] | None = None
    text: str = ""
    started: bool = False
    first_line: float | None = None
    done: bool = False
    failed: bool = False
    adopted: bool = False
    tokens: int = 0
    waiters: "list[Waiter]" = field(default_factory=list)
    _finished: tuple[str, str, int] = ("", "", 0)

    def frame(self, style: Style) -> None:
        """Look at the code around; a model of this style is asked now."""
        self.context, self.block = framed(self.document, self.at, style)
        self.first_line_only = self.block and is_weak(style)

    def rest(self, document: Document, cursor: int) -> tuple[str, int] | None:
        """What is left of it for `cursor`, and how much of the text behind it that replaces.

        None when the user went another way.
        """
        if self.failed:
            return None
        candidate = first_line(self.text) if self.first_line_only else self.text
        text, replaced = self._offer(candidate)
        behind = self.context.after_line[:replaced]
        if replaced and document.slice(cursor, cursor + replaced) != behind:
            text, replaced = finish(candidate, self.context), 0
        rest = remainder(text, self.at, document, cursor)
        if rest is None or already_there(rest, document, cursor) or not same_place(self, document):
            return None
        return rest, replaced

    def _offer(self, candidate: str) -> tuple[str, int]:
        """As `finish_over`; old suggestions are looked at on every key, and their text stays as it is."""
        if self._finished[0] != candidate:
            self._finished = (candidate, *finish_over(candidate, self.context))
        return self._finished[1:]

    def follows(self, document: Document, cursor: int) -> bool:
        """True when everything typed since it began is spelled out by it."""
        text = begin(self.text, self.context)
        return remainder(text, self.at, document, cursor) is not None and same_place(self, document)


@dataclass(eq=False, slots=True)
class Waiter:
    """One open request. `answer` is resolved exactly once; null answers are empty lists."""

    ask: Ask
    answer: asyncio.Future[list[Item]]

    def resolve(self, items: list[Item]) -> None:
        """Answer, unless the client has cancelled the request meanwhile."""
        if not self.answer.done():
            self.answer.set_result(items)


def is_weak(style: Style) -> bool:
    """True for models that continue text instead of following instructions: they are doubted."""
    return style.kind != "chat"


def framed(document: Document, cursor: int, style: Style) -> tuple[Context, bool]:
    """The code around the cursor, and whether a block is asked for.

    Weights that fill in the middle write poor blocks: on a blank line they are asked for one line.
    """
    context = context_at(document, cursor)
    block = wants_block(context) and (not is_weak(style) or context.before_line.strip() != "")
    kind = style.block_kind or style.kind if block else style.kind
    return replace(context, stripped=kind == "plain"), block


def same_place(suggestion: Suggestion, document: Document) -> bool:
    """True when the lines around the suggestion read as they did when it was made."""
    then = suggestion.document
    line = then.line_at(suggestion.at)
    if suggestion.at > document.length or document.line_at(suggestion.at) != line:
        return False
    start = then.line_start(line)
    if document.slice(start, suggestion.at) != then.slice(start, suggestion.at):
        return False
    return all(
        then.line(number) == document.line(number) for number in range(max(0, line - NEIGHBOURS), line)
    )


def already_there(text: str, document: Document, cursor: int) -> bool:
    """True when the text behind the cursor is what would be offered: it was accepted from here before."""
    return text != "" and document.slice(cursor, cursor + len(text)) == text


def first_line(text: str) -> str:
    """Up to the end of the first line that is not blank."""
    lead = len(text) - len(text.lstrip())
    return text[:lead] + text[lead:].partition("\n")[0]


def item_for(suggestion: Suggestion, ask: Ask, text: str, replaced: int) -> Item:
    """The item that adds `text` at the cursor over `replaced` characters, or extends the selected entry."""
    if ask.selected is None:
        return Item(suggestion.id, text, Span(ask.cursor, ask.cursor + replaced))
    span = ask.selected.span
    return Item(suggestion.id, ask.selected.text + text, Span(span.start, span.end + replaced))


def nothing() -> asyncio.Future[list[Item]]:
    """The answer where no completion is wanted."""
    answer: asyncio.Future[list[Item]] = asyncio.get_running_loop().create_future()
    answer.set_result([])
    return answer
