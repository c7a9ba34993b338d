"""Settings as clients bring them: at the start, asked for, and pushed."""

from pathlib import Path
from typing import Any

import pytest

from tests.lsp.desk import URI, desk
from tests.support.lsp_client import Refused
from tests.support.scripted_model import ScriptedModel

ASKS = {"workspace": {"configuration": True}}
EVIL = {"models": {"local": {"protocol": "responses-ws", "url": "wss://evil.example", "model": "x"}}}


async def test_the_workspace_is_asked_and_what_it_says_counts() -> None:
    section = {"complete": {"languages": ["!python"], "debounce": 0}}
    async with desk("x = <|>\n", capabilities=ASKS, configuration=section) as client:
        [asked] = (await client.message("workspace/configuration"))["params"]["items"]
        assert asked == {"section": "midstream"}
        await client.command("midstream.status")
        assert client.models.settings.complete.languages == ("!python",)
        assert await client.ask(URI, client.source.at)[1] is None
        assert client.model.calls == []


async def test_models_budget_and_checks_of_a_workspace_are_not_taken_and_the_user_is_told() -> None:
    section = {**EVIL, "budget": {"perDay": {"money": 100}}, "checks": {"lint": "rm -rf /"}}
    async with desk(capabilities=ASKS, configuration=section) as client:
        told = (await client.message("window/showMessage"))["params"]["message"]
        assert all(group in told for group in ("models", "budget", "checks"))
        settings = client.models.settings
        assert settings.models["local"].protocol == "local"
        assert "evil" not in repr(settings) and "rm -rf" not in repr(settings)


async def test_a_client_that_does_not_know_the_question_is_fine() -> None:
    async with desk("x = <|>\n", capabilities=ASKS, model=ScriptedModel([["1"]])) as client:

        def refuse(params: Any) -> Any:
            raise Refused(-32601)

        client.serves["workspace/configuration"] = refuse
        client.notify("workspace/didChangeConfiguration", {"settings": None})
        await client.message("workspace/configuration", 2)
        assert await client.ask(URI, client.source.at)[1]
        assert client.told == []


@pytest.mark.parametrize("nothing", [None, [], {}])
async def test_a_changed_configuration_is_asked_for_again_and_nothing_is_the_default(nothing: Any) -> None:
    async with desk(capabilities=ASKS, configuration={"complete": {"maxTokens": 7}}) as client:
        await client.message("workspace/configuration")
        await client.command("midstream.status")
        assert client.models.settings.complete.max_tokens == 7
        client.configuration = nothing
        client.notify("workspace/didChangeConfiguration", {"settings": []})
        await client.message("workspace/configuration", 2)
        await client.command("midstream.status")
        assert client.models.settings.complete.max_tokens != 7
        assert client.told == []


@pytest.mark.parametrize(
    "push", [{"midstream": {"complete": {"maxTokens": 9}}}, {"complete": {"maxTokens": 9}}]
)
async def test_a_client_may_push_its_settings(push: Any) -> None:
    async with desk() as client:
        client.notify("workspace/didChangeConfiguration", {"settings": push})
        await client.command("midstream.status")
        assert client.models.settings.complete.max_tokens == 9
        client.notify("workspace/didChangeConfiguration", {"settings": {"midstream": []}})
        await client.command("midstream.status")
        assert client.models.settings.complete.max_tokens != 9 and client.told == []


async def test_a_push_for_other_servers_says_nothing_about_us() -> None:
    async with desk(options={"complete": {"maxTokens": 5}}) as client:
        client.notify(
            "workspace/didChangeConfiguration", {"settings": {"pylsp": {"plugins": {}}, "gopls": {}}}
        )
        client.notify("workspace/didChangeConfiguration", {"settings": None})
        await client.command("midstream.status")
        assert client.models.settings.complete.max_tokens == 5
        assert client.told == [] and client.came("workspace/configuration") == []


async def test_what_is_wrong_is_said_in_one_message_once_and_stops_nothing() -> None:
    options = {"compelte": {}, "edit": {"delivery": "fast"}, "complete": {"debounce": 0}}
    async with desk("x = <|>\n", options=options, model=ScriptedModel([["1"]])) as client:
        told = (await client.message("window/showMessage"))["params"]["message"]
        assert "compelte" in told and "delivery" in told
        client.notify("workspace/didChangeConfiguration", {"settings": {"midstream": {}}})
        assert await client.ask(URI, client.source.at)[1]
        assert len(client.told) == 1


async def test_an_untrusted_workspace_sends_nothing() -> None:
    async with desk("x = <|>\n", options={"trusted": False}) as client:
        assert await client.ask(URI, client.source.at)[1] is None
        where = client.range(URI, 0, 0)["start"]
        with pytest.raises(RuntimeError, match="not trusted"):
            await client.command("midstream.edit", {"uri": URI, "position": where, "instruction": "x"})
        with pytest.raises(RuntimeError, match="not trusted"):
            await client.command("midstream.explain", {"uri": URI, "position": where})
        assert client.model.calls == [] and len(client.told) == 1
        assert "trust" in (await client.command("midstream.status"))["message"]


async def test_a_workspace_cannot_declare_itself_trusted() -> None:
    async with desk(
        "x = <|>\n", options={"trusted": False}, capabilities=ASKS, configuration={"trusted": True}
    ) as client:
        await client.message("workspace/configuration")
        assert await client.ask(URI, client.source.at)[1] is None
        assert client.model.calls == []


async def test_the_users_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[complete]\nmaxTokens = 11\n")
    async with desk(environment={"MIDSTREAM_CONFIG": str(file)}) as client:
        await client.command("midstream.status")
        assert client.models.settings.complete.max_tokens == 11


@pytest.mark.parametrize(
    "capabilities", [{}, {"workspace": {"didChangeConfiguration": {"dynamicRegistration": False}}}]
)
async def test_B130_nothing_is_registered_that_the_client_did_not_offer(capabilities: Any) -> None:
    async with desk("x = <|>\n", capabilities=capabilities, model=ScriptedModel([["1"]])) as client:
        assert await client.ask(URI, client.source.at)[1]
        sent = {message.get("method") for message in client.messages}
        assert "client/registerCapability" not in sent and sent == set()


async def test_B130_a_client_that_refuses_everything_that_it_is_asked_is_served() -> None:
    capabilities = {
        "workspace": {
            "configuration": True,
            "didChangeConfiguration": {"dynamicRegistration": True},
            "didChangeWatchedFiles": {"dynamicRegistration": True},
        },
        "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    }
    model = ScriptedModel([["1"], ["It is 1."]])
    async with desk("x = <|>\n", capabilities=capabilities, model=model) as client:

        def refuse(params: Any) -> Any:
            raise Refused(-32601)

        client.serves = dict.fromkeys(client.serves, refuse)
        assert await client.ask(URI, client.source.at)[1]
        where = client.range(URI, 0, 0)["start"]
        answer = await client.command("midstream.explain", {"uri": URI, "position": where})
        assert answer == {"markdown": "It is 1."} and client.told == []


async def test_set_trace_is_quiet() -> None:
    async with desk("x = <|>\n", model=ScriptedModel([["1"]])) as client:
        client.notify("$/setTrace", {"value": "verbose"})
        assert await client.ask(URI, client.source.at)[1]
        assert client.messages == []
