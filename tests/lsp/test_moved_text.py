"""An edit that meets a key on its way to the client, through the whole server."""

from typing import Any

import pytest

from tests.lsp.desk import URI, Desk, desk
from tests.lsp.test_requests import mirror
from tests.support.scripted_model import ScriptedModel

SOURCE = "<[red]>\nblue\n"


async def edited(client: Desk) -> dict[str, Any]:
    """Let the model replace the first line, while the user breaks it just before the edit arrives."""
    apply = client.serves["workspace/applyEdit"]

    def late(params: Any) -> Any:
        client.serves["workspace/applyEdit"] = apply
        client.replace(URI, 0, 0, "\n")
        return apply(params)

    client.serves["workspace/applyEdit"] = late
    span = client.source.span
    where = client.range(URI, span.start, span.end)
    argument = {"uri": URI, "range": where, "instruction": "shout", "wait": True}
    result: dict[str, Any] = await client.command("midstream.edit", argument)
    await client.command("midstream.status")
    return result


@pytest.mark.parametrize(
    "choice, outcome, text",
    [("rebase", "done", "\nGREEN\nblue\n"), ("cancel", "typed_over", "\nred\nblue\n")],
)
async def test_B37_a_client_that_checks_versions_refuses_the_edit(
    choice: str, outcome: str, text: str
) -> None:
    options = {"edit": {"onForeignChange": choice}}
    async with desk(SOURCE, options=options, model=ScriptedModel([["GREEN"]])) as client:
        result = await edited(client)
        assert (result["outcome"], client.text(URI)) == (outcome, text)
        assert mirror(client) == text


async def test_B37_a_client_blind_to_versions_gets_one_edit_back_and_the_user_is_told() -> None:
    blind = {"workspace": {"workspaceEdit": {"documentChanges": False}}}
    async with desk(SOURCE, capabilities=blind, model=ScriptedModel([["GREEN"]])) as client:
        result = await edited(client)
        assert result["outcome"] == "typed_over"
        assert client.text(URI) == mirror(client) == "\nred\nblue\n"
        assert len(client.edits) == 2, "the misplaced edit and one that takes it back"
        [told] = client.told
        assert told.startswith("An edit met a key that you typed at the same moment")
