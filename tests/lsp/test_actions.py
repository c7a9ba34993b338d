"""The menu: what is offered where, and what an entry does when it is chosen."""

from typing import Any

import pytest

from tests.lsp.desk import URI, Desk, desk
from tests.support.scripted_model import ScriptedModel

FUNCTION = "def parse_header(line):\n    return line.split(<|>':')\n"
DISABLED = {"textDocument": {"codeAction": {"disabledSupport": True}}}
INVOKED, AUTOMATIC = 1, 2


async def offered(client: Desk, *, kind: int = INVOKED, diagnostics: Any = (), only: Any = None) -> list[Any]:
    span = client.source.span
    context = {"diagnostics": list(diagnostics), "triggerKind": kind, **({"only": only} if only else {})}
    return (
        await client.request(
            "textDocument/codeAction",
            {
                "textDocument": {"uri": URI},
                "range": client.range(URI, span.start, span.end),
                "context": context,
            },
        )
        or []
    )


async def choose(client: Desk, action: Any) -> Any:
    """Run an entry's command and wait for its edit."""
    [argument] = action["command"]["arguments"]
    return await client.command(action["command"]["command"], {**argument, "wait": True})


async def test_titles_name_the_scope() -> None:
    async with desk(FUNCTION) as client:
        titles = {action["title"]: action["kind"] for action in await offered(client)}
        assert titles == {
            "Rewrite `parse_header` for clarity": "refactor.rewrite",
            "Add types to `parse_header`": "refactor.rewrite",
            "Document `parse_header`": "refactor.rewrite",
            "Handle errors in `parse_header`": "refactor.rewrite",
            "Simplify the conditionals of `parse_header`": "refactor.rewrite",
            "Make `parse_header` async": "refactor.rewrite",
            "Write tests for `parse_header`": "source",
        }


NAMES = {
    "a = <[1 +]> 2\n": "the selection",
    "a = <|>1\n": "this statement",
    "def a():\n    pass\n\n<|>\n\ndef b():\n    pass\n": "this place",
}


@pytest.mark.parametrize("source", NAMES)
async def test_a_scope_without_a_name_has_a_description(source: str) -> None:
    async with desk(source) as client:
        assert f"Add types to {NAMES[source]}" in [action["title"] for action in await offered(client)]


async def test_only_what_the_client_asks_for() -> None:
    async with desk(FUNCTION) as client:
        for only, count in (
            ("refactor", 6),
            ("refactor.rewrite", 6),
            ("source", 1),
            ("quickfix", 0),
            ("", 7),
        ):
            assert len(await offered(client, only=[only])) == count, only


async def test_a_chosen_entry_edits_the_scope() -> None:
    new = "def parse_header(line: str) -> list[str]:\n    return line.split(':')\n"
    async with desk(FUNCTION, model=ScriptedModel([[new]])) as client:
        [add_types] = [each for each in await offered(client) if each["title"].startswith("Add types")]
        assert (await choose(client, add_types))["outcome"] == "done"
        assert client.text(URI) == new
        assert "type annotations" in client.model.calls[0].text


async def test_the_users_own_actions_by_language_with_their_model() -> None:
    own = [
        {"title": "Log {name}", "instruction": "Log the calls.", "languages": ["python"], "model": "deep"},
        {"title": "Only in Go", "instruction": "x", "languages": ["go"]},
    ]
    async with desk(FUNCTION, options={"edit": {"actions": own}}, model=ScriptedModel([["pass"]])) as client:
        titles = [action["title"] for action in await offered(client)]
        assert "Log `parse_header`" in titles and "Only in Go" not in titles
        [log] = [each for each in await offered(client) if each["title"].startswith("Log")]
        await choose(client, log)
        assert client.models.asked_for == ["deep"]
        assert "Log the calls." in client.model.calls[0].text


def problem(client: Desk, at: int) -> dict[str, Any]:
    return {
        "range": client.range(URI, at, at + 4),
        "message": "list index\nout of range",
        "source": "linter",
        "relatedInformation": [
            {
                "location": {"uri": URI, "range": client.range(URI, 0, 3)},
                "message": "the header may have no colon",
            }
        ],
    }


async def test_an_automatic_request_gets_quick_fixes_and_directives_only() -> None:
    source = "# midstream: make this iterative\ndef f(n):\n    return <|>f(n - 1)\n"
    async with desk(source) as client:
        where = client.source.text.index("f(n - 1)")
        actions = await offered(client, kind=AUTOMATIC, diagnostics=[problem(client, where)])
        assert [action["kind"] for action in actions] == ["quickfix"]
        assert await offered(client, kind=AUTOMATIC) == []
    async with desk(source.replace("<|>", "").replace("iter", "iter<|>")) as client:
        [directive] = await offered(client, kind=AUTOMATIC)
        assert directive["title"] == "Do: make this iterative" and directive["isPreferred"]


async def test_a_quick_fix_takes_the_diagnostic_with_what_it_points_to_into_the_prompt() -> None:
    mended = "def parse_header(line):\n    return line.partition(':')\n"
    async with desk(FUNCTION, model=ScriptedModel([[mended]])) as client:
        diagnostic = problem(client, client.source.at)
        fixes = await offered(client, diagnostics=[diagnostic], only=["quickfix"])
        [fix] = fixes
        assert fix["title"] == "Fix with Midstream: list index out of range"
        assert fix["diagnostics"][0]["message"] == diagnostic["message"]
        await choose(client, fix)
        sent = client.model.calls[0].text
        assert "out of range" in sent and "may have no colon" in sent
        assert client.text(URI) == mended
        await client.command("midstream.accept")
        assert client.models.taken == [("scripted", "edit", "diagnostic")]


async def test_a_diagnostic_elsewhere_is_not_offered() -> None:
    async with desk(FUNCTION + "\n\nx = [][1]\n") as client:
        elsewhere = problem(client, client.source.text.index("[][1]"))
        assert await offered(client, diagnostics=[elsewhere], only=["quickfix"]) == []


async def test_a_directive_does_what_it_says_and_its_line_goes_away() -> None:
    source = "x = 1\n\n# midstream: return 2<|>\n@cache\ndef f():\n    return 1\n"
    async with desk(source, model=ScriptedModel([["def f():\n    return 2\n"]])) as client:
        [directive] = await offered(client, kind=AUTOMATIC)
        assert directive["title"] == "Do: return 2"
        assert (await choose(client, directive))["outcome"] == "done"
        assert client.text(URI) == "x = 1\n\n@cache\ndef f():\n    return 2\n"
        assert "midstream:" not in client.model.calls[0].text


async def test_a_directive_after_an_interruption_offers_the_redirect() -> None:
    async with desk("def f():\n    a = 1<|>\n    b = 2\n    c = 3\n    d = 4\n") as client:
        at = client.range(URI, 0, 0)["start"]
        await client.command("midstream.edit", {"uri": URI, "position": at, "instruction": "return 9"})
        call = await client.call()
        call.say("def f():\n", "    a = 9\n", "    b = 2\n", "    c = 3\n", "    d = 4\n")
        await client.message("workspace/applyEdit")
        client.replace(URI, 0, 0, "# midstream: return 2\n")
        client.source = type(client.source)(client.text(URI), cursor=5)
        [directive] = await offered(client, kind=AUTOMATIC)
        assert call.closed and directive["command"]["command"] == "midstream.redirect"
        [argument] = directive["command"]["arguments"]
        _, answer = client.start("midstream.redirect", {**argument, "wait": True})
        again = await client.call(1)
        again.finish("def f():\n    return 2\n")
        assert (await answer)["outcome"] == "done"
        assert client.text(URI) == "def f():\n    return 2\n"
        assert "a = 9" in again.text


async def test_entries_that_cannot_work_are_disabled_with_a_reason_or_absent() -> None:
    options = {"context": {"ignore": ["a.py"]}}
    async with desk(FUNCTION, options=options, capabilities=DISABLED) as client:
        actions = await offered(client)
        assert actions and all("a.py" in action["disabled"]["reason"] for action in actions)
        assert all("command" not in action for action in actions)
    async with desk(FUNCTION, options=options) as client:
        assert await offered(client) == []


async def test_a_file_that_is_not_open_has_no_menu() -> None:
    async with desk() as client:
        client.texts[URI], client.source = (1, "x"), type(client.source)("x", cursor=0)
        assert await offered(client) == []
