"""Ignore files on a real disk."""

import os
from pathlib import Path

import pytest

from lsp_server.engine.ignore import NAMES, IgnoreFiles


@pytest.mark.parametrize("name", NAMES)
def test_B112_an_open_file_stays_and_a_changed_rule_holds_at_once(tmp_path: Path, name: str) -> None:
    secret, app = tmp_path / "secret" / "k.py", tmp_path / "app.py"
    files = IgnoreFiles()
    assert files.reason(secret.as_uri()) is None
    rules = tmp_path / name
    rules.write_text("secret/**\n")
    assert files.reason(secret.as_uri()) == f"k.py is listed in {name}, so nothing of it is sent."
    assert files.reason(app.as_uri()) is None
    rules.write_text("app.py\n")
    assert files.reason(secret.as_uri()) is None
    assert files.reason(app.as_uri()) is not None
    rules.unlink()
    assert files.reason(app.as_uri()) is None


def test_B113_a_link_is_judged_by_its_target_too(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("K=1")
    link = tmp_path / "innocent.py"
    link.symlink_to(".env")
    files = IgnoreFiles()
    assert "file of secrets" in (files.reason(link.as_uri()) or "")
    assert files.reason((tmp_path / ".env").as_uri(), ["!.env"]) is None


def test_a_gitignore_above_the_repository_does_not_speak_for_it(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.py\n")
    (tmp_path / ".aiignore").write_text("b.py\n")
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    files = IgnoreFiles()
    assert files.reason((repository / "a.py").as_uri()) is None
    assert files.reason((repository / "b.py").as_uri()) is not None
    assert files.reason((tmp_path / "a.py").as_uri()) is not None
    (repository / ".gitignore").write_text("a.py\n")
    assert files.reason((repository / "deep" / "a.py").as_uri()) is not None


@pytest.mark.parametrize(
    "uri", ["untitled:Untitled-1", "file:///a%00b/c.py", "", "inmemory://model/1", "file:///"]
)
def test_documents_without_a_file_may_leave(uri: str) -> None:
    assert IgnoreFiles().reason(uri) is None


def test_an_ignore_file_that_cannot_be_read_ignores_nothing(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").mkdir()
    (tmp_path / ".aiignore").write_bytes(b"\xff\xfe*.py\n\xffk.py\n")
    files = IgnoreFiles()
    assert files.reason((tmp_path / "k.py").as_uri()) is None


def test_an_unchanged_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".aiignore").write_text("k.py\n")
    files = IgnoreFiles()
    assert files.reason((tmp_path / "k.py").as_uri()) is not None
    opened: list[str] = []
    original = Path.open
    monkeypatch.setattr(
        Path, "open", lambda self, *rest: opened.append(os.fspath(self)) or original(self, *rest)
    )
    assert files.reason((tmp_path / "k.py").as_uri()) is not None
    assert opened == []
