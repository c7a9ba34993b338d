"""What is said about machines that cannot run the embedded model."""

import os
import sys

import pytest

from lsp_server.engine.errors import ModelMissing
from lsp_server.local import processor

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/cpuinfo")


def test_this_machine_is_asked_without_harm() -> None:
    assert 1 <= processor.physical_cores() <= (os.cpu_count() or 1)
    assert processor.missing_runtime() is None


def test_a_missing_runtime_is_told_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "find_spec", lambda name: None)
    assert "pip install 'midstream[local]'" in (processor.missing_runtime() or "")
    with pytest.raises(ModelMissing):
        processor.require_runtime()


@LINUX
@pytest.mark.parametrize(
    ("cpuinfo", "told"),
    [
        ("flags\t\t: fpu sse avx\n", True),
        ("flags\t\t: fpu avx avx2 bmi\n", False),
        ("Features\t: fp asimd\n", False),
        ("", False),
    ],
)
def test_a_processor_without_avx2_is_told_in_words(
    monkeypatch: pytest.MonkeyPatch, cpuinfo: str, told: bool
) -> None:
    monkeypatch.setattr(processor, "_cpuinfo", lambda: cpuinfo)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert ("no AVX2" in (processor.missing_runtime() or "")) is told


@LINUX
def test_hyper_threads_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    core = "processor\t: {}\nphysical id\t: 0\nflags\t: avx2\ncore id\t\t: {}\n\n"
    monkeypatch.setattr(processor, "_cpuinfo", lambda: "".join(core.format(n, n // 2) for n in range(8)))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)))
    assert processor.physical_cores() == 4
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    assert processor.physical_cores() == 2
