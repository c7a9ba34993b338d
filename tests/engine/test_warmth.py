"""Reading ahead when a file is opened."""

from lsp_server.core.prompt import Chat, Style
from tests.engine.stage import Stage
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
