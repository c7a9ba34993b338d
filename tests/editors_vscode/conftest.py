"""One VS Code for all tests of this folder: its start takes longer than any of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors_vscode.window import SHOTS, Window
from tests.support.editors import install
from tests.support.editors.model import Model

OUTCOME = pytest.StashKey[bool]()


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window on a folder that VS Code does not trust; skips where something is not installed."""
    folder: Path = tmp_path_factory.mktemp("vscode") / "project"
    try:
        for part in (install.node, install.chromium, install.code_server, install.extension):
            part()
    except install.Missing as missing:
        pytest.skip(str(missing))
    with Model() as model:
        window = Window(folder, model)
        try:
            yield window
        finally:
            window.code.close()


@pytest.fixture
def untrusted(session: Window) -> Window:
    """The window as it is at first."""
    return session


@pytest.fixture
def window(session: Window, request: pytest.FixtureRequest) -> Iterator[Window]:
    """The window with a server that is ready; a test that fails leaves a picture."""
    if "off in this workspace" in session.read("status"):
        session.allow()
        session.trust()
    session.is_ready()
    yield session
    if request.node.stash.get(OUTCOME, False):
        SHOTS.mkdir(parents=True, exist_ok=True)
        session.code.screenshot(SHOTS / f"failed-{request.node.name}.png")
    session.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    report = yield
    if report.when == "call":
        item.stash[OUTCOME] = report.failed
    return report
