"""The catalogue is data; what can be checked without a network is that it is whole."""

import re

import pytest

from lsp_server.engine.errors import ModelMissing
from lsp_server.local.catalogue import CATALOGUE, DEFAULT, Entry, entry_of, known
from lsp_server.settings.values import DEFAULT_MODEL

PINNED = re.compile(r"[a-z0-9-]+==[0-9.]+ --hash=sha256:[0-9a-f]{64}")
PARTS = {"qwen2.5-coder-0.5b": 6, "qwen2.5-coder-1.5b": 22, "smollm2-135m": 1}


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_an_entry_pins_everything(entry: Entry) -> None:
    assert re.fullmatch("[0-9a-f]{64}", entry.sha256)
    assert len(entry.parts()) == PARTS[entry.name]
    assert all(PINNED.fullmatch(part) for part in entry.parts())
    assert (entry.member.format(n=2) != entry.member) is (len(entry.parts()) > 1)
    assert entry.style.budget < entry.context


def test_names_lead_to_entries() -> None:
    for entry in CATALOGUE:
        assert entry_of(entry.name) is entry_of(str(entry.path)) is known(entry.name) is entry
    assert entry_of("") is DEFAULT
    assert entry_of("/somewhere/else.gguf") is None


def test_the_settings_and_the_catalogue_agree_on_the_default() -> None:
    assert DEFAULT_MODEL.model == DEFAULT.name


def test_an_unknown_name_is_told_with_those_that_exist() -> None:
    with pytest.raises(ModelMissing, match="smollm2-135m"):
        known("gpt-0")
