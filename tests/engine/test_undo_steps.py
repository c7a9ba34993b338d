"""How many undo steps an edit takes, in each kind of client."""

import pytest

from lsp_server.settings import Edit
from tests.engine.stage import URI, Stage
from tests.support.virtual_time import passes, run_virtual

FUNCTION = "top = 0\n\ndef f():\n    return 1<|>\n\nbottom = 0\n"


@pytest.mark.parametrize("mode", ["vscode", "neovim", "eglot", "helix", "plain"])
def test_B61_at_most_eight_undo_steps_where_each_patch_is_one(mode: str) -> None:
    async def run() -> None:
        on = Stage(FUNCTION, mode)
        generation = on.edit()
        call = await on.call()
        await on.said(call, "def f():\n")
        for number in range(40):
            await on.said(call, f"    a{number} = {number}\n")
            await passes(0.05)
        call.finish()
        assert (await on.result(generation)).outcome == "done"
        assert 2 <= len(on.editor.patches) <= 8
        steps = 0
        while on.text() != on.source.text and steps < 9:
            on.editor.undo(URI)
            steps += 1
        assert on.text() == on.source.text and steps <= 8
        on.deliver()
        on.editor.flush()
        on.deliver()
        await on.rest()
        await on.close()

    run_virtual(run())


def test_B61_one_undo_step_where_the_client_joins_them() -> None:
    async def run() -> None:
        on = Stage(FUNCTION, "applypatch")
        generation = on.edit()
        call = await on.call()
        for chunk in ["def f():\n", *(f"    a{number} = {number}\n" for number in range(40))]:
            await on.said(call, chunk)
            await passes(0.05)
        call.finish()
        assert (await on.result(generation)).outcome == "done"
        assert len(on.editor.patches) > 8
        on.editor.undo(URI)
        assert on.text() == on.source.text
        on.deliver()
        await on.close()

    run_virtual(run())


def test_B61_atomic_delivery_lands_as_one() -> None:
    async def run() -> None:
        on = Stage(FUNCTION, edit=Edit(format="scope", delivery="atomic"))
        generation = on.edit()
        call = await on.call()
        await on.said(call, "def f():\n", "    a = 1\n", "    return a\n")
        assert on.editor.patches == []
        call.finish()
        assert (await on.result(generation)).edits == 1
        assert on.text() == "top = 0\n\ndef f():\n    a = 1\n    return a\n\nbottom = 0\n"
        await on.close()

    run_virtual(run())
