"""More than one suggestion, where the user asks for them and the settings want them."""

import asyncio
import contextlib
from collections.abc import Awaitable
from dataclasses import replace

from lsp_server.core.completion import Stopper, context_at, finish, wants_block
from lsp_server.core.prompt import Chat, Style
from lsp_server.core.reply import ReplyFilter
from lsp_server.engine.completer import Completer
from lsp_server.engine.context import ContextSource
from lsp_server.engine.errors import MidstreamError
from lsp_server.engine.ports import Backend, Delta, Request
from lsp_server.engine.suggestion import Ask, Item, is_weak

TOKENS = 96
PATIENCE = 5.0
"""Seconds that the first suggestion waits for the others: an answer cannot be added to later."""


async def candidates(
    ask: Ask, first: Awaitable[list[Item]], count: int, completer: Completer, backend: Backend
) -> list[Item]:
    """The first suggestion and up to `count - 1` different ones; nothing once the request is superseded."""
    items = await first
    if not items:
        return items
    superseded = completer.superseded(ask)
    others = [
        asyncio.create_task(
            alternative(ask, number, items[0].text, backend, completer.context), name=f"candidate {number}"
        )
        for number in range(2, count + 1)
    ]
    everything = asyncio.create_task(all_of(others), name="candidates")
    try:
        await asyncio.wait([everything, superseded], timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        texts = [task.result() for task in others if task.done()]
    finally:
        for task in (everything, *others):
            task.cancel()
        await asyncio.gather(everything, *others, return_exceptions=True)
    return [] if superseded.done() else [*items, *different(ask, items[0], texts)]


def different(ask: Ask, first: Item, texts: list[str]) -> list[Item]:
    """The texts that say something else than the first and than each other, as items."""
    prefix = ask.selected.text if ask.selected else ""
    whole = dict.fromkeys(prefix + text for text in texts if text)
    whole.pop(first.text, None)
    return [Item(f"{first.id}.{number}", text, first.span) for number, text in enumerate(whole, 2)]


async def all_of(tasks: list[asyncio.Task[str]]) -> list[Item]:
    """Wait for all of them; no items of its own."""
    await asyncio.wait(tasks)
    return []


async def alternative(ask: Ask, number: int, first: str, backend: Backend, source: ContextSource) -> str:
    """Another text for the same place; empty when the model has none or fails."""
    document, cursor = ask.virtual()
    style = other_style(backend.style) if is_weak(backend.style) else backend.style
    context = context_at(document, cursor, stripped=style.kind == "plain")
    block = wants_block(context) and not is_weak(style)
    prompt = source.prompt(document, cursor, style, block=block)
    if isinstance(prompt, Chat):
        wish = f"The obvious text is {first!r}. Give another one that is right as well (number {number}).\n"
        prompt = replace(prompt, request=prompt.request + wish)
    stop = ("\n",) if is_weak(style) else ()
    request = Request("complete", prompt, max_tokens=TOKENS, stop=stop, cache_key=f"{document.uri}#{number}")
    cleaner, stopper, text = ReplyFilter("completion"), Stopper(context, block=block), ""
    with contextlib.suppress(MidstreamError):
        async with contextlib.aclosing(backend.stream(request)) as stream:
            async for event in stream:
                if isinstance(event, Delta):
                    piece = cleaner.push(event.text)
                    text += piece
                    if stopper.push(piece):
                        break
        return finish(text + cleaner.finish(), context)
    return ""


def other_style(style: Style) -> Style:
    """Weights that continue text speak the same each time; the other layout is what changes their mind."""
    return replace(style, kind="plain" if style.kind == "fim" else "fim", block_kind=None)
