"""The completion list, for clients without ghost text."""

from typing import Any

import pytest

from tests.lsp.desk import URI, Desk, desk
from tests.support.scripted_model import ScriptedModel

LIST: dict[str, Any] = {"completion": {"completionItem": {}}}


async def ask(client: Desk, *, kind: int = 1) -> Any:
    where = client.range(URI, client.source.at, client.source.at)["start"]
    return await client.request(
        "textDocument/completion",
        {"textDocument": {"uri": URI}, "position": where, "context": {"triggerKind": kind}},
    )


@pytest.mark.parametrize(
    "choice, ghost, listed",
    [("auto", True, False), ("auto", False, True), (True, True, True), (False, False, False)],
)
async def test_served_as_set_else_where_there_is_no_ghost_text(
    choice: Any, ghost: bool, listed: bool
) -> None:
    text_document = LIST if ghost else {**LIST, "inlineCompletion": None}
    async with desk(
        options={"complete": {"debounce": 0, "viaCompletion": choice}},
        capabilities={"textDocument": text_document},
    ) as client:
        assert ("completionProvider" in client.announced) is listed


async def item(source: str, said: str, *, snippets: bool = False) -> tuple[Desk, Any]:
    async with desk(
        source,
        options={"complete": {"debounce": 0, "viaCompletion": True}},
        model=ScriptedModel([[said]]),
    ) as client:
        answer = await ask(client)
        assert answer["isIncomplete"] is True
        [only] = answer["items"]
        return client, only


async def test_an_entry_replaces_the_word_and_is_found_by_it() -> None:
    client, entry = await item("x = con<|>\n", "sole.log(1)")
    assert (entry["label"], entry["filterText"]) == ("console.log(1)", "con")
    edit = entry["textEdit"]
    start, end = client.offsets(URI, edit["range"])
    assert client.text(URI)[start:end] == "con" and edit["newText"] == "console.log(1)"


async def test_B133_lines_go_out_as_they_are_and_the_client_is_told_not_to_indent() -> None:
    client, entry = await item("def f():\n    <|>\n", "a = 1\n    return a")
    assert entry["insertTextMode"] == 1 and entry["insertTextFormat"] == 1
    edit = entry["textEdit"]
    start, end = client.offsets(URI, edit["range"])
    text = client.text(URI)
    assert text[:start] + edit["newText"] + text[end:] == "def f():\n    a = 1\n    return a\n"
    assert entry["label"] == "a = 1 …" and entry["filterText"]


async def test_what_replaces_text_behind_the_cursor_keeps_the_rest_right() -> None:
    client, entry = await item("print(<|>)\n", '"hello")')
    edit = entry["textEdit"]
    start, end = client.offsets(URI, edit["range"])
    text = client.text(URI)
    assert text[:start] + edit["newText"] + text[end:] == 'print("hello")\n'


async def test_accepting_reaches_the_meter() -> None:
    async with desk(
        "x = <|>\n",
        options={"complete": {"debounce": 0, "viaCompletion": True}},
        model=ScriptedModel([["1"]]),
    ) as client:
        [entry] = (await ask(client))["items"]
        await client.command(entry["command"]["command"], *entry["command"]["arguments"])
        assert client.models.taken == [("scripted", "complete", "request")]


async def test_nothing_to_say_is_an_empty_list_that_asks_again() -> None:
    async with desk(
        "x = <|>\n",
        options={"complete": {"viaCompletion": True, "debounce": 0}},
        model=ScriptedModel([["   "]]),
    ) as client:
        assert await ask(client) == {"isIncomplete": True, "items": []}
