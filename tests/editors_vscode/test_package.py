"""The package that a user installs, and what its page shows."""

import json
import re
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.editors import install

ROOT = Path(__file__).parents[2]
MAX_PACKAGE = 1_000_000
MAX_PICTURE = 400_000
IMAGE = re.compile(r"!\[[^\]]+\]\(([^)]+)\)")


@pytest.fixture(scope="module")
def package() -> zipfile.ZipFile:
    """The extension, packaged."""
    try:
        return zipfile.ZipFile(install.extension())
    except install.Missing as missing:
        pytest.skip(str(missing))


def test_it_is_small_and_brings_no_node_modules(package: zipfile.ZipFile) -> None:
    assert Path(package.filename or "").stat().st_size < MAX_PACKAGE
    assert not [
        name for name in package.namelist() if "node_modules" in name or name.endswith((".ts", ".map"))
    ]


def test_it_brings_the_server(package: zipfile.ZipFile) -> None:
    (wheel,) = [name for name in package.namelist() if name.endswith(".whl")]
    version = json.loads(package.read("extension/package.json"))["version"]
    assert wheel == f"extension/bundled/midstream-{version}-py3-none-any.whl"


def test_all_that_its_page_shows_is_in_it(package: zipfile.ZipFile) -> None:
    names = package.namelist()
    page = package.read(next(name for name in names if name.lower() == "extension/readme.md")).decode()
    pictures = IMAGE.findall(page)
    assert len(pictures) >= 3
    assert [picture for picture in pictures if f"extension/{picture}" not in names] == []
    manifest = json.loads(package.read("extension/package.json"))
    media = [step["media"]["markdown"] for step in manifest["contributes"]["walkthroughs"][0]["steps"]]
    assert [path for path in [manifest["icon"], *media] if f"extension/{path}" not in names] == []


def test_its_settings_are_those_of_the_server() -> None:
    manifest = json.loads((ROOT / "editors/vscode/package.json").read_text())
    groups = [group["properties"] for group in manifest["contributes"]["configuration"]]
    contributed = {name: setting for group in groups for name, setting in group.items()}
    own = {name for name in contributed if name.startswith("midstream.server.")}
    command = [sys.executable, "-m", "lsp_server", "config", "schema", "--vscode"]
    schema = json.loads(subprocess.run(command, capture_output=True, check=True, cwd=ROOT).stdout)
    assert {name: contributed[name] for name in contributed.keys() - own} == schema, "npm run settings"
    restricted = manifest["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"]
    assert set(restricted) == contributed.keys()


def test_every_command_that_is_named_is_contributed() -> None:
    manifest = json.loads((ROOT / "editors/vscode/package.json").read_text())
    contributes = manifest["contributes"]
    commands = {command["command"] for command in contributes["commands"]}
    steps = contributes["walkthroughs"][0]["steps"]
    links = re.findall(r"\(command:(midstream\.\w+)", json.dumps(steps))
    menus = [entry.get("command") for menu in contributes["menus"].values() for entry in menu]
    keys = [binding["command"] for binding in contributes["keybindings"]]
    named = {name for name in [*links, *menus, *keys] if name and name.startswith("midstream.")}
    assert named <= commands


def test_the_page_of_the_project_opens_with_animations_of_ghost_text_and_of_a_redirect() -> None:
    head = (ROOT / "README.md").read_text().partition("\n## ")[0]
    pictures = IMAGE.findall(head)
    assert pictures == ["docs/images/ghost.png", "docs/images/redirect.png"]
    for picture in pictures:
        data = (ROOT / picture).read_bytes()
        assert len(data) < MAX_PICTURE
        at = data.index(b"acTL") + 4
        assert struct.unpack(">I", data[at : at + 4])[0] > 10


def test_every_command_has_a_keyboard_way() -> None:
    """A key of its own, or the command palette."""
    contributes = json.loads((ROOT / "editors/vscode/package.json").read_text())["contributes"]
    commands = {entry["command"] for entry in contributes["commands"]}
    hidden = {
        entry["command"] for entry in contributes["menus"]["commandPalette"] if entry["when"] == "false"
    }
    keys = {entry["command"] for entry in contributes["keybindings"]}
    assert {command for command in commands if command in hidden and command not in keys} == set()
    assert {key for key in keys if key.startswith("midstream.")} <= commands
    menus = [
        entry["command"] for menu in contributes["menus"].values() for entry in menu if "command" in entry
    ]
    assert {command for command in menus if command.startswith("midstream.")} <= commands
