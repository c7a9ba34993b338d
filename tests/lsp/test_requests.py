"""Documents and inline completions through the whole server."""

import asyncio
from typing import Any

import pytest

from lsp_server.core.text import Encoding
from tests.lsp.desk import URI, Desk, desk
from tests.support.lsp_client import INLINE
from tests.support.scripted_model import ScriptedModel

ENCODINGS = {
    Encoding.UTF8: ("utf-8", "utf-16"),
    Encoding.UTF16: ("utf-16",),
    Encoding.UTF32: ("utf-32", "utf-16"),
}


def mirror(client: Desk, uri: str = URI) -> str:
    """The text as the server has it."""
    document = client.door.session.workspace.get(uri)
    assert document is not None
    return document.text


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_B19_every_range_uses_the_encoding_that_was_agreed(encoding: Encoding) -> None:
    source = "s = 'é🦊'; t = <|>\n"
    async with desk(source, encodings=ENCODINGS[encoding], model=ScriptedModel([["'ü🌒'"]])) as client:
        assert client.encoding is encoding
        client.replace(URI, 6, 6, "🌞")
        answer = await client.ask(URI, client.source.at + 1)[1]
        assert client.offsets(URI, answer["items"][0]["range"]) == (client.source.at + 1,) * 2
        assert await client.accept(answer) == "s = 'é🌞🦊'; t = 'ü🌒'\n"
        await client.command("midstream.status")
        assert mirror(client) == client.text(URI)


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_B20_an_edit_behind_astral_characters_lands_where_it_belongs(encoding: Encoding) -> None:
    source = 'let moon = "🌒";<|>'
    async with desk(
        source, encodings=ENCODINGS[encoding], model=ScriptedModel([["let suns = ", '"🌞";']])
    ) as client:
        where = client.range(URI, 0, 0)["start"]
        argument = {"uri": URI, "position": where, "instruction": "suns", "wait": True}
        assert (await client.command("midstream.edit", argument))["outcome"] == "done"
        assert client.text(URI) == mirror(client) == 'let suns = "🌞";'


@pytest.mark.parametrize("text", ["", "\n", "x", "x\n", "def f():"])
async def test_B28_every_place_of_a_short_document_is_answered(text: str) -> None:
    async with desk(text) as client:
        legal = [client.range(URI, at, at)["start"] for at in range(len(text) + 1)]
        past = text.count("\n") + 1
        for number, where in enumerate([*legal, {"line": 0, "character": 99}]):
            _, answer = client.send(INLINE, at(where))
            (await client.call(number)).finish("y")
            given = await answer
            assert given is None or client.offsets(URI, given["items"][0]["range"])[1] <= len(text)
            client.door.session.assistant.completer.closed(URI)
        for line in (past, 99):
            assert await client.request(INLINE, at({"line": line, "character": 0})) is None


def at(where: Any, uri: str = URI) -> dict[str, Any]:
    return {"textDocument": {"uri": uri}, "position": where, "context": {"triggerKind": 1}}


async def test_B31_changes_of_a_document_that_was_never_opened_are_harmless() -> None:
    async with desk(model=ScriptedModel([["1"]])) as client:
        client.texts[URI] = (1, "")
        for _ in range(5):
            client.replace(URI, 0, 0, "x")
        opened = client.open(URI, "y = <|>\n")
        assert await client.accept(await client.ask(URI, opened.at)[1]) == "y = 1\n"
        assert client.told == []


async def test_B32_after_the_close_there_is_nothing_and_the_next_open_starts_afresh() -> None:
    async with desk("x = <|>\n", model=ScriptedModel([["2"]])) as client:
        client.close(URI)
        client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
        assert await client.request(INLINE, at({"line": 0, "character": 4})) is None
        client.texts[URI] = (3, "x = \n")
        client.replace(URI, 0, 0, "lost")
        assert client.door.session.workspace.get(URI) is None
        opened = client.open(URI, "new = <|>\n")
        assert await client.accept(await client.ask(URI, opened.at)[1]) == "new = 2\n"
        assert client.told == []


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "vscode-notebook-cell:/w/a.ipynb#W0sZmlsZQ%3D%3D"])
async def test_B34_documents_without_a_path_are_served_under_their_own_name(uri: str) -> None:
    model = ScriptedModel([["return 1"], ["def f():\n    return 2\n"]])
    async with desk(model=model) as client:
        opened = client.open(uri, "def f():\n    <|>\n")
        assert await client.accept(await client.ask(uri, opened.at)[1], uri) == "def f():\n    return 1\n"
        where = client.range(uri, 0, 0)["start"]
        argument = {"uri": uri, "position": where, "instruction": "2", "wait": True}
        result = await client.command("midstream.edit", argument)
        assert (result["outcome"], result["uri"]) == ("done", uri)
        [change] = client.edits[-1]["edit"]["documentChanges"]
        assert change["textDocument"]["uri"] == uri and client.text(uri) == "def f():\n    return 2\n"


async def test_B44_changes_of_one_notification_follow_one_another() -> None:
    async with desk("pq") as client:
        places = [("P", 0, 1), ("\n", 0, 2), ("🦊", 1, 0), ("r", 1, 2)]
        changes = [
            {"range": {end: {"line": line, "character": column} for end in ("start", "end")}, "text": text}
            for text, line, column in places
        ]
        client.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": URI, "version": 2}, "contentChanges": changes},
        )
        await client.command("midstream.status")
        assert mirror(client) == "pP\n🦊rq"


async def test_B83_a_suggestion_that_is_there_already_is_not_stacked() -> None:
    said = ["\n    run: go,"]
    async with desk("use({<|>\n})\n", model=ScriptedModel([said, said])) as client:
        await client.accept(await client.ask(URI, client.source.at)[1])
        assert await client.ask(URI, client.source.at)[1] is None


async def test_B38_a_client_without_versions_gets_one_edit_at_a_time() -> None:
    async with desk(
        "one\n<[two]>\n",
        options={"edit": {"onForeignChange": "rebase"}},
        capabilities={"workspace": {"workspaceEdit": {"documentChanges": False}}},
    ) as client:
        span = client.source.span
        argument = {
            "uri": URI, "range": client.range(URI, span.start, span.end), "instruction": "x", "wait": True,
        }  # fmt: skip
        _, answer = client.start("midstream.edit", argument)
        call = await client.call()
        call.say("T")
        client.replace(URI, 0, 0, "zero ")
        await client.command("midstream.status")
        call.finish("WO")
        assert (await answer)["outcome"] == "done"
        assert client.text(URI) == mirror(client) == "zero one\nTWO\n"
        assert all(list(each["edit"]) == ["changes"] for each in client.edits)


async def test_B80_an_edit_is_one_change_a_message_so_that_no_two_share_a_place() -> None:
    source = "<|>def f():\n    a = 1\n    b = 2\n    c = 3\n    return a\n"
    rewritten = "def f():\n    import a\n    import b\n    a = 2\n    b = 2\n    c = 4\n    return b\n"
    async with desk(source, model=ScriptedModel([[rewritten]])) as client:
        argument = {
            "uri": URI, "position": client.range(URI, 0, 0)["start"], "instruction": "x", "wait": True,
        }  # fmt: skip
        assert (await client.command("midstream.edit", argument))["outcome"] == "done"
        assert client.text(URI) == rewritten
        for sent in client.edits:
            [change] = sent["edit"]["documentChanges"]
            assert len(change["edits"]) == 1


@pytest.mark.parametrize("how", ["stop", "redirect", "break off"])
async def test_B54_what_was_applied_stays_and_one_revert_brings_the_original_back(how: str) -> None:
    body = "".join(f"    a{number} = 1\n" for number in range(12))
    async with desk(f"<|>def f():\n{body}") as client:
        where = client.range(URI, 0, 0)["start"]
        await client.command("midstream.edit", {"uri": URI, "position": where, "instruction": "x"})
        call = await client.call()
        call.say("def f():\n", *(f"    a{number} = 2\n" for number in range(5)))
        await client.message("workspace/applyEdit")
        if how == "stop":
            assert (await client.command("midstream.stop"))["outcome"] == "stopped"
        elif how == "redirect":
            _, answer = client.start("midstream.redirect", {"instruction": "y", "wait": True})
            (await client.call(1)).finish(client.text(URI))
            assert (await answer)["outcome"] in ("done", "unchanged")
        else:
            call.finish(reason="length")
            await client.message("window/showMessage")
        seen = client.text(URI)
        assert "a0 = 2" in seen and seen.endswith("a11 = 1\n") and mirror(client) == seen
        await client.command("midstream.revert")
        assert client.text(URI) == client.source.text


async def test_trigger_kinds_count_from_one_until_a_zero_comes() -> None:
    async with desk("x = <|>\n", options={"complete": {"languages": ["!python"]}}) as client:
        ask = client.source.at
        await client.ask(URI, ask, kind=2)[1]
        assert client.told == [], "2 is automatic: nobody is told"
        await client.ask(URI, ask, kind=0)[1]
        assert len(client.told) == 1, "0 is the older count's invoked"
    async with desk("x = <|>\n", options={"complete": {"languages": ["!python"]}}) as client:
        await client.ask(URI, ask, kind=1)[1]
        assert len(client.told) == 1, "1 is invoked"


async def test_an_item_extends_what_the_popup_has_selected() -> None:
    async with desk("con<|>\n", model=ScriptedModel([[".log(1)"]])) as client:
        selected = {"range": client.range(URI, 0, 3), "text": "console"}
        answer = await client.ask(URI, 3, selectedCompletionInfo=selected)[1]
        [item] = answer["items"]
        assert item["insertText"].startswith("console")
        assert await client.accept(answer) == "console.log(1)\n"


async def test_every_request_that_is_open_at_the_shutdown_is_answered_once() -> None:
    async with desk("x = <|>\ndef f():\n    return 1\n") as client:
        _, completion = client.ask(URI, client.source.at)
        await client.call()
        where = client.range(URI, 10, 10)["start"]
        edit = {"uri": URI, "position": where, "instruction": "2", "wait": True}
        _, waited = client.start("midstream.edit", edit)
        await client.call(1)
        _, explained = client.start("midstream.explain", {"uri": URI, "position": where})
        await client.call(2)
        await client.request("shutdown")
        answers = await asyncio.gather(completion, waited, explained, return_exceptions=True)
        assert answers[0] is None
        assert isinstance(answers[1], dict) and answers[1]["outcome"] == "closed"
        assert isinstance(answers[2], RuntimeError) and "-32800" in str(answers[2])
        client.notify("exit")
        await client.door.ended.wait()


async def test_a_superseded_request_gets_null_and_a_cancelled_one_an_error() -> None:
    async with desk("x = <|>\n") as client:
        number, first = client.ask(URI, client.source.at)
        client.notify("$/cancelRequest", {"id": number})
        with pytest.raises(RuntimeError, match="-32800"):
            await first
        _, second = client.ask(URI, client.source.at)
        _, third = client.ask(URI, client.source.at)
        assert await second is None
        while client.model.open_calls == []:
            await asyncio.sleep(0)
        client.model.open_calls[0].finish("1")
        assert (await third)["items"]


MALFORMED: list[Any] = [
    {"jsonrpc": "2.0"},
    {"jsonrpc": "2.0", "id": None},
    {"jsonrpc": "2.0", "id": 999, "result": 1},
    {"jsonrpc": "2.0", "id": {"a": 1}, "result": 1},
    {"jsonrpc": "2.0", "id": 999, "error": {"code": 1, "message": "x"}},
    {"jsonrpc": "2.0", "id": 999, "error": "x"},
    {"jsonrpc": "2.0", "method": 7},
    {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": None},
    {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {"textDocument": {"uri": URI}}},
    {"jsonrpc": "2.0", "method": "$/unheardOf", "params": []},
    {"jsonrpc": "1.0", "method": "shutdown", "id": 5},
    [],
    None,
]


@pytest.mark.parametrize("message", MALFORMED, ids=str)
async def test_a_malformed_message_harms_nothing(message: Any) -> None:
    async with desk("x = <|>\n", model=ScriptedModel([["1"]])) as client:
        client.write_body(message)
        assert await client.accept(await client.ask(URI, client.source.at)[1]) == "x = 1\n"
        assert client.told == []
