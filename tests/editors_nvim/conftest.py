"""Neovim 0.12, which draws suggestions itself, and 0.11, where the plugin does.

Each test runs in both, but for those that ask for one: what they are about does not depend on the version.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.editors_nvim.desk import Desk
from tests.support.editors import install
from tests.support.editors.model import Model

PROGRAMS = {"0.12": install.neovim, "0.11": install.neovim_011}
one_version = pytest.mark.parametrize("program", ["0.12"], indirect=True)


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> Path:
    """A Neovim of each version; skips where it is not installed."""
    try:
        return PROGRAMS[request.param]()
    except install.Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def start(program: Path, tmp_path: Path) -> Iterator[Callable[..., Desk]]:
    """Starts Neovim with settings of the server."""
    with ExitStack() as stack:

        def begin(**settings: Any) -> Desk:
            model = stack.enter_context(Model())
            desk = Desk(program, tmp_path, model, **settings)
            stack.callback(desk.vim.close)
            return desk

        yield begin


@pytest.fixture
def desk(start: Callable[..., Desk]) -> Desk:
    """Neovim with nothing special set."""
    return start()
