"""Everything that can go wrong on the way to the first ghost text, and what the doctor says about it."""

import json
import os
import socket
import sys
from pathlib import Path

import pytest

from lsp_server.local.catalogue import known
from tests.local.real import SMALL, cache_with
from tests.support.command import Machine
from tests.support.editors.model import Model

NO_HOME = "import pwd\ndef nobody(user): raise KeyError(user)\npwd.getpwuid = nobody"


def check(machine: Machine, name: str, found: str, mend: str, **options: object) -> None:
    """The doctor names this failure in one line and says in the next what to do about it."""
    run = machine.midstream("doctor", **options)  # type: ignore[arg-type]
    assert run.status == 1, run.out
    lines = run.out.splitlines()
    (at,) = [number for number, line in enumerate(lines) if line.startswith(f"  FAIL  {name}: ")]
    assert found in lines[at], lines[at]
    assert mend in lines[at + 1], lines[at + 1]
    assert run.err == ""


def test_all_is_well(machine: Machine, model: Model) -> None:
    model.always(" a + b")
    run = machine.midstream("doctor", environment={"PATH": "/bin"})
    assert run.out.endswith("All is well.\n"), run.out
    assert "FAIL" not in run.out
    assert run.status == 0


def test_old_python_cannot_start(machine: Machine) -> None:
    run = machine.midstream("doctor", prelude="import sys\nsys.version_info = (3, 9, 18)")
    assert run.status == 1
    assert run.err.startswith("midstream: Python 3.11 or newer is needed, and ")
    assert run.err.endswith("is 3.9: make a new environment with one.\n")


def test_old_python(machine: Machine) -> None:
    prelude = "import sys, lsp_server\nsys.version_info = (3, 10, 1)"
    check(machine, "python", "3.10.1 at ", "make a new environment", prelude=prelude)


def test_missing_extra(machine: Machine) -> None:
    prelude = "import sys\nsys.modules['xllamacpp'] = None"
    check(
        machine,
        "embedded model, runtime",
        "is not installed",
        "Run `pip install 'midstream[local]'`",
        prelude=prelude,
    )


def test_no_avx2(machine: Machine) -> None:
    prelude = "from lsp_server.local import processor\nprocessor.has_avx2 = lambda: False\n"
    prelude += "processor.platform.machine = lambda: 'x86_64'"
    check(
        machine,
        "embedded model, runtime",
        "has no AVX2",
        "Configure a model at a provider",
        prelude=prelude,
    )


def test_no_grammar(machine: Machine) -> None:
    prelude = "import sys\nsys.modules['tree_sitter_go'] = None"
    check(
        machine,
        "grammars",
        "go: The package tree-sitter-go cannot be loaded",
        "Run `pip install --force-reinstall midstream`",
        prelude=prelude,
    )


def test_weights_absent(machine: Machine) -> None:
    check(machine, "embedded model, weights", "are not on this machine", "Run `midstream model pull`")


def test_weights_broken(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDSTREAM_CACHE", str(machine.cache))
    weights = known("").path
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"GGUF and then something else")
    check(machine, "embedded model, weights", "are damaged", "Run `midstream model pull`")
    assert not weights.exists()


def test_weights_of_ones_own_broken(machine: Machine) -> None:
    own = machine.home / "own.gguf"
    machine.settings.write_text(f"[models.local]\nmodel = {json.dumps(str(own))}\n")
    check(machine, "embedded model, weights", f"no model file at {own}", "choose other weights")
    own.write_bytes(b"PK\3\4")
    check(machine, "embedded model, weights", "is no GGUF file", "choose other weights")
    own.write_bytes(b"GGUF and then something else")
    try:
        check(machine, "model local, first token", str(own), "Check `url`, `model`")
    finally:
        machine.midstream("host", "stop")


def test_port_refused(machine: Machine) -> None:
    with socket.socket() as taken:
        # Bound and not listening: nobody else gets the port, and nobody answers.
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        machine.use(f"ws://{address}/v1")
        check(machine, "model scripted, TCP", f"Nothing listens at {address};", "Check `url`")


def test_key_absent(machine: Machine, model: Model) -> None:
    check(
        machine,
        "model scripted, key",
        "MIDSTREAM_TEST_KEY is not set",
        "Set the variable",
        environment={"MIDSTREAM_TEST_KEY": None},
    )


def test_key_wrong(machine: Machine, model: Model) -> None:
    wrong = {"MIDSTREAM_TEST_KEY": "wrong"}
    check(machine, "model scripted, auth", "refused the key", "Check `key`", environment=wrong)


def test_model_that_nobody_configured(machine: Machine) -> None:
    machine.settings.write_text('[tasks]\ncomplete = "fast"\n')
    run = machine.midstream("doctor")
    assert run.status == 1
    assert "FAIL  settings: " in run.out and "`tasks.complete`" in run.out


def test_settings_that_cannot_be_read(machine: Machine) -> None:
    machine.settings.write_text("[complete\n")
    check(machine, "settings", "config.toml", "Run `midstream config check`")


def test_read_only_home(machine: Machine, model: Model) -> None:
    model.always(" a + b")
    folder = machine.home / "sealed"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):
        # The superuser may write everywhere, except below what is no folder.
        folder = machine.home / "file"
        folder.write_bytes(b"")
    check(
        machine,
        "cache folder",
        f"{folder}/midstream cannot be written to",
        "Set MIDSTREAM_CACHE to a folder",
        environment={"MIDSTREAM_CACHE": f"{folder}/midstream"},
    )


def test_no_home(machine: Machine, model: Model, tmp_path: Path) -> None:
    model.always(" a + b")
    run = machine.midstream(
        "doctor",
        prelude=f"{NO_HOME}\nimport os\nos.chdir({str(tmp_path)!r})\n"
        "from pathlib import Path\nfrom lsp_server.settings import folders\n"
        "import lsp_server.local.places as places\nimport errno\n"
        "def mkdir(self, *args, **kwargs): raise OSError(errno.EROFS, 'Read-only file system')\n"
        "Path.mkdir = mkdir",
        environment={"HOME": None, "MIDSTREAM_CACHE": None, "XDG_CACHE_HOME": None},
    )
    assert "FAIL  cache folder: /.cache/midstream cannot be written to" in run.out
    assert "Set HOME, or MIDSTREAM_CACHE to a folder that you may write to." in run.out
    assert not (tmp_path / "~").exists()
    assert run.status == 1


def test_a_proxy_is_not_asked_for_this_machine(machine: Machine, model: Model) -> None:
    model.always(" a + b")
    proxies = dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "all_proxy"), "http://127.0.0.1:9")
    run = machine.midstream("doctor", environment={"PATH": "/bin", **proxies})
    assert run.status == 0, run.out
    assert "proxy: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, all_proxy; " in run.out


def test_two_versions_installed(machine: Machine, model: Model) -> None:
    model.always(" a + b")
    other = machine.home / "bin"
    other.mkdir()
    (other / "midstream").write_text("#!/bin/sh\n")
    path = f"{Path(sys.executable).parent}{os.pathsep}{other}"
    check(
        machine,
        "installation",
        f"another at {other}/midstream",
        "uninstall one",
        environment={"PATH": path},
    )


@pytest.mark.model
@pytest.mark.parametrize("lost", ["token", "host.json"])
def test_what_an_earlier_host_left_is_cleared_away(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    cache_with(SMALL, monkeypatch, machine.cache)
    machine.settings.write_text(f'[models.local]\nmodel = "{SMALL}"\n')
    try:
        assert machine.midstream("complete", f"{__file__}:5:8").status == 0
        (stale,) = (machine.cache / "host").glob(f"*/{lost}")
        stale.write_text("stale")
        run = machine.midstream("doctor", environment={"PATH": "/bin"})
        assert run.status == 0, run.out
        assert stale.read_text() != "stale"
    finally:
        machine.midstream("host", "stop")


def test_what_a_program_reads(machine: Machine, model: Model) -> None:
    model.always(" a + b")
    run = machine.midstream("doctor", "--json", environment={"PATH": "/bin", "MIDSTREAM_TEST_KEY": None})
    report = json.loads(run.out)
    failed = [each for each in report["checks"] if not each["ok"]]
    assert report["ok"] is False
    assert [each["name"] for each in failed] == ["model scripted, key"]
    assert all(each["found"] and each["mend"] for each in failed)
