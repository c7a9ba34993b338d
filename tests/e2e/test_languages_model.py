"""`midstream complete` on languages of every kind, with the real embedded model."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.real import DEFAULT, cache_with
from tests.support.marked import parse

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests/data/languages"
ACCEPTED = tomllib.loads((FOLDER / "accepted.toml").read_text())

pytestmark = pytest.mark.model


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The real weights with a host of this module's own, which ends with it."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("midstream")
        cache_with(DEFAULT, patch, folder / "cache")
        patch.setenv("MIDSTREAM_CONFIG", str(folder / "config.toml"))
        patch.setenv("MIDSTREAM_USAGE_FILE", str(folder / "usage.db"))
        yield
        midstream("host", "stop")


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_continuation_is_one_that_a_programmer_could_write(name: str, tmp_path: Path) -> None:
    marked = parse((FOLDER / name).read_text())
    file = tmp_path / name
    file.write_text(marked.text)
    before = marked.text[: marked.at]
    line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
    said = midstream("complete", f"{file}:{line}:{column}")
    assert "".join(said.split()) in {"".join(text.split()) for text in ACCEPTED[name]}, said


def midstream(*arguments: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", "lsp_server", *arguments],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout
