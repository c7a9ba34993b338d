"""How many patches the edits of one flush become, and what that touches."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core.diff import StreamingDiff
from lsp_server.core.edits import Edit, apply
from lsp_server.engine.pace import SPARING, joined
from tests.engine.stage import Stage
from tests.support.virtual_time import run_virtual

lines = st.lists(
    st.sampled_from(["\n", "}\n", "x = 1\n", "x = 2\n", "    return x\n", "call(a, b)\n"]), max_size=14
)


def between(old: str, new: str) -> list[Edit]:
    diff = StreamingDiff(old)
    return [*diff.push(new), *diff.finish()]


def touched(edits: Sequence[Edit]) -> int:
    return sum(edit.size for edit in edits)


@given(lines.map("".join), lines.map("".join))
def test_fewer_edits_make_the_same_change_and_touch_hardly_more(old: str, new: str) -> None:
    edits = between(old, new)
    fewer = joined(old, edits)
    assert apply(old, fewer) == new
    assert len(fewer) <= len(edits)
    assert touched(fewer) <= SPARING * touched(edits)


def test_lines_that_follow_each_other_are_one_patch() -> None:
    old = "a()\nb()\n"
    edits = between(old, "a()\n" + "".join(f"step_{number}()\n" for number in range(40)) + "b()\n")
    assert len(edits) > 1 and len(joined(old, edits)) == 1


def test_what_lies_between_two_places_is_not_written_again() -> None:
    old = "a = 1\n" + "keep(this_line_as_it_is)\n" * 5 + "b = 1\n"
    edits = between(old, old.replace("1", "2"))
    assert len(joined(old, edits)) == len(edits) == 2


def test_a_backlog_lands_as_one_patch_where_undo_is_grouped() -> None:
    async def run() -> None:
        on = Stage("def f():\n    return 1<|>\n", "applypatch")
        generation = on.edit()
        call = await on.call()
        await on.said(call, "def f():\n" + "".join(f"    a{number} = {number}\n" for number in range(20)))
        call.say(*(f"    b{number} = {number}\n" for number in range(20)), "    return 1\n")
        call.finish()
        assert (await on.result(generation)).outcome == "done"
        assert len(on.editor.patches) == 2
        await on.close()

    run_virtual(run())
