"""What other files tell the prompts never holds what must stay on the machine."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core.prompt import Style
from lsp_server.core.text import Span
from lsp_server.settings import Complete, Context
from tests.engine.neighbours import STYLES, Two
from tests.engine.stage import URI, Stage
from tests.support.virtual_time import run_virtual

CANARY = "canary_never_leaves"
PRIVATE = (
    f"def total(items, {CANARY}):\n    for item in items:\n        due = item.{CANARY}\n    return due\n"
)


@pytest.mark.parametrize("style", STYLES, ids=["chat", "fim"])
@pytest.mark.parametrize("name", ["secret/shop.py", "own/shop.py", "shop.env", ".ssh/shop.py"])
def test_B112_B113_no_piece_definition_or_change_of_an_ignored_file(
    tmp_path: Path, name: str, style: Style
) -> None:
    (tmp_path / ".gitignore").write_text("secret/\n")

    async def run() -> None:
        uri = f"{tmp_path.as_uri()}/{name}"
        context = Context(ignore=("**/own/**",))
        on = Two(other=PRIVATE, uri=uri, context=context, style=style, complete=Complete(candidates=2))
        on.put("paid", "due", uri)
        on.put("owed", "due", URI)
        assert CANARY not in await on.asked()
        assert CANARY not in str(on.assistant.show_prompt(URI, on.source.span, ""))
        assert CANARY not in str(on.assistant.show_prompt(URI, on.source.span, "go on"))
        generation = on.edit("go on")
        await on.rest()
        generation.cancel("stopped")
        await on.result(generation)
        sent = [call.text for call in on.model.calls] + [str(each.prompt) for each in on.model.warmed]
        assert not any(CANARY in text for text in sent)
        await on.close()

    run_virtual(run())


def test_B112_a_rule_that_changed_holds_at_once(tmp_path: Path) -> None:
    async def run() -> None:
        uri = (tmp_path / "shop.py").as_uri()
        on = Two(other=PRIVATE, uri=uri)
        on.put("paid", "due", uri)
        text = await on.asked()
        assert text.count(CANARY) >= 2 and "-        due" in text
        (tmp_path / ".gitignore").write_text("shop.py\n")
        assert CANARY not in await on.asked()
        await on.close()

    run_virtual(run())


words = st.sampled_from(["total", "items", "due", "price"])
programs = st.lists(
    st.builds("def {0}({1}):\n    return {1}.{2}({0})\n".format, words, words, words), max_size=6
)


@given(st.lists(st.tuples(st.booleans(), programs), min_size=1, max_size=4), programs, st.data())
def test_B112_nothing_of_an_ignored_file_is_in_any_prompt(
    files: list[tuple[bool, list[str]]], own: list[str], data: st.DataObject
) -> None:
    async def run() -> None:
        on = Stage("".join(own) + "<|>")
        on.settings = replace(on.settings, context=Context(ignore=("**/private/**",)))
        for number, (ignored, program) in enumerate(files):
            uri = f"file:///w/{'private' if ignored else 'public'}/f{number}.py"
            mark = f"secret_{number}" if ignored else f"open_{number}"
            text = "".join(program).replace("def total", f"def total_{mark}").replace("price", mark)
            on.editor.open(uri, text, "python")
            on.deliver()
            if text and data.draw(st.booleans()):
                on.editor.replace(uri, 0, 3, f"{mark} = 1\ndef")
                on.deliver()
        for instruction in ("", "go on"):
            place = Span(*[data.draw(st.integers(0, len(on.text())))] * 2)
            assert "secret_" not in str(on.assistant.show_prompt(URI, place, instruction))
        await on.close()

    run_virtual(run())
