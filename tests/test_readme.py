"""What README.md tells people to paste is accepted as it stands."""

import re
from pathlib import Path

import pytest

from lsp_server.model import backend
from lsp_server.settings import load

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)


@pytest.mark.parametrize("toml", BLOCKS, ids=[block.partition("\n")[0] for block in BLOCKS])
async def test_a_block_of_settings_has_no_problem_and_gives_a_backend(toml: str) -> None:
    settings, problems = load(toml, {}, None, None)
    assert problems == []
    keys = {model.key.removeprefix("env:"): "k" for model in settings.models.values() if model.key}
    for name, model in settings.models.items():
        if model.protocol != "local":
            built = backend(model, keys)
            assert built.name == name
            await built.close()


def test_every_provider_of_the_table_has_its_block() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    anchors = set(re.findall(r"\]\(#([a-z-]+)\)", text))
    heads = {
        head.lower().replace(" ", "-").replace(".", "") for head in re.findall(r"^### (.+)$", text, re.M)
    }
    assert anchors == heads


def test_the_files_it_points_to_are_there() -> None:
    for page in [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (ROOT / target).exists(), f"{page.name} points to {target}"


def test_its_neovim_setup_is_the_head_of_the_one_that_a_real_neovim_runs() -> None:
    """tests/editors/test_editors_page.py pastes the whole block of docs/editors.md into Neovim 0.12."""
    (ours,) = re.findall(r"```lua\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)
    page = (ROOT / "docs" / "editors.md").read_text("utf-8")
    section = page.partition("## Neovim 0.12\n")[2].partition("\n## ")[0]
    assert f"```lua\n{ours}" in section
