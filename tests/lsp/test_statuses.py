"""The state of the product, through our own notification or through work-done progress."""

from typing import Any

from lsp_server.engine.ports import Status
from tests.lsp.desk import ANNOUNCED, URI, Desk, desk
from tests.support.lsp_client import Refused
from tests.support.scripted_model import ScriptedModel

FUNCTION = "def f():\n    return 1<|>\n"
EDIT: dict[str, Any] = {
    "uri": URI, "position": {"line": 1, "character": 4}, "instruction": "return 2", "wait": True,
}  # fmt: skip
TWO = "def f():\n    return 2\n"
PROGRESS = {"window": {"workDoneProgress": True}}


def bar(client: Desk) -> list[tuple[str, str]]:
    """What the client's bars showed: kind, and title or message or percentage."""
    values = [params["value"] for params in client.came("$/progress")]
    return [
        (each["kind"], each.get("title") or each.get("message") or str(each.get("percentage")))
        for each in values
    ]


async def test_a_running_edit_is_a_bar_with_a_beginning_and_an_end() -> None:
    async with desk(FUNCTION, capabilities=PROGRESS, model=ScriptedModel([[TWO]])) as client:
        await client.command("midstream.edit", EDIT)
        kinds = [kind for kind, _ in await finished(client)]
        assert kinds[0] == "begin" and kinds[-1] == "end" and kinds.count("begin") == 1
        assert bar(client)[0] == ("begin", "Midstream: editing")
        assert client.came("midstream/status") == []


async def finished(client: Desk) -> list[tuple[str, str]]:
    while not bar(client) or bar(client)[-1][0] != "end":
        await client.message("$/progress", len(bar(client)) + 1)
    return bar(client)


async def test_a_download_is_a_bar_that_moves() -> None:
    async with desk(capabilities=PROGRESS) as client:
        client.models.tell(Status("downloading", model="local", percent=3))
        await client.message("$/progress")
        client.models.tell(Status("downloading", model="local", percent=41))
        client.models.tell(Status("downloading", model="local", percent=42))
        await client.message("$/progress", 2)
        client.models.tell(Status("ready", model="local"))
        shown = await finished(client)
        values = [params["value"] for params in client.came("$/progress")]
        assert (values[0]["kind"], values[0]["percentage"]) == ("begin", 3)
        assert values[-2]["percentage"] in (41, 42) and len(shown) == 3


async def test_completions_make_no_bar() -> None:
    async with desk("x = <|>\n", capabilities=PROGRESS, model=ScriptedModel([["1"]])) as client:
        assert await client.ask(URI, client.source.at)[1]
        await client.command("midstream.status")
        assert client.came("window/workDoneProgress/create") == []


async def test_a_client_that_refuses_the_bar_is_left_alone() -> None:
    async with desk(FUNCTION, capabilities=PROGRESS, model=ScriptedModel([[TWO]])) as client:
        client.serves["window/workDoneProgress/create"] = refuse
        assert (await client.command("midstream.edit", EDIT))["outcome"] == "done"
        assert bar(client) == []


def refuse(params: Any) -> Any:
    raise Refused(-32601)


async def test_B56_an_answer_about_a_bar_that_nobody_waits_for_any_more_is_dropped() -> None:
    async with desk(FUNCTION, capabilities=PROGRESS) as client:
        held = client.serves.pop("window/workDoneProgress/create")
        await client.command("midstream.edit", {**EDIT, "wait": False})
        await client.call()
        asked = await client.message("window/workDoneProgress/create")
        await client.request("shutdown")
        client.reply(asked, held(asked))
        client.notify("exit")
        await client.door.ended.wait()
        assert bar(client) == []


async def test_a_client_with_neither_hears_nothing() -> None:
    async with desk(FUNCTION, model=ScriptedModel([[TWO]])) as client:
        assert (await client.command("midstream.edit", EDIT))["outcome"] == "done"
        sent = {message.get("method") for message in client.messages}
        assert sent == {"workspace/applyEdit"}


async def test_an_edit_works_and_then_all_is_ready() -> None:
    async with desk(FUNCTION, capabilities=ANNOUNCED, model=ScriptedModel([[TWO]])) as client:
        await client.command("midstream.edit", EDIT)
        await client.message("midstream/ended")
        states = [params["state"] for params in client.came("midstream/status")]
        assert states[0] == "working" and client.came("midstream/status")[0]["generation"]["id"] == "e1"
        assert (await client.command("midstream.status"))["state"] == "ready"


async def test_statuses_of_one_generation_are_sparse_and_the_last_one_comes() -> None:
    async with desk(capabilities=ANNOUNCED) as client:
        for percent in range(100):
            client.models.tell(Status("downloading", percent=percent))
        shown = await client.message("midstream/status", 2)
        assert shown["params"]["percent"] == 99
        assert [params["percent"] for params in client.came("midstream/status")] == [0, 99]
