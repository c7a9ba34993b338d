"""The real embedded model for tests that go through the product as a user does."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.local.real import DEFAULT, cache_with

ROOT = Path(__file__).parents[2]


def host_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """`real_host` as a fixture of a module."""
    with real_host(tmp_path_factory.mktemp("midstream")):
        yield


@contextmanager
def real_host(folder: Path) -> Iterator[None]:
    """The real weights in a cache of this folder, with a host, settings and a ledger of its own."""
    with pytest.MonkeyPatch.context() as patch:
        cache_with(DEFAULT, patch, folder / "cache")
        (folder / "config.toml").write_text("")
        patch.setenv("MIDSTREAM_CONFIG", str(folder / "config.toml"))
        patch.setenv("MIDSTREAM_USAGE_FILE", str(folder / "usage.db"))
        _load(folder / "first.py")
        try:
            yield
        finally:
            midstream("host", "stop")


def _load(file: Path) -> None:
    """Let the host read its weights: on a busy machine that takes longer than a completion may."""
    file.write_text("first = ")
    for _ in range(5):
        run = _run("complete", f"{file}:1:9", "--json")
        if run.returncode == 0 and "error" not in json.loads(run.stdout):
            return
    pytest.fail(f"the embedded model does not answer: {run.stdout} {run.stderr}")


def midstream(*arguments: str, status: int = 0) -> str:
    """What the command prints; fails unless it ends with `status`."""
    run = _run(*arguments)
    assert run.returncode == status, run.stderr
    return run.stdout


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lsp_server", *arguments],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=100,
    )
