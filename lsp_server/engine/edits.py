"""From what the user asked for to a job: prompt, reply format, limits."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from typing import Literal

from lsp_server.core.document import Document
from lsp_server.core.edits import Edit
from lsp_server.core.prompt import Chat, Problem, Prompt, Snippet, edit_prompt, explain_prompt, prompt_tokens
from lsp_server.core.prompt.budget import tokens
from lsp_server.core.syntax.scope import Scope, scope_at
from lsp_server.core.syntax.tree import SyntaxTree
from lsp_server.core.text import Span, split_lines
from lsp_server.engine.context import ContextSource
from lsp_server.engine.errors import EditRefused
from lsp_server.engine.job import Job
from lsp_server.engine.masking import masked_prompt
from lsp_server.engine.ports import Backend, Delta, Request, Result, Task
from lsp_server.engine.rewrite import HunkRewriter, Listener, ScopeRewriter
from lsp_server.settings import Edit as EditSettings
from lsp_server.texts import edits as texts

Format = Literal["scope", "hunks"]

HUNKS_FROM_LINES = 40
"""From this many lines on a rewrite of the whole scope costs more tokens than quoting what changes."""

SMALL_BUDGET = 2000
"""Models with less room than this follow a search/replace format too seldom to be asked for it."""

EXPLANATION_TOKENS = 500


@dataclass(frozen=True, slots=True)
class Plan:
    """One edit to be done. `original` is what a revert puts back.

    `half_finished` is what an interrupted edit left on screen; `without` are lines that the edit removes
    before the model sees the code. `cursor` is the user's place in the scope, where nothing is selected.
    `snippets` shows other places, when the prompt is written.
    """

    id: str
    document: Document
    scope: Scope
    instructions: tuple[str, ...]
    original: str
    kind: Task
    backend: Backend
    settings: EditSettings
    problems: tuple[Problem, ...] = ()
    half_finished: str | None = None
    without: Span | None = None
    cursor: int | None = None
    snippets: Callable[[], Sequence[Snippet]] = tuple


def job(plan: Plan) -> Job:
    """The job for a plan. Raises EditRefused when the model has no room for the scope."""
    text = plan.document.slice(plan.scope.span.start, plan.scope.span.end)
    format_ = chosen_format(plan, text)
    check_room(plan, sum(map(tokens, (text, plan.half_finished or "", *plan.instructions))))
    document, original, instruction = plan.document, plan.original, plan.instructions[-1]
    without = document.slice(plan.without.start, plan.without.end) if plan.without else ""
    return Job(
        id=plan.id,
        uri=document.uri,
        kind=plan.kind,
        scope=plan.scope,
        instructions=plan.instructions,
        original=original,
        make_request=cache(partial(request_of, plan, format_, tokens(text))),
        backend=plan.backend,
        label=f"Midstream: {plan.instructions[-1]}",
        delivery=plan.settings.delivery,
        make_filter=lambda: Listener(format_, original, instruction),
        make_rewriter=lambda screen: (
            ScopeRewriter(
                screen,
                document,
                plan.scope,
                lead=original[: plan.scope.lead],
                instruction=instruction,
                without=without,
            )
            if format_ == "scope"
            else HunkRewriter(screen, document, cursor=plan.cursor)
        ),
    )


def request_of(plan: Plan, format_: Format, scope_tokens: int) -> Request:
    """What the model is asked. Raises EditRefused when it has no room for the scope."""
    prompt = prompt_of(plan, format_)
    check_room(plan, prompt_tokens(prompt))
    limit = scope_tokens * 3 // 2 + 256 if format_ == "scope" else scope_tokens + 512
    return Request(task=plan.kind, prompt=prompt, max_tokens=limit, cache_key=plan.document.uri)


def check_room(plan: Plan, wanted: int) -> None:
    """Raises EditRefused when the model reads fewer tokens."""
    if wanted > plan.backend.style.budget:
        raise EditRefused(texts.TOO_LONG.format(scope=describe(plan.scope), model=plan.backend.name))


def prompt_of(plan: Plan, format_: Format) -> Chat:
    """What the model will see."""
    document, scope = plan.document, plan.scope
    if plan.without is not None:
        edit = Edit(plan.without.start, plan.without.end, "")
        document = document.edited(edit, document.version)
        scope = replace(
            scope, span=Span(scope.span.start, max(scope.span.start, scope.span.end + edit.delta))
        )
    *history, instruction = plan.instructions
    return edit_prompt(
        document,
        scope,
        instruction,
        history,
        plan.half_finished,
        format_,
        problems=plan.problems,
        snippets=plan.snippets(),
        budget=plan.backend.style.budget,
    )


def chosen_format(plan: Plan, text: str) -> Format:
    """As set; else hunks for long scopes, where the model is up to them."""
    if plan.settings.format != "auto":
        return plan.settings.format
    long = len(split_lines(text)) >= HUNKS_FROM_LINES
    return "hunks" if long and plan.backend.style.budget >= SMALL_BUDGET else "scope"


def describe(scope: Scope) -> str:
    """The scope at the start of a sentence."""
    return f"`{scope.name}`" if scope.name else f"The {scope.kind}"


async def explanation(document: Document, scope: Scope, backend: Backend, context: ContextSource) -> str:
    """A short explanation of the scope, in Markdown."""
    snippets = context.snippets(document, scope.span, backend.style)
    prompt = explain_prompt(document, scope, snippets, budget=backend.style.budget)
    request = Request(task="explain", prompt=prompt, max_tokens=EXPLANATION_TOKENS, cache_key=document.uri)
    parts: list[str] = []
    async with contextlib.aclosing(backend.stream(request)) as stream:
        async for event in stream:
            if isinstance(event, Delta):
                parts.append(event.text)
    text = "".join(parts).strip()
    if not text:
        raise EditRefused(texts.NO_EXPLANATION)
    return text


def reverted(ended: Result, edit: Edit | None, message: str | None) -> Result:
    """The result of an edit after it was taken back."""
    return replace(
        ended,
        edits=ended.edits + (edit is not None),
        characters_added=ended.characters_added + (len(edit.text) if edit else 0),
        characters_deleted=ended.characters_deleted + (edit.end - edit.start if edit else 0),
        message=message,
    )


def scope_for(
    document: Document, tree: SyntaxTree | None, selection: Span, *, directive: bool
) -> tuple[Scope, Span | None]:
    """The scope of an edit, and the lines of a directive, which are part of it and go away with it."""
    if not directive:
        return scope_at(document, tree, selection), None
    lines = whole_lines(document, selection)
    scope = scope_at(document, tree, Span(selection.start, selection.start))
    return widened(scope, lines, document), lines


def whole_lines(document: Document, span: Span) -> Span:
    """The lines that a span touches, with their line ends."""
    last = document.line_at(max(span.start, span.end - 1))
    return Span(
        document.line_start(document.line_at(span.start)),
        document.line_start(last) + len(document.line(last)),
    )


def widened(scope: Scope, lines: Span, document: Document) -> Scope:
    """A scope with these lines in it."""
    end = (
        lines.end
        - len(document.slice(lines.start, lines.end))
        + len(document.slice(lines.start, lines.end).rstrip("\r\n"))
    )
    start = min(scope.span.start, lines.start)
    return replace(
        scope,
        span=Span(start, max(scope.span.end, end)),
        lead=scope.lead + scope.span.start - start,
    )


def with_lines(scope: Scope, lines: Span, document: Document, original: str) -> tuple[Scope, str]:
    """A scope with these lines in it, and the text to revert to with what they add to it."""
    wide = widened(scope, lines, document)
    before = document.slice(wide.span.start, scope.span.start)
    return wide, before + original + document.slice(scope.span.end, wide.span.end)


def shown_prompt(prompt: Prompt) -> dict[str, str]:
    """A prompt's parts under their names as they would leave the machine, empty ones left out."""
    prompt, _ = masked_prompt(prompt)
    return {
        field.name: str(value) for field in fields(prompt) if (value := getattr(prompt, field.name)) != ""
    }
