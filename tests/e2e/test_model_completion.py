"""Ghost text of the real embedded model, as a user sees it in an editor and on the command line."""

import ast
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.real_model import host_cache, midstream
from tests.support.lsp_process import LspProcess, running_server
from tests.support.marked import parse

pytestmark = pytest.mark.model

URI = "file:///w/cart.py"
CART = """\
class Cart:
    def __init__(self, owner, currency):
        self.owner = owner
        self.currency = currency
        self.items = []

    def add(self, name, price):
        self.items.append((name, price))

    def total(self):
        return sum(price for name, price in self<|>)
"""

cache = pytest.fixture(scope="module", autouse=True)(host_cache)


def accepted(client: LspProcess, uri: str, items: list[dict[str, Any]]) -> str:
    """The buffer after the first item was accepted, as the client applies it."""
    assert items, "the model offered nothing"
    text = client.texts[uri][1]
    lines = text.split("\n")
    start, end = (
        sum(len(line) + 1 for line in lines[: place["line"]]) + place["character"]
        for place in (items[0]["range"]["start"], items[0]["range"]["end"])
    )
    client.replace(uri, start, end, items[0]["insertText"])
    return client.texts[uri][1]


async def test_open_type_accept() -> None:
    async with running_server() as client:
        await client.initialize({"complete": {"debounce": 0}})
        marked = client.open(URI, CART)
        client.replace(URI, marked.at, marked.at, ".")
        reply = await client.ask(URI, marked.at + 1)[1]
        text = accepted(client, URI, reply["items"])
        await client.quit()
    assert re.search(r"in self\. ?items\)", text), text
    ast.parse(text)


def test_a_warm_keystroke_in_the_middle_of_a_line_reads_next_to_nothing(tmp_path: Path) -> None:
    marked = parse(CART)
    file = tmp_path / "cart.py"
    timings = []
    for typed in ("", ".", ".i", ".it"):
        text = marked.text[: marked.at] + typed + marked.text[marked.at :]
        file.write_text(text)
        line = text[: marked.at].count("\n") + 1
        column = len(text[: marked.at + len(typed)].rpartition("\n")[2]) + 1
        timings.append(json.loads(midstream("complete", f"{file}:{line}:{column}", "--json"))["timings"])
    assert timings[0]["promptTokensEvaluated"] + timings[0]["promptTokensCached"] > 50
    for warm in timings[1:]:
        assert warm["promptTokensEvaluated"] < 20
        assert {"hostStartMs", "prefillMs", "firstTokenMs", "totalMs"} <= set(warm)
        assert warm["totalMs"] >= warm["firstTokenMs"] >= warm["prefillMs"] >= 0


async def test_the_host_counts_what_typing_in_the_editor_costs() -> None:
    async with running_server() as client:
        await client.initialize({"complete": {"debounce": 0}})
        marked = client.open(URI, CART)
        await client.ask(URI, marked.at)[1]
        counts = [evaluated()]
        for at, key in enumerate(".it", marked.at):
            client.replace(URI, at, at, key)
            await client.ask(URI, at + 1)[1]
            counts.append(evaluated())
        await client.quit()
    assert all(after - before < 20 for before, after in itertools.pairwise(counts)), counts


def evaluated() -> int:
    """Prompt tokens that the host has read anew so far."""
    status = json.loads(midstream("host", "status", "--json"))
    return int(sum(model["evaluated_tokens"] for model in status["models"]))
