"""`midstream serve`: the language server on stdio, or on a loopback port."""

import argparse
import asyncio
import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING, BinaryIO

from lsp_server.engine import logs
from lsp_server.lsp.dispatch import Intake
from lsp_server.lsp.server import Door, build
from lsp_server.lsp.transport import TransportWriter, pipe_writer, read_pipe, take_stdout
from lsp_server.settings import Log
from lsp_server.texts import commands as texts

if TYPE_CHECKING:
    from lsp_server.lsp.session import ConfigurableModels


SWITCH = 0.0005
"""Seconds for which another thread may keep the event loop waiting; Python's default is ten times as long."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("serve", help=texts.SERVE)
    parser.add_argument("--stdio", action="store_true", help=texts.SERVE_STDIO)
    parser.add_argument("--tcp", type=int, metavar="PORT", help=texts.SERVE_TCP)


def run(arguments: argparse.Namespace) -> int:
    logs.configure(Log())
    sys.setswitchinterval(SWITCH)
    if arguments.tcp is not None:
        return asyncio.run(serve_tcp(arguments.tcp))
    stdout = take_stdout()
    status = asyncio.run(serve_stdio(sys.stdin.buffer, stdout))
    # A reader thread may still sit in a blocking read; nothing it could bring is wanted any more.
    sys.stderr.flush()
    os._exit(status)


async def serve_stdio(stdin: BinaryIO, stdout: BinaryIO) -> int:
    """Serve until the client says exit, or is gone. The status is 0 after a proper shutdown."""
    door = new_door()
    protocol = door.server.protocol
    protocol.set_writer(await pipe_writer(stdout))
    reading = asyncio.create_task(read_pipe(stdin, Intake(protocol, door.ended)))
    return await until_gone(door, reading)


async def serve_tcp(port: int) -> int:
    """Serve the first client that connects."""
    connected: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
    connected = asyncio.get_running_loop().create_future()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if connected.done():
            writer.close()
        else:
            connected.set_result((reader, writer))

    listener = await asyncio.start_server(accept, "127.0.0.1", port)
    print(
        "midstream: " + texts.LISTENING.format(port=listener.sockets[0].getsockname()[1]),
        file=sys.stderr,
        flush=True,
    )
    reader, writer = await connected
    listener.close()
    door = new_door()
    door.server.protocol.set_writer(TransportWriter(writer.transport))
    intake = Intake(door.server.protocol, door.ended)

    async def read() -> None:
        while data := await reader.read(1 << 16):
            intake(data)

    status = await until_gone(door, asyncio.create_task(read()))
    writer.close()
    return status


def new_door() -> Door:
    """Where a client comes in; the models are put together once it has its answer to `initialize`."""

    def models() -> "ConfigurableModels":
        from lsp_server.cli.compose import ConfiguredModels

        return ConfiguredModels(os.environ)

    return build(models, os.environ)


async def until_gone(door: Door, reading: asyncio.Task[None]) -> int:
    """Wait for exit, the end of input, a signal or gibberish, then end everything that runs."""
    loop = asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGINT"):
        with contextlib.suppress(NotImplementedError, AttributeError):
            loop.add_signal_handler(getattr(signal, name), door.ended.set)
    waiting = asyncio.create_task(door.ended.wait())
    await asyncio.wait([reading, waiting], return_when=asyncio.FIRST_COMPLETED)
    for task in (reading, waiting):
        task.cancel()
    await asyncio.gather(reading, waiting, return_exceptions=True)
    await door.close()
    return 0 if door.server.protocol.was_shut_down else 1
