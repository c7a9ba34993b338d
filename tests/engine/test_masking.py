"""Secrets do not reach the model, and come back where it repeats their masks."""

import asyncio
from contextlib import aclosing, suppress
from dataclasses import replace

import pytest

from lsp_server.core.prompt import Chat, Fill, Prompt, Snippet
from lsp_server.engine.masking import Masker, Masking, masked_prompt
from lsp_server.engine.ports import Delta, Event, Finish, Request
from tests.support.scripted_model import ScriptedModel

SECRET = "8f14e45fceea167a5a36dedd4bea2543"
CHAT = Chat("Be brief.", f'key = "{SECRET}"\n', "use the key")
SNIPPETS = (Snippet("w/b.py", "x = 1\n"), Snippet("w/c.py", f'  api_key = "{SECRET}"\n', "definition"))
FILL = Fill(f'key = "{SECRET}"\nuse(', ")", "fim", True, "a.py", "python")


def placeholder() -> str:
    return next(iter(masked_prompt(CHAT)[1]))


async def answer(prompt: Prompt, *deltas: str) -> tuple[Request, list[Event]]:
    """What the model saw and what the caller got, when the model streams these deltas."""
    model = ScriptedModel([deltas])
    async with aclosing(Masking(model).stream(Request("edit", prompt, 9))) as stream:
        events = [event async for event in stream]
    return model.calls[0].request, events


@pytest.mark.parametrize("prompt", [CHAT, FILL, Fill("use(", ")", "fim", True, "a.py", "python", SNIPPETS)])
@pytest.mark.parametrize("cut", [1, 5, 12, 16])
async def test_a_secret_is_masked_and_restored(prompt: Prompt, cut: int) -> None:
    mask = placeholder()
    seen, events = await answer(prompt, "use('" + mask[:cut], mask[cut:] + "')", "REDACTED_")
    assert SECRET not in repr(seen)
    assert mask in repr(seen)
    assert "".join(event.text for event in events if isinstance(event, Delta)) == f"use('{SECRET}')REDACTED_"
    assert isinstance(events[-1], Finish)


async def test_a_prompt_without_secrets_is_sent_as_it_is() -> None:
    prompt = Chat("Be brief.", "x = 1\n", "double it")
    seen, events = await answer(prompt, "x = ", "2")
    assert seen.prompt == prompt
    assert [event.text for event in events if isinstance(event, Delta)] == ["x = ", "2"]


async def test_snippets_keep_their_places() -> None:
    prompt = Fill("a(", ")", "fim", True, "a.py", "python", SNIPPETS)
    seen, _ = await answer(prompt, "1")
    assert isinstance(seen.prompt, Fill)
    assert seen.prompt.snippets == (
        SNIPPETS[0],
        replace(SNIPPETS[1], text=f'  api_key = "{placeholder()}"\n'),
    )


async def test_a_secret_at_the_start_of_a_snippet_is_on_a_line_of_its_own() -> None:
    snippet = Snippet("w/b.py", "API_TOKEN=abcdef123456\n")
    seen, _ = await answer(Fill("a(", "no line end", "fim", True, "a.py", "python", (snippet,)), "1")
    assert "abcdef123456" not in repr(seen)


async def test_the_prompt_that_is_read_ahead_is_masked_too() -> None:
    model = ScriptedModel()
    await Masking(model).warm(Request("complete", FILL, 1))
    assert SECRET not in repr(model.warmed)


async def test_letting_go_of_the_stream_lets_go_of_the_model() -> None:
    model = ScriptedModel()

    async def read() -> None:
        async with aclosing(Masking(model).stream(Request("edit", CHAT, 9))) as stream:
            async for _ in stream:
                pass

    reader = asyncio.create_task(read())
    while not model.open_calls:
        await asyncio.sleep(0)
    reader.cancel()
    with suppress(asyncio.CancelledError):
        await reader
    assert [call.closed for call in model.calls] == [True]


async def test_a_long_prompt_does_not_hold_up_the_loop() -> None:
    text = "".join(f"line_{number} = other_{number}(value)\n" for number in range(2000))
    masking = asyncio.create_task(Masker().mask(Chat("", text + CHAT.context, "")))
    turns = 0
    while not masking.done():
        await asyncio.sleep(0)
        turns += 1
    assert SECRET not in repr(masking.result()[0])
    # What runs on the loop itself is over after the first turn.
    assert turns > 1
