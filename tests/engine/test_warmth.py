"""Reading ahead when a file is opened, and when the user is about to say what to change."""

from dataclasses import replace

import pytest

from lsp_server.core.prompt import Chat, Style
from lsp_server.core.text import Span
from tests.engine.stage import URI, Stage
from tests.support.virtual_time import passes, run_virtual


def test_the_file_opened_last_is_read_ahead_and_no_other() -> None:
    async def run() -> None:
        on = Stage("first = 1<|>\n")
        on.editor.open("file:///w/second.py", "second = 2\n")
        on.deliver()
        await passes(1.0)
        [request] = on.model.warmed
        assert isinstance(request.prompt, Chat)
        assert "second = 2" in request.prompt.context + request.prompt.request
        await on.close()

    run_virtual(run())


def test_nothing_is_read_ahead_for_weights_that_continue_text_or_for_files_that_stay_here() -> None:
    async def run() -> None:
        weak = Stage("first = 1<|>\n", style=Style("plain"))
        secret = Stage("first = 1<|>\n")
        secret.editor.open("file:///w/.env", "KEY=1\n")
        secret.deliver()
        await passes(1.0)
        assert weak.model.warmed == []
        assert [request.cache_key for request in secret.model.warmed] == ["file:///w/a.py"]
        await weak.close()
        await secret.close()

    run_virtual(run())


FUNCTION = "def first():\n    return <|>1\n\n\ndef second():\n    return 2\n"


def test_the_code_of_an_edit_is_read_ahead_and_only_the_wish_is_new() -> None:
    async def run() -> None:
        on = Stage(FUNCTION)
        await passes(1.0)
        on.model.warmed.clear()
        on.assistant.prepare(URI, on.source.span)
        await on.rest()
        [ahead] = on.model.warmed
        generation = on.edit("return three")
        call = await on.call()
        assert isinstance(ahead.prompt, Chat) and isinstance(call.request.prompt, Chat)
        assert "return 1" in ahead.prompt.request and "return three" in call.request.prompt.wish
        assert replace(ahead.prompt, wish="") == replace(call.request.prompt, wish="")
        assert (ahead.task, ahead.cache_key) == (call.request.task, call.request.cache_key)
        call.finish()
        await on.result(generation)
        await on.close()

    run_virtual(run())


def test_an_edit_does_not_wait_for_what_is_read_ahead() -> None:
    async def run() -> None:
        on = Stage(FUNCTION)
        await passes(1.0)
        on.model.warms_up_slowly = True
        on.assistant.prepare(URI, on.source.span)
        await on.rest()
        generation = on.edit("return three")
        (await on.call()).finish()
        await on.result(generation)
        await on.close()

    run_virtual(run())


@pytest.mark.parametrize("why", ["ignored", "paused"])
def test_nothing_is_read_ahead_where_nothing_may_leave(why: str) -> None:
    async def run() -> None:
        on = Stage(FUNCTION)
        await passes(1.0)
        uri = "file:///w/.env" if why == "ignored" else URI
        if why == "ignored":
            on.editor.open(uri, "KEY=1\n")
            on.deliver()
        else:
            on.assistant.pause(None)
        on.model.warmed.clear()
        on.assistant.prepare(uri, Span(0, 0))
        await passes(1.0)
        assert on.model.warmed == []
        await on.close()

    run_virtual(run())
