"""docs/protocol.md, the server and the VS Code extension say the same."""

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from lsp_server.engine.ports import Outcome, Progress, Result, State, Status, Task
from lsp_server.lsp import protocol

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/protocol.md").read_text()
TYPESCRIPT = (ROOT / "editors/vscode/src/protocol.ts").read_text()
MESSAGES = {protocol.STATUS, protocol.ENDED, protocol.APPLY_PATCH}
PUBLIC = set(protocol.COMMANDS) - {protocol.ACCEPTED}


def wire(kind: type) -> set[str]:
    """The names on the wire of a value's fields."""
    names = set()
    for field in fields(kind):
        head, *tail = field.name.split("_")
        names.add(head + "".join(part.title() for part in tail))
    return names


def interface(name: str) -> set[str]:
    """The fields of an interface of the extension."""
    found = re.search(rf"export interface {name} {{\n(.*?)^}}", TYPESCRIPT, re.DOTALL | re.MULTILINE)
    assert found, name
    return set(re.findall(r"^  (\w+)\??:", found[1], re.MULTILINE))


def union(name: str) -> set[str]:
    found = re.search(rf"export type {name} =(.*?);", TYPESCRIPT, re.DOTALL)
    assert found, name
    return set(re.findall(r'"(\w+)"', found[1]))


def section(title: str) -> str:
    """The text under a heading that names `title`."""
    found = re.search(rf"^### [^\n]*`{re.escape(title)}`.*?(?=^##)", PAGE + "\n##", re.DOTALL | re.MULTILINE)
    assert found, title
    return found[0]


def test_the_three_name_the_same_messages_and_commands() -> None:
    assert set(re.findall(r"midstream/\w+", PAGE)) == MESSAGES
    assert set(re.findall(r'"(midstream/\w+)"', TYPESCRIPT)) == MESSAGES
    headings = "".join(re.findall(r"^### (.*)$", PAGE, re.MULTILINE))
    assert set(re.findall(r"`(midstream\.\w+)`", headings)) == PUBLIC
    assert set(re.findall(r'"(midstream\.\w+)"[?]?:', TYPESCRIPT)) == PUBLIC


@pytest.mark.parametrize("name, kind", [("Status", Status), ("Result", Result), ("Progress", Progress)])
def test_the_extension_has_every_field(name: str, kind: type) -> None:
    assert interface(name) == wire(kind)


@pytest.mark.parametrize("name, kind", [("Outcome", Outcome), ("State", State), ("Task", Task)])
def test_the_extension_has_every_word(name: str, kind: object) -> None:
    assert union(name) == set(get_args(kind))


def test_the_page_has_every_word_and_field() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", section("midstream/ended"), re.MULTILINE)) == set(
        get_args(Outcome)
    )
    rows = set(re.findall(r"^\| `(\w+)` \|", section("midstream/status"), re.MULTILINE))
    assert rows == wire(Status)
    for words, title in ((State, "midstream/status"), (Task, "midstream/status")):
        assert all(f"`{word}`" in section(title) for word in get_args(words))


def examples(title: str) -> list[dict[str, object]]:
    return [json.loads(text) for text in re.findall(r"```json\n(.*?)```", section(title), re.DOTALL)]


def test_the_examples_are_messages_as_the_server_writes_them() -> None:
    for example in examples("midstream/status"):
        assert example.keys() <= wire(Status)
    [ended] = examples("midstream/ended")
    assert wire(Result) - ended.keys() == {"message"} and ended.keys() <= wire(Result)
    patch, answer = examples("midstream/applyPatch")
    assert patch.keys() == interface("Patch") and answer.keys() == interface("Applied") == {"applied"}


def test_what_a_client_announces_is_read_strictly() -> None:
    assert (
        protocol.announced(None) == protocol.announced({"midstream": {"status": 1}}) == protocol.Announced()
    )
    said = protocol.announced({"midstream": {"applyPatch": True, "status": True, "other": True}})
    assert said.apply_patch and said.status and not said.ended
    flags = set(re.findall(r"^\| `(\w+)` \| ", PAGE.partition("## Server to client")[0], re.MULTILINE))
    assert flags == wire(protocol.Announced)


def test_absent_fields_are_left_out() -> None:
    assert protocol.status_message(Status("ready")) == {"state": "ready"}
    message = protocol.status_message(Status("working", generation=Progress("e1", "u", "edit")))
    assert message["generation"] == {"id": "e1", "uri": "u", "kind": "edit"}
