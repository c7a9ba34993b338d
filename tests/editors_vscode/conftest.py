"""One VS Code for all tests of this folder: its start takes longer than any of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors_vscode.window import Window
from tests.support.editors import install
from tests.support.editors.model import Model

HERE = Path(__file__).parent
MAX_FAILURES = 4
"""Each waits long for what does not come."""


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
    session.begin()
    return session


@pytest.fixture
def window(session: Window) -> Iterator[Window]:
    """The window with a server that is ready."""
    if session.failures == MAX_FAILURES:
        pytest.fail("the window is given up after the failures before")
    session.begin()
    session.trust()
    session.is_ready()
    yield session
    session.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    """A test that fails leaves what was to be seen, while it is still there."""
    report = yield
    session = getattr(item, "funcargs", {}).get("session")
    if report.failed and report.when != "teardown" and session:
        session.failures += 1
        session.keep(f"failed-{item.name}")
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs the window as it is at first comes first."""
    ours = [index for index, item in enumerate(items) if item.path.parent == HERE]
    tests = sorted((items[index] for index in ours), key=lambda item: item.path.stem != "test_trust")
    for index, test in zip(ours, tests, strict=True):
        items[index] = test
