"""What ARCHITECTURE.md promises about the code as a whole."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CEILING = 320
SOURCES = {
    path.relative_to(ROOT).as_posix(): path
    for folder, patterns in {
        "lsp_server": ["*.py"],
        "tests": ["*.py"],
        "bench": ["*.py"],
        "editors": ["*.ts", "*.lua"],
    }.items()
    for pattern in patterns
    for path in sorted((ROOT / folder).rglob(pattern))
    if "node_modules" not in path.parts and "dist" not in path.parts
}
MODULES = [
    name.removesuffix(".py").replace("/", ".")
    for name in SOURCES
    if name.startswith("lsp_server/") and not name.endswith(("__init__.py", "__main__.py"))
]
TESTS = [name for name in SOURCES if name.startswith("tests/")]


def test_the_layers_hold() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run([program, "--no-logo"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("name", SOURCES)
def test_a_file_stays_short(name: str) -> None:
    lines = len(SOURCES[name].read_text().splitlines())
    assert lines <= CEILING, f"{name} has {lines} lines; split it"


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_used_by_a_test_or_by_another_module(module: str) -> None:
    package, _, name = module.rpartition(".")
    own = module.replace(".", "/") + ".py"
    spellings = re.compile(
        rf"(from|import) {re.escape(module)}\b"
        rf"|from {re.escape(package)} import (\([^)]*|[^\n]*)\b{name}\b"
        rf"|[\"']{re.escape(module)}[\"']"
    )
    others = [path for file, path in SOURCES.items() if file != own]
    assert any(spellings.search(path.read_text()) for path in others), f"nothing uses {module}"


@pytest.mark.parametrize("name", [name for name in TESTS if not name.startswith("tests/support/editors/")])
def test_tests_wait_for_states_and_not_for_time(name: str) -> None:
    slept = re.findall(r"\bsleep\((?!0\))[^)]*\)", SOURCES[name].read_text())
    assert not slept


def test_the_vendors_sdks_are_not_loaded_on_the_way_to_initialize() -> None:
    program = (
        "import sys, lsp_server.cli, lsp_server.lsp.server\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(loaded & {'openai', 'anthropic', 'xllamacpp'}))"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert run.stdout.strip() == "[]", run.stdout + run.stderr
