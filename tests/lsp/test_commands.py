"""Each command: what it takes, what it answers, and when."""

import asyncio
from typing import Any

import pytest

from lsp_server.core.prompt import Chat
from tests.lsp.desk import ANNOUNCED, URI, Desk, desk
from tests.support.scripted_model import ScriptedModel

FUNCTION = "def f():\n    return 1<|>\n"
AT = {"line": 1, "character": 4}
EDIT: dict[str, Any] = {"uri": URI, "position": AT, "instruction": "return 2"}
TWO = "def f():\n    return 2\n"

WRONG: dict[str, list[Any]] = {
    "midstream.edit": [
        {},
        "text",
        {"uri": 1, "position": AT, "instruction": "x"},
        {"uri": URI, "instruction": "x"},
        {"uri": URI, "position": {"line": "a"}, "instruction": "x"},
        {"uri": URI, "range": {"start": AT}, "instruction": "x"},
        {"uri": URI, "position": AT},
        {"uri": "file:///w/closed.py", "position": AT, "instruction": "x"},
    ],
    "midstream.redirect": [{}, {"instruction": 5}],
    "midstream.stop": [7, {"id": 7}],
    "midstream.pause": [{"minutes": "long"}, {"minutes": True}],
    "midstream.explain": [{}, {"uri": URI}, {"uri": "file:///w/closed.py", "position": AT}],
    "midstream.showPrompt": [{}, {"uri": URI}],
}


@pytest.mark.parametrize("name", WRONG)
async def test_a_wrong_argument_is_an_error_answer_with_a_sentence(name: str) -> None:
    async with desk(FUNCTION) as client:
        for argument in WRONG[name]:
            with pytest.raises(RuntimeError, match=r"^-32602: .+\w.*\."):
                await client.command(name, argument)
        assert client.model.calls == [] and client.told == []


@pytest.mark.parametrize("name", ["stop", "revert", "accept", "escalate", "redirect"])
@pytest.mark.parametrize("target", [{}, {"id": "e99"}, {"uri": URI}])
async def test_an_unknown_target_is_an_error_answer_with_a_sentence(
    name: str, target: dict[str, str]
) -> None:
    async with desk(FUNCTION) as client:
        with pytest.raises(RuntimeError, match=r"There is no edit here"):
            await client.command(f"midstream.{name}", {"instruction": "x", **target})


async def test_an_empty_instruction_an_unknown_model_and_an_unknown_command_are_refused() -> None:
    async with desk(FUNCTION) as client:
        for argument, words in (
            ({**EDIT, "instruction": "  "}, "instruction is empty"),
            ({**EDIT, "model": "nobody"}, "no model 'nobody'"),
        ):
            with pytest.raises(RuntimeError, match=words):
                await client.command("midstream.edit", argument)
        with pytest.raises(RuntimeError, match=r"no command 'midstream\.dance'"):
            await client.command("midstream.dance")


async def test_an_edit_answers_before_the_model_was_asked() -> None:
    async with desk(FUNCTION, capabilities=ANNOUNCED) as client:
        assert await client.command("midstream.edit", EDIT) == {"id": "e1"}
        (await client.call()).finish(TWO)
        ended = (await client.message("midstream/ended"))["params"]
        assert (ended["id"], ended["uri"], ended["outcome"]) == ("e1", URI, "done")
        assert client.text(URI) == TWO


async def test_an_edit_that_waits_answers_with_its_result() -> None:
    async with desk(FUNCTION, model=ScriptedModel([[TWO]])) as client:
        result = await client.command("midstream.edit", {**EDIT, "wait": True})
        assert result["outcome"] == "done" and result["edits"] == 1
        assert result.keys() <= {
            "id", "uri", "outcome", "edits", "charactersAdded", "charactersDeleted", "outputTokens",
            "firstTokenMs", "totalMs",
        }  # fmt: skip
        assert client.text(URI) == TWO


async def test_cancelling_the_command_that_waits_stops_the_edit() -> None:
    async with desk(FUNCTION, capabilities=ANNOUNCED) as client:
        number, answer = client.start("midstream.edit", {**EDIT, "wait": True})
        call = await client.call()
        call.say("def f():\n")
        client.notify("$/cancelRequest", {"id": number})
        with pytest.raises(RuntimeError, match="-32800"):
            await answer
        ended = await client.message("midstream/ended")
        assert ended["params"]["outcome"] == "stopped"
        assert call.closed and client.text(URI) == "def f():\n    return 1\n"


async def test_a_selection_is_edited_and_a_named_model_is_asked() -> None:
    async with desk("a = 1\n<[b = 2]>\n", model=ScriptedModel([["b = 3"]])) as client:
        span = client.source.span
        argument = {
            "uri": URI,
            "range": client.range(URI, span.start, span.end),
            "instruction": "3",
            "model": "deep",
            "wait": True,
        }
        assert (await client.command("midstream.edit", argument))["outcome"] == "done"
        assert client.text(URI) == "a = 1\nb = 3\n"
        assert client.models.asked_for == ["deep"]


async def test_redirect_stop_revert_and_accept_answer_results() -> None:
    async with desk(FUNCTION) as client:
        await client.command("midstream.edit", EDIT)
        call = await client.call()
        call.say("def f():\n", "    return 'A'\n")
        _, redirected = client.start("midstream.redirect", {"instruction": "return 3", "wait": True})
        (await client.call(1)).finish("def f():\n    return 3\n")
        assert (await redirected)["id"] == "e2"
        assert call.closed and client.text(URI) == "def f():\n    return 3\n"
        assert (await client.command("midstream.stop", {"id": "e2"}))["outcome"] == "done"
        reverted = await client.command("midstream.revert", {"uri": URI})
        assert reverted["id"] == "e2" and client.text(URI) == "def f():\n    return 1\n"
        with pytest.raises(RuntimeError, match="There is no edit here"):
            await client.command("midstream.revert")


async def test_accept_leaves_nothing_to_revert() -> None:
    async with desk(FUNCTION, model=ScriptedModel([[TWO]])) as client:
        await client.command("midstream.edit", {**EDIT, "wait": True})
        assert (await client.command("midstream.accept"))["outcome"] == "done"
        with pytest.raises(RuntimeError, match="There is no edit here"):
            await client.command("midstream.revert")
        assert client.text(URI) == TWO
        assert client.models.taken == [("scripted", "edit", "request")]


async def test_an_edit_that_changed_nothing_is_not_counted_as_accepted() -> None:
    async with desk(FUNCTION, model=ScriptedModel([[FUNCTION.replace("<|>", "")]])) as client:
        await client.command("midstream.edit", {**EDIT, "wait": True})
        assert (await client.command("midstream.accept"))["outcome"] == "unchanged"
        assert client.models.taken == []


async def test_escalate_runs_the_last_edit_on_the_deep_tier() -> None:
    async with desk(FUNCTION, model=ScriptedModel([[TWO], ["def f():\n    return 3\n"]])) as client:
        await client.command("midstream.edit", {**EDIT, "wait": True})
        assert (await client.command("midstream.escalate", {"wait": True}))["outcome"] == "done"
        assert client.models.asked_for == ["edit", "escalate"]
        assert "return 2" in client.model.calls[1].text
        await client.command("midstream.revert")
        assert client.text(URI) == client.source.text


async def test_a_completion_is_stopped_by_the_id_in_its_status() -> None:
    announced = {"experimental": {"midstream": {"status": True, "retrigger": True}}}
    async with desk("def f():\n    <|>\n", capabilities=announced) as client:
        _, answer = client.ask(URI, client.source.at)
        call = await client.call()
        call.say("a = 1\n", "    b = 2\n", "    c = 3\n")
        assert await answer
        status = await working(client)
        stopped = await client.command("midstream.stop", {"id": status["generation"]["id"]})
        assert stopped["outcome"] == "stopped" and call.closed


async def working(client: Desk) -> Any:
    """The first status of a running generation."""
    for number in range(1, 20):
        params = (await client.message("midstream/status", number))["params"]
        if params["state"] == "working":
            return params
    raise AssertionError("nothing works")


@pytest.mark.parametrize("shows", [True, False])
async def test_explain_answers_markdown_and_shows_it_where_the_client_can(shows: bool) -> None:
    window = {"window": {"showDocument": {"support": shows}}}
    async with desk(FUNCTION, capabilities=window, model=ScriptedModel([["`f` gives", " 1."]])) as client:
        answer = await client.command("midstream.explain", {"uri": URI, "position": AT})
        assert answer == {"markdown": "`f` gives 1."}
        shown = client.came("window/showDocument")
        assert len(shown) == shows
        assert all(each["uri"].endswith(".md") for each in shown)


async def test_explain_is_cancelled_with_its_request() -> None:
    async with desk(FUNCTION) as client:
        number, answer = client.start("midstream.explain", {"uri": URI, "position": AT})
        call = await client.call()
        client.notify("$/cancelRequest", {"id": number})
        with pytest.raises(RuntimeError, match="-32800"):
            await answer
        await client.command("midstream.status")
        assert call.closed


async def test_pause_is_a_switch_and_a_timer() -> None:
    async with desk("x = <|>\n", capabilities=ANNOUNCED, model=ScriptedModel([["1"]])) as client:
        for argument, state in (({}, "paused"), ({}, "ready"), ({"minutes": 30}, "paused"), ([], "ready")):
            assert (await client.command("midstream.pause", argument))["state"] == state
        await client.command("midstream.pause", {"minutes": 30})
        assert await client.ask(URI, client.source.at, kind=2)[1] is None
        assert (await client.command("midstream.status"))["state"] == "paused"
        assert (await client.command("midstream.pause", {"minutes": 0}))["state"] == "ready"
        assert await client.ask(URI, client.source.at, kind=2)[1] is not None
        states = [params["state"] for params in client.came("midstream/status")]
        assert states.count("paused") == 3


async def test_usage_and_doctor_answer_data_and_take_luas_empty_list() -> None:
    async with desk(FUNCTION) as client:
        assert await client.command("midstream.usage", []) == {"today": None}
        assert (await client.command("midstream.doctor"))["ok"] is True


async def test_show_prompt_shows_what_would_be_sent_and_the_scope() -> None:
    async with desk(FUNCTION) as client:
        shown = await client.command(
            "midstream.showPrompt", {"uri": URI, "position": AT, "instruction": "x y"}
        )
        assert "x y" in shown["wish"] and "return 1" in shown["request"]
        scope = shown["scope"]
        assert (scope["kind"], scope["name"]) == ("function", "f")
        assert scope["range"]["start"] == {"line": 0, "character": 0}
        completion = await client.command("midstream.showPrompt", {"uri": URI, "position": AT})
        assert completion["scope"] == scope and "return" in completion["context"] + completion["request"]
        assert client.model.calls == []


async def test_prepare_answers_at_once_and_the_code_is_read_ahead() -> None:
    async with desk(FUNCTION) as client:
        client.model.warmed.clear()
        assert await client.command("midstream.prepare", {"uri": URI, "position": AT}) is None
        [ahead] = [request for request in client.model.warmed if request.task == "edit"]
        assert isinstance(ahead.prompt, Chat) and "return 1" in ahead.prompt.request


async def test_what_was_accepted_reaches_the_meter_once() -> None:
    async with desk("x = <|>\n", model=ScriptedModel([["1"]])) as client:
        answer = await client.ask(URI, client.source.at)[1]
        assert await client.accept(answer) == "x = 1\n"
        await client.command("midstream.accepted", "c1")
        await client.command("midstream.accepted")
        assert client.models.taken == [("scripted", "complete", "request")]


async def test_two_edits_that_wait_are_answered_each_by_its_own() -> None:
    other = "file:///w/b.py"
    async with desk(FUNCTION) as client:
        client.open(other, "def g():\n    return 1\n")
        _, first = client.start("midstream.edit", {**EDIT, "wait": True})
        _, second = client.start("midstream.edit", {**EDIT, "uri": other, "wait": True})
        (await client.call(1)).finish("def g():\n    return 2\n")
        assert (await second)["uri"] == other
        assert not first.done()
        (await client.call(0)).finish(TWO)
        assert (await asyncio.wait_for(first, 5))["uri"] == URI
