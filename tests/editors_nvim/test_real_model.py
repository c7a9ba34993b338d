"""Ghost text of the real embedded model in Neovim."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.real_model import real_host
from tests.e2e.test_model_completion import CART
from tests.editors_nvim.desk import Desk
from tests.support.editors.driver import wait_for

pytestmark = [pytest.mark.editor, pytest.mark.model, pytest.mark.timeout(240)]


def test_the_embedded_model_completes(start: Callable[..., Desk], tmp_path: Path) -> None:
    with real_host(tmp_path):
        desk = start(tasks={"complete": "local"})
        desk.open(CART)
        desk.insert(".")
        wait_for(lambda: re.match(r" ?items\b", desk.vim.ghost()), "what the cart holds")
        desk.vim.keys("<Tab>")
        wait_for(lambda: re.search(r"in self\. ?items\b", desk.vim.text()), "the suggestion in the buffer")
