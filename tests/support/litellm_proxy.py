"""The litellm proxy: an independent gateway that many teams put before their models (PyPI, litellm[proxy]).

It brings a hundred packages, so it is installed into an environment of its own in the user's cache, and
only the tests of the nightly run use it.
"""

import asyncio
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import platformdirs

from tests.support.aimock import free_port

PACKAGE = "litellm[proxy]==1.108.7"
KEY = "sk-key-of-the-tests-0123456789abcdef"


@asynccontextmanager
async def litellm(folder: Path, upstream: str) -> AsyncIterator[str]:
    """The base URL of a proxy whose model `m` is what an OpenAI-compatible host at `upstream` serves."""
    program = await asyncio.to_thread(_installed)
    settings = {"model": "openai/upstream", "api_base": upstream, "api_key": "key-of-the-upstream"}
    config = {
        "model_list": [{"model_name": "m", "litellm_params": settings}],
        "litellm_settings": {"num_retries": 0},
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
    }
    file = folder / "config.yaml"
    # JSON is YAML.
    file.write_text(json.dumps(config))
    port = free_port()
    arguments = ("--config", str(file), "--host", "127.0.0.1", "--port", str(port))
    environment = {
        **os.environ,
        "LITELLM_MASTER_KEY": KEY,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
    }
    with (folder / "litellm.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            program, *arguments, env=environment, cwd=folder, stdout=log, stderr=log
        )
    try:
        while not await asyncio.to_thread(_answers, f"http://127.0.0.1:{port}/health/liveliness"):
            assert process.returncode is None, (folder / "litellm.log").read_text()[-2000:]
        yield f"http://127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _installed() -> str:
    if program := os.environ.get("MIDSTREAM_TEST_LITELLM"):
        return program
    folder = platformdirs.user_cache_path("midstream-tests", appauthor=False) / PACKAGE.partition("==")[2]
    program = folder / "litellm" / "bin" / "litellm"
    if not program.exists():
        home = program.parents[1]
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, capture_output=True)
        pip = [str(home / "bin" / "python"), "-m", "pip", "install", "-q", PACKAGE]
        subprocess.run(pip, check=True, capture_output=True)
    return str(program)
