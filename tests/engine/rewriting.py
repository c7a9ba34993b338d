"""One rewrite by a scripted model, for tests of what the buffer holds after it."""

from typing import Any

from lsp_server.settings import Edit
from tests.engine.stage import Stage
from tests.support.virtual_time import run_virtual

FILE = "import os\n\nTOP = 0\n\ndef f():\n    return 1<|>\n\ndef g():\n    return f()\n"
CHANGED = FILE.replace("return 1<|>", "return 2")
METHOD = "class A:\n    x = 0\n\n    @cache\n    def f(self):\n        return 1<|>\n\n    y = 0\n"
CACHED = '# How many.\n@cache\n@trace("f")\ndef f():\n    return 1<|>\n'


def edited(source: str, reply: str | list[str], *, format: str = "scope", **stage: Any) -> tuple[str, str]:
    """The outcome, and the buffer, after the model has said `reply`; what came in between is checked."""

    async def scenario() -> tuple[str, str]:
        on = Stage(source, edit=Edit(format=format), **stage)  # type: ignore[arg-type]
        generation = on.edit("return two")
        call = await on.call()
        await on.said(call, *([reply] if isinstance(reply, str) else reply))
        call.finish()
        result = await on.result(generation)
        assert [each.id for each in on.editor.results] == [generation.job.id]
        told = [sentence for _, sentence in on.editor.shown]
        assert told == ([result.message] if result.outcome in ("failed", "rejected") else [])
        text = on.text()
        await on.close()
        return result.outcome, text

    return run_virtual(scenario())


def check(source: str, reply: str | list[str], expected: str, *, outcome: str = "done", **stage: Any) -> None:
    assert edited(source, reply, **stage) == (outcome, expected)


def refused(source: str, reply: str | list[str], **stage: Any) -> None:
    """The buffer is as it was."""
    before = source.replace("<|>", "").replace("<[", "").replace("]>", "")
    outcome, after = edited(source, reply, **stage)
    assert (outcome in ("failed", "rejected"), after) == (True, before)
