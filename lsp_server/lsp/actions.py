"""Code actions: the ways into an edit that need no user interface of ours."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from lsp_server.core.document import Document
from lsp_server.core.syntax.comments import directive_comments
from lsp_server.core.syntax.scope import Scope, scope_at
from lsp_server.core.text import Span
from lsp_server.lsp import convert, protocol
from lsp_server.lsp.session import Session
from lsp_server.texts import edits as texts


@dataclass(frozen=True, slots=True)
class Offer:
    """An entry of the menu; `{name}` in the title stands for the scope."""

    title: str
    instruction: str
    kind: types.CodeActionKind = types.CodeActionKind.RefactorRewrite
    model: str = ""


BUILT_IN = (
    Offer(
        "Rewrite {name} for clarity",
        "Rewrite this code so that it is easier to read. Its behaviour stays the same.",
    ),
    Offer("Add types to {name}", "Add complete type annotations. Change nothing else."),
    Offer(
        "Document {name}",
        "Add the documentation comment that this language uses, or repair the one that is there. "
        "Change nothing else.",
    ),
    Offer(
        "Handle errors in {name}",
        "Handle the errors that can occur here the way this code base would. The normal case stays as it is.",
    ),
    Offer("Simplify the conditionals of {name}", "Simplify the conditionals. Behaviour stays the same."),
    Offer("Make {name} async", "Make this code asynchronous, with the means of this language."),
    Offer(
        "Write tests for {name}",
        "Keep this code exactly as it is, and write tests for it directly below.",
        types.CodeActionKind.Source,
    ),
)


def code_actions(session: Session, params: types.CodeActionParams) -> list[types.CodeAction]:
    """What can be done at a range. An automatic request gets quick fixes and directives only."""
    document = session.workspace.get(params.text_document.uri)
    if document is None:
        return []
    span = convert.to_span(document, params.range, session.workspace.encoding)
    context = params.context
    actions = [*directives(session, document, span), *fixes(session, document, span, context.diagnostics)]
    if context.trigger_kind != types.CodeActionTriggerKind.Automatic:
        actions += refactorings(session, document, span)
    return [action for action in actions if asked_for(action.kind, context.only)]


def asked_for(
    kind: types.CodeActionKind | str | None, only: Sequence[types.CodeActionKind | str] | None
) -> bool:
    """True when the client wants this kind, which also stands for the kinds below it."""
    wanted = [str(getattr(each, "value", each)) for each in only or ()]
    name = str(getattr(kind, "value", kind))
    return not wanted or any(name == each or name.startswith(f"{each}.") or not each for each in wanted)


def directives(session: Session, document: Document, span: Span) -> Iterator[types.CodeAction]:
    """`midstream: make this iterative` in a comment on the lines of the range."""
    first, last = document.line_at(span.start), document.line_at(span.end)
    start = document.line_start(first)
    end = document.line_start(last) + len(document.line(last))
    for directive in directive_comments(document.slice(start, end), document.language):
        place = Span(start + directive.span.start, start + directive.span.end)
        interrupted = session.assistant.generations.interrupted(document.uri)
        yield action(
            session,
            document,
            place,
            f"Do: {directive.instruction}",
            types.CodeActionKind.QuickFix,
            directive.instruction,
            preferred=True,
            command=protocol.REDIRECT if interrupted else protocol.EDIT,
            directive=True,
        )


def fixes(
    session: Session, document: Document, span: Span, diagnostics: Sequence[types.Diagnostic]
) -> Iterator[types.CodeAction]:
    """One quick fix for each diagnostic at the range."""
    for diagnostic in diagnostics:
        where = convert.to_span(document, diagnostic.range, session.workspace.encoding)
        if where.end < span.start or where.start > span.end:
            continue
        session.leads.offered(document.uri, diagnostic.message, time.monotonic())
        message = " ".join(diagnostic.message.split())
        short = message if len(message) <= 60 else message[:59] + "…"
        fix = action(
            session,
            document,
            # The code around the finding is rewritten, not the few characters that it marks.
            Span(where.start, where.start),
            f"Fix with Midstream: {short}",
            types.CodeActionKind.QuickFix,
            "Fix the reported problem. Change nothing else.",
            findings=[finding(diagnostic)],
        )
        fix.diagnostics = [diagnostic]
        yield fix


def refactorings(session: Session, document: Document, span: Span) -> Iterator[types.CodeAction]:
    """The built-in and the user's own actions on the scope."""
    scope = scope_at(document, session.workspace.tree(document.uri), span)
    own = [
        Offer(each.title, each.instruction, model=each.model)
        for each in session.settings.edit.actions
        if not each.languages or document.language in each.languages
    ]
    reason = session.assistant.presence.secrecy(document)
    for offer in (*BUILT_IN, *own):
        title = offer.title.replace("{name}", called(scope))
        offered = action(session, document, span, title, offer.kind, offer.instruction, model=offer.model)
        if reason is not None:
            if not session.editor.shows_disabled_actions:
                return
            offered.command = None
            offered.disabled = types.CodeActionDisabled(reason)
        yield offered


def action(
    session: Session,
    document: Document,
    span: Span,
    title: str,
    kind: types.CodeActionKind,
    instruction: str,
    *,
    model: str = "",
    findings: list[dict[str, Any]] | None = None,
    preferred: bool = False,
    command: str = protocol.EDIT,
    directive: bool = False,
) -> types.CodeAction:
    """An action that starts an edit at `span`."""
    range_ = convert.from_span(document, span, session.workspace.encoding)
    argument: dict[str, Any] = {
        "uri": document.uri,
        "range": {
            "start": {"line": range_.start.line, "character": range_.start.character},
            "end": {"line": range_.end.line, "character": range_.end.character},
        },
        "instruction": instruction,
    }
    argument |= {"model": model} if model else {}
    argument |= {"findings": findings} if findings else {}
    argument |= {"directive": True} if directive else {}
    return types.CodeAction(
        title=title,
        kind=kind,
        is_preferred=preferred or None,
        command=types.Command(title=title, command=command, arguments=[argument]),
    )


def finding(diagnostic: types.Diagnostic) -> dict[str, Any]:
    """A diagnostic as the edit command takes it: its message, its place, and what it points to."""
    related = [each.message for each in diagnostic.related_information or []]
    start, end = diagnostic.range.start, diagnostic.range.end
    return {
        "message": diagnostic.message,
        "source": diagnostic.source or "",
        "range": {
            "start": {"line": start.line, "character": start.character},
            "end": {"line": end.line, "character": end.character},
        },
        "related": related,
    }


def called(scope: Scope) -> str:
    """How a title names the scope."""
    if scope.name:
        return f"`{scope.name}`"
    return {"selection": texts.SELECTION, "callback": texts.CALLBACK, "insertion": texts.PLACE}.get(
        scope.kind, texts.STATEMENT
    )
