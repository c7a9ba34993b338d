"""Ghost text of the real embedded model in Neovim."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.real_model import real_host
from tests.e2e.test_model_completion import CART
from tests.editors_nvim.desk import Desk
from tests.support.editors.driver import wait_for

pytestmark = [pytest.mark.editor, pytest.mark.model, pytest.mark.timeout(240)]


@pytest.fixture
def host(tmp_path: Path) -> Iterator[None]:
    """A host, which outlives the editor: a server that still runs would start it again."""
    with real_host(tmp_path):
        yield


@pytest.mark.usefixtures("host")
def test_the_embedded_model_completes(start: Callable[..., Desk]) -> None:
    desk = start(tasks={"complete": "local"})
    desk.open(CART)
    desk.insert(".")
    wait_for(lambda: re.match(r" ?items\b", desk.vim.ghost()), "what the cart holds")
    desk.vim.keys("<Tab>")
    wait_for(lambda: re.search(r"in self\. ?items\b", desk.vim.text()), "the suggestion in the buffer")
