"""One VS Code for all tests of this folder: its start takes longer than any of them."""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.editors_vscode.window import Window
from tests.support.editors import install
from tests.support.editors.model import ENVIRONMENT, Model

HERE = Path(__file__).parent
SERVER = Path(sys.executable).with_name("midstream")
MAX_FAILURES = 4
"""Each waits long for what does not come."""


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    """A window on a folder that VS Code does not trust; skips where something is not installed."""
    skip_unless_installed()
    folder: Path = tmp_path_factory.mktemp("vscode") / "project"
    with Model() as model:
        machine = folder.parent / f"{folder.name}-vscode/user/Machine/settings.json"
        machine.parent.mkdir(parents=True)
        machine.write_text(json.dumps({"midstream.server.path": str(SERVER)}))
        window = Window(folder, model, settings_of(model.options()), ENVIRONMENT)
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
    if session.fails:
        session.restart()
    session.is_ready()
    yield session
    session.clear()


def skip_unless_installed() -> None:
    """Skip where a part of VS Code in a browser is not here."""
    try:
        for part in (install.node, install.chromium, install.code_server, install.extension):
            part()
    except install.Missing as missing:
        pytest.skip(str(missing))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    """A test that fails leaves what was to be seen, while it is still there."""
    report = yield
    arguments = getattr(item, "funcargs", {})
    shown = arguments.get("fresh") or arguments.get("session")
    if report.failed and report.when != "teardown" and shown:
        shown.failures += 1
        shown.fails = True
        shown.keep(f"failed-{item.name}")
    return report


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs the window as it is at first comes first."""
    ours = [index for index, item in enumerate(items) if item.path.parent == HERE]
    tests = sorted((items[index] for index in ours), key=lambda item: item.path.stem != "test_trust")
    for index, test in zip(ours, tests, strict=True):
        items[index] = test


def settings_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The server's settings as VS Code has them: one name for each, but for the models."""
    flat: dict[str, Any] = {"midstream.models": options["models"]}
    for group in options.keys() - {"models"}:
        flat |= {f"midstream.{group}.{key}": value for key, value in options[group].items()}
    return flat
