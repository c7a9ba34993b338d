"""From a model's words to a suggestion's text: what is asked for, and what of the answer is taken."""

import contextlib
from collections.abc import AsyncGenerator, Callable
from enum import Enum

from lsp_server.core.completion import Stopper, confident
from lsp_server.core.prompt import Prompt, Style
from lsp_server.core.reply import ReplyFilter
from lsp_server.engine.ports import Delta, Event, Request
from lsp_server.engine.suggestion import Suggestion, is_weak

LINE_TOKENS, BLOCK_TOKENS = 48, 256
GATE_TOKENS = 6


class News(Enum):
    """What has come of a suggestion: its first token, the end of its first line, or more text to show."""

    BEGINNING = "beginning"
    FIRST_LINE = "first line"
    MORE = "more"


def request_of(suggestion: Suggestion, prompt: Prompt, style: Style, max_tokens: int) -> Request:
    """The request for a suggestion's text; `max_tokens` is the user's own limit, 0 for none."""
    one_line = not suggestion.block
    limit = LINE_TOKENS if one_line else BLOCK_TOKENS
    return Request(
        task="complete",
        prompt=prompt,
        max_tokens=min(limit, max_tokens) if max_tokens else limit,
        stop=("\n",) if one_line and style.kind != "chat" else (),
        cache_key=suggestion.document.uri,
        logprobs=is_weak(style),
    )


async def listen(
    suggestion: Suggestion,
    events: AsyncGenerator[Event, None],
    style: Style,
    clock: Callable[[], float],
) -> AsyncGenerator[News, None]:
    """Let a suggestion grow; ends as soon as no more of the answer is wanted. Hold it in `aclosing`."""
    cleaner = ReplyFilter("completion")
    stopper: Stopper | None = None
    gated = is_weak(style)
    logprobs: list[float] = []
    async with contextlib.aclosing(events) as stream:
        async for event in stream:
            if not isinstance(event, Delta):
                continue
            if stopper is None:
                # Made only now, so that the request did not wait for it.
                stopper = Stopper(suggestion.context, block=suggestion.block)
                suggestion.started = True
                yield News.BEGINNING
            suggestion.tokens += 1
            logprobs.extend(event.logprobs)
            if gated and len(logprobs) >= GATE_TOKENS and not confident(logprobs):
                suggestion.failed = True
                return
            text = cleaner.push(event.text)
            suggestion.text += text
            if suggestion.first_line is None and "\n" in suggestion.text.lstrip("\n"):
                suggestion.first_line = clock()
                yield News.FIRST_LINE
            if stopper.push(text) or (suggestion.first_line_only and suggestion.first_line is not None):
                break
            if not gated or len(logprobs) >= GATE_TOKENS or not event.logprobs:
                yield News.MORE
    suggestion.text += cleaner.finish()
    if gated and logprobs and not confident(logprobs):
        suggestion.failed = True
