"""aimock: an independent mock of the vendors' protocols, a real server on loopback (npm, @copilotkit/aimock).

It is installed once into the user's cache when Node.js is there; without Node.js its tests skip.
"""

import asyncio
import json
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import platformdirs
import pytest

PACKAGE = "@copilotkit/aimock@1.43.0"


@asynccontextmanager
async def aimock(tmp_path: Path, *fixtures: dict[str, Any]) -> AsyncIterator[str]:
    """The base URL of a server that answers by these fixtures, without a path."""
    program = _installed()
    file = tmp_path / "fixtures.json"
    file.write_text(json.dumps({"fixtures": fixtures}))
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        "node", program, "-p", str(port), "-f", file, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    drain: asyncio.Task[bytes] | None = None
    try:
        while b"listening" not in (line := await process.stdout.readline()):
            assert line, "aimock ended before it listened"
        drain = asyncio.create_task(process.stdout.read())
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()
        if drain is not None:
            await drain


def says(prompt: str, content: str, **options: Any) -> dict[str, Any]:
    """A fixture: to this prompt, this answer. Options: `chunkSize`, `latency` (ms), `truncateAfterChunks`."""
    return {"match": {"userMessage": prompt}, "response": {"content": content}, **options}


def fails(prompt: str, status: int, kind: str, message: str) -> dict[str, Any]:
    error = {"message": message, "type": kind}
    return {"match": {"userMessage": prompt}, "response": {"error": error, "status": status}}


def _installed() -> Path:
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("aimock needs Node.js and npm; install them to run its tests")
    folder = platformdirs.user_cache_path("midstream-tests", appauthor=False) / PACKAGE.rpartition("/")[2]
    program = folder / "node_modules/@copilotkit/aimock/dist/cli.js"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), PACKAGE]
        run = subprocess.run(command, capture_output=True, text=True, timeout=100)
        if run.returncode != 0:
            pytest.skip(f"aimock could not be installed: {run.stderr.strip().splitlines()[-1:]}")
    return program


def free_port() -> int:
    """A port on which nothing listens just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
