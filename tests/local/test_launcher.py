"""Finding, starting and replacing the host, with real processes and no weights to speak of."""

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from lsp_server.engine.errors import ModelMissing, Unreachable
from lsp_server.local import launcher, state
from lsp_server.local.lock import file_lock, is_locked
from tests.local.made import BYTES

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses signals")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A file that passes for weights until they are loaded, and a cache where no host runs."""
    monkeypatch.setenv("MIDSTREAM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(launcher, "ANSWER_PATIENCE", 1.0)
    file = tmp_path / "own.gguf"
    file.write_bytes(BYTES)
    yield str(file)
    launcher.stop_host()
    for thread in threading.enumerate():
        if thread.name == "host reaper":
            thread.join()


def pid() -> int:
    status = launcher.host_status()
    assert status is not None
    return int(status["pid"])


async def test_a_host_is_started_once_and_found_again(model: str) -> None:
    first = await launcher.ensure_host(model)
    started = pid()
    assert await launcher.ensure_host(model) == first
    assert pid() == started
    async with connect(first.url, additional_headers=first.headers, proxy=None) as socket:
        await socket.send(json.dumps({"type": "response.create", "model": model, "input": "x"}))
        events = [json.loads(await socket.recv()) for _ in range(3)]
    # The file is no model: the client is told in words, and the host lives on.
    assert events[-1]["error"]["code"] == "model_not_found"
    assert "GGUF" in events[-1]["error"]["message"]
    assert pid() == started


async def test_B124_servers_that_start_at_once_share_one_host(model: str) -> None:
    program = (
        "import sys; from lsp_server.local.launcher import start_host; print(start_host(sys.argv[1]).url)"
    )
    servers = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", program, model, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    urls = {(await server.communicate())[0] for server in servers}
    own = await asyncio.gather(*(launcher.ensure_host(model) for _ in range(3)))
    assert urls == {f"{endpoint.url}\n".encode() for endpoint in own}
    assert len(urls) == 1


async def test_a_host_outlives_the_server_that_started_it_and_serves_the_next(model: str) -> None:
    program = "import sys; from lsp_server.local.launcher import start_host; start_host(sys.argv[1])"
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", program, model)
    assert await server.wait() == 0
    started = pid()
    await launcher.ensure_host(model)
    assert pid() == started


async def test_a_killed_host_is_replaced_and_reaped(model: str) -> None:
    await launcher.ensure_host(model)
    killed = pid()
    os.kill(killed, signal.SIGKILL)
    for thread in threading.enumerate():
        if thread.name == "host reaper":
            thread.join()
    assert not Path(f"/proc/{killed}").exists()
    await launcher.ensure_host(model)
    assert pid() != killed


async def test_a_host_that_hangs_is_replaced(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await launcher.ensure_host(model)
    hanging = pid()
    os.kill(hanging, signal.SIGSTOP)
    await launcher.ensure_host(model)
    assert pid() != hanging


async def test_a_host_whose_token_was_lost_is_replaced(model: str) -> None:
    await launcher.ensure_host(model)
    unreachable = pid()
    state.token_path().write_text("wrong")
    assert launcher.host_status() is None
    endpoint = await launcher.ensure_host(model)
    assert pid() != unreachable
    assert endpoint.headers["Authorization"] == f"Bearer {state.token_path().read_text()}"


async def test_a_host_of_an_older_generation_is_replaced(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await launcher.ensure_host(model)
    older = pid()
    written = json.loads((state.host_dir() / "host.json").read_text())
    (state.host_dir() / "host.json").write_text(json.dumps(written | {"generation": 0}))
    await launcher.ensure_host(model)
    assert pid() != older


@pytest.mark.parametrize("left", ["dead", "alive", "garbage", "foreign"])
async def test_what_an_earlier_host_left_misleads_nobody(model: str, left: str) -> None:
    """A dead process, a process of somebody else under the same number, a broken file, a foreign port."""
    server = await asyncio.start_server(_hang_up, "127.0.0.1", 0)
    free = server.sockets[0].getsockname()[1]
    if left != "foreign":
        server.close()
        await server.wait_closed()
    number = 2**22 - 1 if left == "dead" else os.getpid()
    state.write_state(state.State(number, f"ws://127.0.0.1:{free}/v1", str(state.token_path())), "old")
    if left == "garbage":
        (state.host_dir() / "host.json").write_text('{"pid": 1')
    state.write_pid(number)
    await launcher.ensure_host(model)
    assert pid() not in (number, os.getpid())
    server.close()


async def _hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


async def test_what_a_host_writes_is_for_its_user_alone(model: str) -> None:
    await launcher.ensure_host(model)
    for name in ("token", "host.json", "host.pid"):
        assert stat.S_IMODE((state.host_dir() / name).stat().st_mode) == 0o600


async def test_a_second_host_in_the_foreground_gives_up(model: str) -> None:
    await launcher.ensure_host(model)
    second = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lsp_server", "host", "run"), stderr=subprocess.PIPE
    )
    _, errors = await second.communicate()
    assert second.returncode == 1
    assert f"A model host is running already (process {pid()})".encode() in errors


async def test_a_host_that_nobody_needs_ends_by_itself(model: str) -> None:
    host = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lsp_server", "host", "run", "--model", model, "--idle", "0.2"),
        stderr=subprocess.DEVNULL,
    )
    assert await host.wait() == 0
    assert launcher.host_status() is None
    assert not is_locked(state.lock_path())
    assert sorted(path.name for path in state.host_dir().iterdir()) == ["host.lock"]


async def test_a_host_with_a_client_does_not_end(model: str) -> None:
    host = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lsp_server", "host", "run", "--model", model, "--idle", "2"),
        stderr=subprocess.DEVNULL,
    )
    while launcher.host_status() is None:
        await asyncio.sleep(0)
    endpoint = await launcher.ensure_host(model)
    async with connect(endpoint.url, additional_headers=endpoint.headers, proxy=None):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(host.wait(), 2.5)
        assert pid() == host.pid
    assert await host.wait() == 0


def test_a_host_that_ends_as_it_starts_is_told_with_its_log(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(Unreachable, match=r"ended with status 1; .*host\.log says more"):
        launcher.start_host(model)


def test_without_weights_no_host_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDSTREAM_CACHE", str(tmp_path))
    with pytest.raises(ModelMissing, match="midstream model pull"):
        launcher.start_host()
    assert not state.host_dir().exists()


async def test_stop_ends_the_host_and_says_whether_there_was_one(model: str) -> None:
    assert not launcher.stop_host()
    await launcher.ensure_host(model)
    assert launcher.stop_host()
    assert launcher.host_status() is None
    assert not launcher.stop_host()


def test_a_lock_is_seen_by_others(tmp_path: Path) -> None:
    path = tmp_path / "a" / "lock"
    assert not is_locked(path)
    with file_lock(path):
        assert is_locked(path)
    assert not is_locked(path)
