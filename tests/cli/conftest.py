"""A machine for each test, and the scripted model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

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
