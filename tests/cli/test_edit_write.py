"""Writing the result of `midstream edit` to its file."""

from pathlib import Path

import pytest

from lsp_server.cli.edit import write
from lsp_server.engine.errors import EditRefused


def test_B41_a_file_that_changed_on_disk_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "b.py"
    file.write_bytes(b"theirs = 2\r\n")
    with pytest.raises(EditRefused, match="changed by something else"):
        write(file, "x = 1\r\n", "x = 3\r\n")
    assert file.read_bytes() == b"theirs = 2\r\n"
    assert [each.name for each in tmp_path.iterdir()] == ["b.py"]


def test_a_file_keeps_its_line_ends_and_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "b.py"
    file.write_bytes(b"x = 1\r\n")
    file.chmod(0o755)
    write(file, "x = 1\r\n", "x = 3\r\n")
    assert file.read_bytes() == b"x = 3\r\n" and file.stat().st_mode & 0o777 == 0o755
