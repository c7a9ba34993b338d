"""A machine for each test, and the scripted model."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from tests.support.command import Machine
from tests.support.editors.model import Model


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A fresh machine without any model."""
    return Machine(tmp_path)


@pytest.fixture
def model(machine: Machine) -> Iterator[Model]:
    """The scripted model, which the settings of the machine name for every task."""
    with Model() as model:
        machine.use(model.server.face.url)
        yield model


@pytest.fixture(autouse=True)
def no_proxy_but_the_tests_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine is behind."""
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> Iterator[str]:
    path = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(str(path))
    yield str(path)
