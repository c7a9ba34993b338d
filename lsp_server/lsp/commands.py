"""The commands: each reads its argument, acts at once, and answers at once unless asked to wait."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from lsp_server.core.document import Document
from lsp_server.core.prompt import Problem
from lsp_server.core.syntax.scope import scope_at
from lsp_server.core.text import Span
from lsp_server.engine.errors import MidstreamError
from lsp_server.engine.generation import Generation
from lsp_server.engine.ports import Result
from lsp_server.lsp import convert, protocol
from lsp_server.lsp.session import Session
from lsp_server.texts import edits as texts

Handler = Callable[[Session, tuple[Any, ...]], Any]
REQUEST_FAILED = types.LSPErrorCodes.RequestFailed.value


def run(session: Session, name: str, arguments: tuple[Any, ...]) -> Any:
    """Run a command for pygls: the engine's errors become answers that the user can read."""
    try:
        result = HANDLERS[name](session, arguments)
    except MidstreamError as error:
        raise failed(error) from error
    return explained(result) if asyncio.iscoroutine(result) else result


async def explained(coroutine: Coroutine[Any, Any, Any]) -> Any:
    try:
        return await coroutine
    except MidstreamError as error:
        raise failed(error) from error


def failed(error: MidstreamError) -> JsonRpcException:
    return JsonRpcException(message=str(error), code=REQUEST_FAILED)


def edit(session: Session, arguments: tuple[Any, ...]) -> Any:
    argument = convert.argument(arguments)
    document, span = place(session, argument)
    found = problems(session, document, argument.get("findings"))
    generation = session.assistant.edit(
        document.uri,
        span,
        convert.text_field(argument, "instruction", required=True),
        model=convert.text_field(argument, "model"),
        problems=found,
        directive=argument.get("directive") is True,
    )
    messages = [problem.message for problem in found]
    return started(session, generation, wait=argument.get("wait") is True, mends=messages)


def prepare(session: Session, arguments: tuple[Any, ...]) -> None:
    argument = convert.argument(arguments)
    document, span = place(session, argument)
    session.assistant.prepare(document.uri, span, model=convert.text_field(argument, "model"))


def redirect(session: Session, arguments: tuple[Any, ...]) -> Any:
    argument = convert.argument(arguments)
    generation = session.assistant.redirect(
        target(argument),
        convert.text_field(argument, "instruction", required=True),
        model=convert.text_field(argument, "model"),
        directive=directive(session, argument),
    )
    return started(session, generation, wait=argument.get("wait") is True)


def escalate(session: Session, arguments: tuple[Any, ...]) -> Any:
    argument = convert.argument(arguments)
    generation = session.assistant.escalate(target(argument))
    return started(session, generation, wait=argument.get("wait") is True)


def started(session: Session, generation: Generation, *, wait: bool, mends: Sequence[str] = ()) -> Any:
    """The id at once, or the result when the edit has ended; cancelling the request stops the edit."""
    session.leads.began(generation.job.id, generation.job.uri, mends, time.monotonic())
    return waited(session, generation) if wait else {"id": generation.job.id}


async def waited(session: Session, generation: Generation) -> dict[str, Any]:
    try:
        return protocol.result_message(await asyncio.shield(generation.result))
    except asyncio.CancelledError:
        with suppress(MidstreamError):
            session.assistant.stop(generation.job.id).close()
        raise


def stop(session: Session, arguments: tuple[Any, ...]) -> Any:
    return told(session.assistant.stop(target(convert.argument(arguments))))


def revert(session: Session, arguments: tuple[Any, ...]) -> Any:
    return told(session.assistant.revert(target(convert.argument(arguments))))


def accept(session: Session, arguments: tuple[Any, ...]) -> Any:
    generation = session.assistant.generations.find(target(convert.argument(arguments)))
    result = session.assistant.accept(generation.job.id)
    lead = session.leads.accepted(generation.job.id, time.monotonic()) if generation.edits else None
    if lead is not None:
        session.models.accepted(generation.job.backend.name, generation.job.kind, *lead)
    return told(result)


async def told(result: Coroutine[Any, Any, Result]) -> dict[str, Any]:
    return protocol.result_message(await result)


def explain(session: Session, arguments: tuple[Any, ...]) -> Any:
    argument = convert.argument(arguments)
    document, span = place(session, argument)
    opens = argument.get("show") is not False
    return shown(session, session.assistant.explain(document.uri, span), opens=opens)


async def shown(session: Session, explanation: Coroutine[Any, Any, str], *, opens: bool) -> dict[str, Any]:
    markdown = await explanation
    if opens:
        await session.editor.show_markdown(markdown)
    return {"markdown": markdown}


def pause(session: Session, arguments: tuple[Any, ...]) -> Any:
    minutes = convert.argument(arguments).get("minutes")
    if isinstance(minutes, bool) or not isinstance(minutes, int | float | None):
        raise JsonRpcInvalidParams(message=texts.MINUTES)
    session.assistant.pause(minutes)
    return protocol.status_message(session.assistant.status())


def status(session: Session, arguments: tuple[Any, ...]) -> Any:
    return protocol.status_message(session.assistant.status())


def usage(session: Session, arguments: tuple[Any, ...]) -> Any:
    return session.models.usage()


def doctor(session: Session, arguments: tuple[Any, ...]) -> Any:
    return session.models.doctor()


def show_prompt(session: Session, arguments: tuple[Any, ...]) -> Any:
    argument = convert.argument(arguments)
    document, span = place(session, argument)
    instruction = convert.text_field(argument, "instruction")
    prompt = session.assistant.show_prompt(document.uri, span, instruction)
    return {**prompt, "scope": scope_message(session, document, span)}


def scope_message(session: Session, document: Document, span: Span) -> dict[str, Any]:
    """The code that an edit at `span` would rewrite."""
    scope = scope_at(document, session.workspace.tree(document.uri), span)
    range_ = convert.from_span(document, scope.span, session.workspace.encoding)
    message = {"range": range_, "kind": scope.kind, "name": scope.name}
    return {key: value for key, value in message.items() if value is not None}


def accepted(session: Session, arguments: tuple[Any, ...]) -> None:
    """The client ran an item's command: the user took the suggestion."""
    taken = session.assistant.accepted(str(arguments[0]) if arguments else "")
    if taken is not None:
        session.models.accepted(taken.model, "complete", taken.lead_ms)


def problems(session: Session, document: Document, findings: Any) -> list[Problem]:
    """The diagnostics that an edit is about, as our own code actions write them."""
    if not isinstance(findings, list):
        return []
    return [
        Problem(
            span=convert.selection_field(finding, document, session.workspace.encoding),
            message=convert.text_field(finding, "message", required=True),
            source=convert.text_field(finding, "source"),
            related=tuple(str(each) for each in finding.get("related") or ()),
        )
        for finding in findings
        if isinstance(finding, dict)
    ]


def place(session: Session, argument: Any) -> tuple[Document, Span]:
    """The open document that a command is about, and the cursor or selection in it.

    Raises JsonRpcInvalidParams where no document of that URI is open.
    """
    uri = convert.text_field(argument, "uri", required=True)
    document = session.workspace.get(uri)
    if document is None:
        raise JsonRpcInvalidParams(message=texts.NOT_OPEN.format(uri=uri))
    return document, convert.selection_field(argument, document, session.workspace.encoding)


def directive(session: Session, argument: Any) -> Span | None:
    """The comment that holds the instruction of a redirect, where that is how it was given."""
    document = session.workspace.get(convert.text_field(argument, "uri"))
    if argument.get("directive") is not True or document is None:
        return None
    return convert.selection_field(argument, document, session.workspace.encoding)


def target(argument: Any) -> str | None:
    """The generation that a command means: by id, else by document, else the newest."""
    return convert.text_field(argument, "id") or convert.text_field(argument, "uri") or None


HANDLERS: Mapping[str, Handler] = {
    protocol.PREPARE: prepare,
    protocol.EDIT: edit,
    protocol.REDIRECT: redirect,
    protocol.STOP: stop,
    protocol.REVERT: revert,
    protocol.ACCEPT: accept,
    protocol.ESCALATE: escalate,
    protocol.EXPLAIN: explain,
    protocol.PAUSE: pause,
    protocol.SHOW_STATUS: status,
    protocol.USAGE: usage,
    protocol.DOCTOR: doctor,
    protocol.SHOW_PROMPT: show_prompt,
    protocol.ACCEPTED: accepted,
}
