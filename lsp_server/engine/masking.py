"""A backend whose prompts leave without secrets, and whose answers come back with them."""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from lsp_server.core.guard import Unmask, is_prepared, mask
from lsp_server.core.prompt import Chat, Fill, Prompt, Style
from lsp_server.engine.ports import Backend, Delta, Event, Request
from lsp_server.engine.prices import parts

SALT = secrets.token_bytes(16)
"""New in every process: a placeholder tells nothing about its secret, not even whether two users share it."""

SHORT = 1000
"""Characters of lines not seen before that are scanned on the event loop, at most."""


def masked_prompt(prompt: Prompt) -> tuple[Prompt, dict[str, str]]:
    """The prompt as it may leave, and what its placeholders stand for."""
    if isinstance(prompt, Fill):
        others = [text for each in prompt.snippets for text in ("\n", each.text)]
        masked = mask((prompt.prefix, prompt.suffix, *others), SALT)
        prefix, suffix, *texts = masked.texts
        snippets = [replace(each, text=text) for each, text in zip(prompt.snippets, texts[1::2], strict=True)]
        hidden = replace(prompt, prefix=prefix, suffix=suffix, snippets=tuple(snippets))
        return hidden, dict(masked.secrets)
    masked = mask((prompt.instructions, prompt.context, prompt.request, prompt.wish), SALT)
    return Chat(*masked.texts), dict(masked.secrets)


class Masker:
    """Masks one prompt after the other, in a thread where that would hold up the event loop.

    Lines that were scanned before are remembered, so that a keystroke's prompt takes microseconds: a thread
    would take longer to wake up.
    """

    def __init__(self) -> None:
        self._known: frozenset[str] = frozenset()

    async def mask(self, prompt: Prompt) -> tuple[Prompt, dict[str, str]]:
        """As `masked_prompt`."""
        lines = frozenset("".join(parts(prompt)).split("\n"))
        fresh = sum(map(len, lines - self._known))
        self._known = lines
        if is_prepared() and fresh <= SHORT:
            return masked_prompt(prompt)
        return await asyncio.to_thread(masked_prompt, prompt)


class Masking:
    """Wraps the backend of a model that is not on this machine."""

    def __init__(self, inner: Backend) -> None:
        self._inner = inner
        self._masker = Masker()

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def style(self) -> Style:
        return self._inner.style

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        prompt, hidden = await self._masker.mask(request.prompt)
        machine = Unmask(hidden)
        async with aclosing(self._inner.stream(replace(request, prompt=prompt))) as events:
            async for event in events:
                if isinstance(event, Delta):
                    yield replace(event, text=machine.push(event.text))
                    continue
                rest = machine.finish()
                if rest:
                    yield Delta(rest)
                yield event

    async def warm(self, request: Request) -> None:
        prompt, _ = await self._masker.mask(request.prompt)
        await self._inner.warm(replace(request, prompt=prompt))

    async def close(self) -> None:
        await self._inner.close()
