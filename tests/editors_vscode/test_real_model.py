"""Ghost text of the real embedded model in VS Code."""

import re
from collections.abc import Iterator

import pytest

from tests.e2e.real_model import real_host
from tests.e2e.test_model_completion import CART
from tests.editors_vscode.window import Window, until

pytestmark = [pytest.mark.model, pytest.mark.timeout(240)]


@pytest.fixture
def local(window: Window) -> Iterator[Window]:
    """The window, with the model that runs on this machine for completions."""
    with real_host(window.home):
        window.set("midstream.tasks.complete", "local")
        yield window
        window.set("midstream.tasks.complete", "scripted")


def test_the_embedded_model_completes(local: Window) -> None:
    local.open(CART)
    local.type(".")
    until(local.ghost, lambda seen: bool(re.match(r" ?items\b", seen)), "what the cart holds")
    local.shot("real-model")
    local.press("Tab")
    until(
        local.code.text,
        lambda text: bool(re.search(r"in self\. ?items\b", text)),
        "the suggestion in the document",
    )
