"""The server as an editor starts it."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from tests.support.lsp_client import LspClient
from tests.support.model_server import TOKEN, ModelServer


class LspProcess(LspClient):
    """A client with the process of its server."""

    process: asyncio.subprocess.Process | None = None
    stderr = ""

    async def quit(self) -> int:
        """An orderly end; the exit status. Fails when anything but messages was on stdout."""
        await self.request("shutdown")
        self.notify("exit")
        return await self.gone()

    async def gone(self) -> int:
        status = await self.process.wait() if self.process else 0
        await self.pump
        assert not self.stray, f"stray bytes on stdout: {self.stray[:200]!r}"
        return status


@contextlib.asynccontextmanager
async def running_server(
    *arguments: str, environment: Mapping[str, str] | None = None, program: str = ""
) -> AsyncIterator[LspProcess]:
    """`python -m lsp_server serve`, or a program, over stdio; it is ended with its context."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *(("-c", program) if program else ("-m", "lsp_server", "serve")),
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "MIDSTREAM_TEST_KEY": TOKEN, **(environment or {})},
        limit=1 << 26,
    )
    assert process.stdin and process.stdout and process.stderr
    errors = asyncio.create_task(process.stderr.read())
    client = LspProcess(process.stdout, process.stdin)
    client.process = process
    try:
        yield client
        client.hang_up()
        await asyncio.wait_for(process.wait(), 20)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        process._transport.close()  # type: ignore[attr-defined]
        said = (await errors).decode()
        await asyncio.wait([client.pump])
        client.give_up()
    assert "Traceback" not in said, said
    client.stderr = said


def options_for(server: ModelServer, **settings: Any) -> dict[str, Any]:
    """initializationOptions that send every task to the model server, without a debounce."""
    return {
        "models": {
            "test": {
                "protocol": "responses-ws",
                "url": server.face.url,
                "model": "scripted",
                "key": "env:MIDSTREAM_TEST_KEY",
                "cancel": "event",
            }
        },
        "tasks": {"complete": "test", "edit": "test", "explain": "test", "escalate": "test"},
        "complete": {"debounce": 0},
        **settings,
    }
