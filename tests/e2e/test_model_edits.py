"""Small edits by the real embedded model, from the command line and from an editor."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.real_model import host_cache, midstream
from tests.support.lsp_process import running_server

pytestmark = pytest.mark.model

cache = pytest.fixture(scope="module", autouse=True)(host_cache)

BAG = """\
import json


class Bag:
    def __init__(self):
        self.things = []

    def put(self, thing):
        self.things.append(thing)

    def total_price(self, discount):
        x = 0
        for thing in self.things:
            x = x + thing.price
        return x * (1 - discount)


def last(items):
    return items[len(items)]
"""


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    file = tmp_path / "bag.py"
    file.write_text(BAG)
    return file


def place(file: Path, text: str) -> str:
    return f"{file}:{BAG[: BAG.index(text)].count(chr(10)) + 1}"


def functions(text: str) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}


def names(function: ast.FunctionDef) -> set[str]:
    return {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}


def test_a_variable_is_renamed_in_its_function_alone(bag: Path) -> None:
    said = midstream("edit", place(bag, "x = 0"), "Rename the variable x to total", "--json")
    result = json.loads(said)
    changed = functions(result["text"])
    assert result["outcome"] == "done"
    assert "total" in names(changed["total_price"]) and "x" not in names(changed["total_price"])
    before, after = BAG.split("        x = 0")[0], BAG[BAG.index("\n\n\ndef last") :]
    assert result["text"].startswith(before) and result["text"].endswith(after)
    assert bag.read_text() == BAG


@pytest.mark.parametrize("name", ["put", "total_price"])
def test_a_docstring_is_written_into_the_file(bag: Path, name: str) -> None:
    midstream("edit", place(bag, f"def {name}"), "Add a docstring", "--write")
    text = bag.read_text()
    assert ast.get_docstring(functions(text)[name])
    assert [*functions(text)] == [*functions(BAG)]


def test_a_diff_is_shown_and_nothing_is_written(bag: Path) -> None:
    said = midstream("edit", place(bag, "x = 0"), "Rename the variable x to total", "--diff")
    assert said.startswith("--- a/bag.py\n+++ b/bag.py\n@@ ")
    assert "-        x = 0\n+        total = 0\n" in said
    assert bag.read_text() == BAG


def test_the_same_code_again_is_called_unchanged(bag: Path) -> None:
    said = midstream("edit", place(bag, "self.things.append"), "Return exactly the same code", "--json")
    assert json.loads(said)["outcome"] == "unchanged"
    assert json.loads(said)["text"] == BAG


async def test_an_off_by_one_is_fixed_from_its_diagnostic() -> None:
    uri = "file:///w/bag.py"
    async with running_server() as client:
        await client.initialize()
        client.open(uri, BAG)
        at = BAG.index("items[len")
        where = client.range(uri, at, at + len("items[len(items)]"))
        problem = {
            "range": where,
            "severity": 1,
            "source": "test",
            "message": "IndexError: list index out of range",
        }
        actions = await client.request(
            "textDocument/codeAction",
            {
                "textDocument": {"uri": uri},
                "range": where,
                "context": {"diagnostics": [problem], "triggerKind": 1, "only": ["quickfix"]},
            },
        )
        command = actions[0]["command"]
        arguments = [{**command["arguments"][0], "wait": True}]
        _, running = client.send(
            "workspace/executeCommand", {"command": command["command"], "arguments": arguments}
        )
        result = await running
        text = client.texts[uri][1]
        await client.quit()
    assert result["outcome"] == "done"
    scope: dict[str, Any] = {}
    exec(compile(text, "bag.py", "exec"), scope)
    assert scope["last"]([1, 2, 3]) == 3
    assert text.startswith(BAG[: BAG.index("def last")])
