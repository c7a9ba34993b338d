"""What the model gets to see of other open files, through the server as an editor starts it."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_safety import private
from tests.support.lsp_process import options_for, running_server
from tests.support.model_server import ModelServer

CANARY = "canary_never_leaves"
SHOP = "def total(items, tax=0.2):\n    return sum(items) * (1 + tax)\n"
CART = "from shop import total\n\n\ndef pay(items):\n    due = total(items<|>)\n    return due\n"


async def test_the_request_holds_the_function_of_the_other_file(tmp_path: Path) -> None:
    async with ModelServer() as model, running_server(environment=private(tmp_path)) as client:
        model.always("")
        await client.initialize(options_for(model))
        shop, cart = (tmp_path / "shop.py").as_uri(), (tmp_path / "cart.py").as_uri()
        client.open(shop, SHOP)
        opened = client.open(cart, CART)
        at = client.text(shop).index("tax")
        client.replace(shop, at, at + 3, "rate")
        place = {"uri": cart, "position": client.range(cart, opened.at, opened.at)["start"]}
        shown = await client.command("midstream.showPrompt", **place)
        assert "def total(items, rate=0.2):" in shown["context"]
        assert "-def total(items, tax=0.2):\n+def total(items, rate=0.2):" in shown["context"]
        await client.ask(cart, opened.at)[1]
        asked = [turn for turn in model.turns if turn.create.generate]
        assert shown["context"] in asked[-1].text
        await client.command("midstream.edit", **place, instruction="pay twice", wait=True)
        assert "def total(items, rate=0.2):" in model.turns[-1].text
        assert await client.quit() == 0


@pytest.mark.parametrize("ignored", [".gitignore", "settings", "secret"])
async def test_B112_B113_nothing_of_an_ignored_file_is_in_the_prompt(tmp_path: Path, ignored: str) -> None:
    private_file = tmp_path / (".env" if ignored == "secret" else "private.py")
    settings: dict[str, Any] = {"context": {"ignore": ["private.py"]}} if ignored == "settings" else {}
    async with ModelServer() as model, running_server(environment=private(tmp_path)) as client:
        model.always("")
        await client.initialize(options_for(model, **settings))
        cart, other = (tmp_path / "cart.py").as_uri(), private_file.as_uri()
        opened = client.open(cart, CART)
        client.open(other, SHOP.replace("tax", CANARY))
        place = {"uri": cart, "position": client.range(cart, opened.at, opened.at)["start"]}
        if ignored == ".gitignore":
            assert CANARY in str(await client.command("midstream.showPrompt", **place))
            (tmp_path / ".gitignore").write_text("private.py\n")
        at = client.text(other).index(CANARY)
        client.replace(other, at, at, "new_")
        assert CANARY not in str(await client.command("midstream.showPrompt", **place))
        await client.ask(cart, opened.at)[1]
        await client.command("midstream.edit", **place, instruction="pay twice", wait=True)
        asked = [turn for turn in model.turns if turn.create.generate]
        assert len(asked) == 2 and not any(CANARY in turn.text for turn in asked)
        assert await client.quit() == 0
