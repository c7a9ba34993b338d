"""Paths and URIs as Windows, macOS and Linux clients send them, judged without such a machine."""

from pathlib import Path, PureWindowsPath

import pytest

from lsp_server.cli.headless import place
from lsp_server.core.guard import IgnoreFile, may_leave, path_of
from lsp_server.core.prompt.completion import path_of as shown_path
from lsp_server.engine import ignore
from lsp_server.engine.ignore import IgnoreFiles

PATHS = {
    "file:///c%3A/Users/ada/a.py": "/c:/Users/ada/a.py",
    "file:///C:/Users/ada/a.py": "/c:/Users/ada/a.py",
    "file:///C%3A/Users/ada/My%20Code/%C3%BC.py": "/c:/Users/ada/My Code/ü.py",
    "file:///c:\\Users\\ada\\a.py": "/c:/Users/ada/a.py",
    "file://server/share/a.py": "//server/share/a.py",
    "file:////server/share/a.py": "//server/share/a.py",
    "file:///home/ada/a%23b.py": "/home/ada/a#b.py",
    "file:///home/ada/a%3Fb%25.py": "/home/ada/a?b%.py",
    "file:///home/ada/a.py#L3": "/home/ada/a.py",
    "vscode-remote://wsl%2Bubuntu/home/ada/a.py": "//wsl+ubuntu/home/ada/a.py",
    "vscode-notebook-cell:/c%3A/Users/ada/n.ipynb#W0": "/c:/Users/ada/n.ipynb",
    "untitled:Untitled-1": "Untitled-1",
    "C:\\Users\\ada\\a.py": "/c:/Users/ada/a.py",
}


@pytest.mark.parametrize("uri", PATHS)
def test_the_path_inside_a_uri(uri: str) -> None:
    assert path_of(uri) == PATHS[uri]


URIS = {
    r"C:\Users\ada\a.py": "file:///C:/Users/ada/a.py",
    r"D:\My Code\ü ß.py": "file:///D:/My%20Code/%C3%BC%20%C3%9F.py",
    r"\\server\share\a.py": "file://server/share/a.py",
    r"c:\x\100%\#1.py": "file:///c:/x/100%25/%231.py",
}
"""Paths of Windows, and their URIs as Python writes them."""


@pytest.mark.parametrize("path", URIS)
def test_every_path_of_windows_survives_its_uri(path: str) -> None:
    windows = PureWindowsPath(path)
    expected = windows.as_posix()
    if windows.drive.endswith(":"):
        expected = "/" + windows.drive.lower() + expected[len(windows.drive) :]
    assert path_of(URIS[path]) == expected


@pytest.mark.parametrize(
    "uri", ["file:///c%3A/Users/ada/project/a%20b.py", "file:///C:\\Users\\ada\\project\\a b.py"]
)
def test_a_model_is_told_the_file_and_its_folder_only(uri: str) -> None:
    assert shown_path(uri) == "project/a b.py"


WINDOWS_IGNORE = IgnoreFile("/c:/Work", ".gitignore", "Secrets/\n*.Local\n")


@pytest.mark.parametrize("uri", ["file:///C%3A/Work/secrets/a.py", "file:///c:/Work/x/a.LOCAL"])
def test_case_does_not_matter_where_the_file_system_does_not_tell_it(uri: str) -> None:
    assert may_leave(path_of(uri), [WINDOWS_IGNORE], fold=True) is not None
    assert may_leave(path_of(uri), [WINDOWS_IGNORE], fold=False) is None


def test_secret_files_are_known_by_any_case_and_any_slash() -> None:
    for uri in ("file:///c%3A/w/.ENV", "file:///C:\\w\\Server.PEM", "file://server/share/Id_Rsa"):
        assert may_leave(path_of(uri), []) is not None, uri


def test_a_path_goes_to_windows_without_its_first_slash(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ignore._native("/c:/w") == "/c:/w"
    monkeypatch.setattr(ignore.sys, "platform", "win32")
    assert ignore._native("/c:/w/.gitignore") == "c:/w/.gitignore"
    assert ignore._native("//server/share") == "//server/share"


def test_a_link_is_judged_by_its_target_too(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/.gitignore").write_text("a.py\n")
    (tmp_path / "real/a.py").write_text("")
    (tmp_path / "link.py").symlink_to(tmp_path / "real/a.py")
    assert IgnoreFiles().reason((tmp_path / "link.py").as_uri()) is not None


@pytest.mark.parametrize(
    "text, path",
    [(r"C:\w\a.py:3:9", r"C:\w\a.py"), ("C:/w/a.py:3:9", "C:/w/a.py"), (r"\\s\x\a.py:3:9", r"\\s\x\a.py")],
)
def test_a_place_on_the_command_line_may_have_a_drive(text: str, path: str) -> None:
    found, line, column = place(text, column=True)
    assert (str(found), line, column) == (path, 3, 9)
