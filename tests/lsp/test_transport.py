"""The two ways to read standard input: by the event loop, and by a thread where a loop cannot watch it."""

import asyncio
import os
import threading

import pytest

from lsp_server.lsp import transport
from lsp_server.lsp.transport import Framer, StreamWriter, pipe_writer, read_pipe


def message(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


@pytest.fixture(params=["watched", "in a thread, as on Windows"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No event loop of Windows can watch a pipe of the process's own; files are read that way everywhere."""
    if request.param != "watched":
        monkeypatch.setattr(transport, "watchable", lambda stream: False)


@pytest.mark.usefixtures("way")
async def test_what_comes_in_is_read_in_order_until_the_end() -> None:
    got, framer, first = list[bytes](), Framer(), asyncio.Event()

    def receive(data: bytes) -> None:
        got.extend(framer.push(data))
        first.set()

    read, write = os.pipe()
    bodies = [b"one", b"{}" * 70_000, "dr\N{LATIN SMALL LETTER E WITH ACUTE}i".encode()]
    with open(read, "rb", buffering=0) as stdin, open(write, "wb", buffering=0) as client:
        reading = asyncio.create_task(read_pipe(stdin, receive))
        client.write(message(bodies[0]))
        await first.wait()
        assert got == bodies[:1]
        await asyncio.to_thread(client.write, b"".join(map(message, bodies[1:])))
        client.close()
        await reading
    assert got == bodies


@pytest.mark.usefixtures("way")
async def test_a_reader_can_be_cancelled_while_nothing_comes() -> None:
    read, write = os.pipe()
    with open(read, "rb", buffering=0) as stdin, open(write, "wb", buffering=0) as client:
        reading = asyncio.create_task(read_pipe(stdin, never))
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        assert reading.cancelled()
        client.close()
        await gone("stdin")


@pytest.mark.usefixtures("way")
async def test_what_is_written_arrives_whole() -> None:
    read, write = os.pipe()
    with open(read, "rb", buffering=0) as client, open(write, "wb", buffering=0) as stdout:
        writer = await pipe_writer(stdout)
        asyncio.get_running_loop().call_soon(writer.write, message(b"one"))
        assert await asyncio.to_thread(client.read, 100) == message(b"one")
        writer.close()
        assert await asyncio.to_thread(client.read, 100) == b""


async def test_a_client_that_is_gone_is_a_broken_pipe() -> None:
    read, write = os.pipe()
    os.close(read)
    with open(write, "wb", buffering=0) as stdout, pytest.raises(BrokenPipeError):
        StreamWriter(stdout).write(b"x")


def never(data: bytes) -> None:
    raise AssertionError(f"unexpected {data!r}")


async def gone(name: str) -> None:
    """Wait for the threads of this name: one that reads ends with its pipe."""
    for thread in threading.enumerate():
        if thread.name == name:
            await asyncio.to_thread(thread.join)
