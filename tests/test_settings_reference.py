"""The schema as others read it, and the `config` command."""

import argparse
import json
from pathlib import Path

import pytest

from lsp_server.cli.config import add_parser, run
from lsp_server.settings import Settings, load
from lsp_server.settings.reference import page
from lsp_server.settings.schema import contributed, json_schema
from lsp_server.settings.shapes import options

CANARY = "sk-CANARY-123"


def test_the_reference_page_is_fresh() -> None:
    written = Path("docs/settings.md").read_text(encoding="utf-8")
    assert written == page(), "run: midstream config schema --markdown > docs/settings.md"


def test_the_example_of_the_reference_page_is_right() -> None:
    example = page().partition("```toml\n")[2].partition("```")[0]
    settings, problems = load(example, {}, None, None)
    assert problems == []
    assert settings.model_for("edit").fallback == "local"
    assert settings.budget.per_month.models["fast"].money == 15.0


def test_every_setting_is_described_everywhere() -> None:
    assert set(json_schema()["properties"]) == set(options(Settings))
    for name, schema in contributed().items():
        assert schema["description"], name
        assert schema["scope"] == "application" or name.split(".")[1] not in ("models", "budget", "checks")
    assert contributed()["midstream.log.file"]["scope"] == "application"
    assert contributed()["midstream.edit.onForeignChange"]["default"] == "cancel"
    assert contributed()["midstream.complete.debounce"]["anyOf"] == [
        {"type": "integer", "minimum": 0, "maximum": 5000},
        {"enum": ["auto"]},
    ]


def config(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    return run(parser.parse_args(["config", *arguments]))


def test_config_check_names_line_and_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.toml"
    file.write_text("[complete]\n  debonce = 3\n")
    assert config("check", str(file)) == 1
    assert capsys.readouterr().out.startswith(f"{file}:2:3: `complete.debonce` is not a setting")
    file.write_text("")
    assert config("check", str(file)) == 0
    assert config("check", str(tmp_path / "absent")) == 2


def test_config_show_says_where_values_come_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "x.toml"
    file.write_text(f'[models."a.b"]\nprotocol = "chat-http"\nmodel = "m"\nkey = "{CANARY}"\n')
    monkeypatch.setenv("MIDSTREAM_CONFIG", str(file))
    monkeypatch.setenv("MIDSTREAM_COMPLETE_DEBOUNCE", "9")
    assert config("show") == 0
    shown = capsys.readouterr()
    assert f'models.a.b.model = "m" # {file}' in " ".join(shown.out.split())
    assert "complete.debounce = 9 # environment variable MIDSTREAM_COMPLETE_DEBOUNCE" in " ".join(
        shown.out.split()
    )
    assert "holds a key itself" in shown.err
    assert config("show", "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["settings"]["models"]["a.b"]["model"] == "m"
    assert data["problems"][0]["line"] == 4
    assert CANARY not in shown.out + shown.err + json.dumps(data)


def test_config_schema_prints_its_three_forms(capsys: pytest.CaptureFixture[str]) -> None:
    assert config("schema") == 0
    assert json.loads(capsys.readouterr().out) == json_schema()
    assert config("schema", "--vscode") == 0
    assert json.loads(capsys.readouterr().out) == contributed()
    assert config("schema", "--markdown") == 0
    assert capsys.readouterr().out == page()
