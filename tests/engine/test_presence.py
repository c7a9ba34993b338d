"""When nothing is offered, somebody says why, once."""

import asyncio

from lsp_server.engine.errors import RateLimited, Unauthorized
from lsp_server.settings import Complete
from tests.engine.stage import Stage
from tests.support.virtual_time import passes, run_virtual


def test_B134_a_failure_is_told_once_a_cause() -> None:
    async def run() -> None:
        on = Stage("x = <|>\n")
        for number, error in enumerate(
            [
                Unauthorized("The key is wrong."),
                Unauthorized("The key is wrong."),
                RateLimited("Too many requests."),
            ]
        ):
            request = asyncio.ensure_future(on.assistant.complete(on.ask(4)))
            (await on.call(number)).fail(error)
            assert await request == []
        assert [sentence for _, sentence in on.editor.shown] == ["The key is wrong.", "Too many requests."]
        assert on.assistant.status().message == "Too many requests."
        await on.close()

    run_virtual(run())


def test_B134_paused_and_switched_off_languages_ask_nobody() -> None:
    async def run() -> None:
        on = Stage("x = <|>\n")
        on.assistant.pause(5)
        assert await on.assistant.complete(on.ask(4)) == []
        assert on.assistant.status().state == "paused"
        await passes(301)
        assert on.assistant.status().state == "ready"
        other = Stage("x = <|>\n", complete=Complete(languages=("*", "!python")))
        assert await other.assistant.complete(other.ask(4)) == []
        assert on.model.calls == other.model.calls == []
        await on.close()
        await other.close()

    run_virtual(run())
