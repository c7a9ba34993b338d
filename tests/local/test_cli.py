"""`midstream host` and `midstream model` as a user calls them."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.cli import main
from lsp_server.cli.host import duration
from lsp_server.cli.model import Bar
from lsp_server.cli.toml_edit import CannotEdit, with_string
from lsp_server.local.transfer import Progress
from tests.local.made import BYTES


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MIDSTREAM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MIDSTREAM_CONFIG", str(tmp_path / "config.toml"))
    return tmp_path


def test_the_list_shows_what_is_used_and_what_is_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "list"]) == 0
    assert "* qwen2.5-coder-0.5b     491 MB  Apache-2.0  completions and edits" in capsys.readouterr().out
    assert main(["model", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["used"] for row in rows] == [True, False, False]
    assert not any(row["present"] for row in rows)


def test_use_writes_the_choice_into_the_users_file(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "use", "smollm2-135m"]) == 0
    assert "midstream model pull smollm2-135m" in capsys.readouterr().out
    assert tomllib.loads((home / "config.toml").read_text()) == {
        "models": {"local": {"model": "smollm2-135m"}}
    }
    own = home / "own.gguf"
    own.write_bytes(BYTES)
    assert main(["model", "use", str(own)]) == 0
    capsys.readouterr()
    assert main(["model", "path"]) == 0
    assert capsys.readouterr().out.strip() == str(own)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["model", "use", "gpt-0"], "no model 'gpt-0' in the catalogue"),
        (["model", "use", "/nowhere/own.gguf"], "no model file at /nowhere/own.gguf"),
        (["model", "path"], "midstream model pull qwen2.5-coder-0.5b"),
        (["model", "pull", "gpt-0"], "no model 'gpt-0'"),
    ],
)
def test_what_goes_wrong_is_one_sentence(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 1
    out, errors = capsys.readouterr()
    assert out == "" and errors.startswith("midstream: ") and errors.count("\n") == 1
    assert re.search(told, errors)


def test_a_file_that_cannot_be_changed_stays_as_it_is(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'models = {local = {model = "x"}}\n'
    (home / "config.toml").write_text(text)
    assert main(["model", "use", "smollm2-135m"]) == 1
    assert 'Write `model = "smollm2-135m"` under [models.local] yourself' in capsys.readouterr().err
    assert (home / "config.toml").read_text() == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[models.local]\nmodel = "new"\n'),
        ("[tasks]\n", '[tasks]\n\n[models.local]\nmodel = "new"\n'),
        (
            "# mine\n[models.local] # here\nmodel = 'old'  # why\nurl = \"\"\n",
            '# mine\n[models.local] # here\nmodel = "new"  # why\nurl = ""\n',
        ),
        (
            '[models.local]\nprotocol = "local"\n[models.other]\nmodel = "x"\n',
            '[models.local]\nmodel = "new"\nprotocol = "local"\n[models.other]\nmodel = "x"\n',
        ),
        (
            '[models.other]\nmodel = "x"\r\n[models . local]\nmodel = "y"\n',
            '[models.other]\nmodel = "x"\r\n[models . local]\nmodel = "new"\n',
        ),
    ],
)
def test_the_rest_of_a_settings_file_stays_as_it_is(before: str, after: str) -> None:
    assert with_string(before, "models.local", "model", "new") == after


@pytest.mark.parametrize(
    "text",
    [
        "models = 1",
        '[models]\nlocal = {model = "x"}',
        'models.local.model = "x"',
        "[",
        "[models.local]\nmodel = 1",
    ],
)
def test_a_form_that_is_not_understood_is_not_touched(text: str) -> None:
    with pytest.raises(CannotEdit):
        with_string(text, "models.local", "model", "new")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_any_path_survives_the_file(value: str) -> None:
    text = with_string('[models.local]\nmodel = "old"\n', "models.local", "model", value)
    assert tomllib.loads(text)["models"]["local"]["model"] == value


def test_without_a_host_status_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["host", "status"]) == 1
    assert "No model host is running" in capsys.readouterr().out
    assert main(["host", "status", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {"running": False}
    assert main(["host", "stop", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"stopped": False}


@pytest.mark.skipif(sys.platform == "win32", reason="uses signals")
def test_status_and_stop_of_a_running_host(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from lsp_server.local.launcher import start_host

    own = home / "own.gguf"
    own.write_bytes(BYTES)
    start_host(str(own))
    assert main(["host", "status", "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert status["running"] and status["clients"] == 0 and status["model"] == str(own)
    assert {"pid", "url", "token_file", "model", "sha256", "clients", "uptime"} <= set(status)
    assert main(["host", "status"]) == 0
    assert f"pid        {status['pid']}" in capsys.readouterr().out
    assert main(["host", "stop"]) == 0
    assert "has ended" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (59.6, "1 min 0 s"), (3599, "59 min 59 s"), (7325, "2 h 2 min")]
)
def test_a_duration_in_words(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_a_bar_on_a_pipe_prints_a_line_for_each_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Bar("made", sys.stderr)
    for percent in (0, 1, 9, 10, 50, 50, 100):
        bar.show(Progress("downloading", "somewhere", percent * 10**7, 10**9, 2e6, 61.4))
    bar.show(Progress("verifying", "somewhere", 10**9, 10**9))
    bar.end()
    lines = capsys.readouterr().err.splitlines()
    assert [line.split("]")[1].split("%")[0].strip() for line in lines] == ["0", "10", "50", "100", "100"]
    assert (
        lines[2]
        == "made  [############............]  50 %  500 of 1.00 GB  2.0 MB/s  1:01 left  from somewhere"
    )
    assert lines[-1].endswith("checking the digest")
