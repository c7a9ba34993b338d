"""The embedded model through its host, and the same weights under llama.cpp's own server.

Needs the weights of the catalogue's default and fetches none.
"""

import asyncio
import json
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from lsp_server.local import launcher, weights
from lsp_server.local.catalogue import DEFAULT
from lsp_server.local.processor import missing_runtime, physical_cores

PREFIX_LINES, SUFFIX_LINES = 256, 64
"""How many lines llama.vim sends by default, before and after the cursor's."""


def missing() -> str:
    """Why these benches cannot run here; empty when they can."""
    if missing_runtime():
        return "the runtime of the embedded model is not installed: `midstream[local]`"
    return "" if weights.is_present(DEFAULT.name) else "the weights are not here: `midstream model pull`"


@dataclass(slots=True)
class Answer:
    """Times in milliseconds since the request was made; `evaluated` is in tokens of the prompt."""

    began: float = field(default_factory=perf_counter)
    text: str = ""
    times: list[float] = field(default_factory=list)
    evaluated: float = 0.0

    def heard(self, text: str) -> None:
        self.text += text
        if text:
            self.times.append((perf_counter() - self.began) * 1000)

    @property
    def first(self) -> float | None:
        return self.times[0] if self.times else None

    @property
    def rate(self) -> float | None:
        """Pieces a second after the first."""
        if len(self.times) < 3:
            return None
        return 1000 * (len(self.times) - 1) / (self.times[-1] - self.times[0])


@contextmanager
def own_host() -> Iterator[Path]:
    """A folder in which the weights lie, and in which a host of this bench's own is started and ended."""
    found = weights.find(DEFAULT.name)
    with tempfile.TemporaryDirectory(prefix="midstream-bench-") as name:
        folder = Path(name)
        os.environ |= {"MIDSTREAM_CACHE": name, "MIDSTREAM_USAGE_FILE": str(folder / "usage.db")}
        DEFAULT.path.parent.mkdir(parents=True)
        for path in (found.path, found.path.with_name(f"{found.path.name}.verified")):
            (DEFAULT.path.parent / path.name).symlink_to(path)
        try:
            yield folder
        finally:
            launcher.stop_host()


@dataclass(frozen=True, slots=True)
class Peer:
    """llama.cpp's own server with the flags that llama.vim documents."""

    port: int
    key: str

    async def infill(self, before: str, line: str, after: str, tokens: int) -> Answer:
        """Ask as llama.vim does: the lines before, the line up to the cursor, what follows the cursor."""
        before = "".join(before.splitlines(keepends=True)[-PREFIX_LINES:])
        rest, *lines = after.splitlines(keepends=True) or [""]
        after = rest + "".join(lines[:SUFFIX_LINES])
        return await asyncio.to_thread(self._infill, before, line, after, tokens)

    def _infill(self, before: str, line: str, after: str, tokens: int) -> Answer:
        body = {
            "input_prefix": before, "input_suffix": after, "input_extra": [], "prompt": line,
            "n_predict": tokens, "n_indent": len(line) - len(line.lstrip()), "top_k": 40, "top_p": 0.9,
            "samplers": ["top_k", "top_p", "infill"], "stream": True, "cache_prompt": True,
            "t_max_prompt_ms": 500, "t_max_predict_ms": 1000, "id_slot": 0, "seed": 1,
        }  # fmt: skip
        connection = HTTPConnection("127.0.0.1", self.port, timeout=120)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        answer, told = Answer(), False
        connection.request("POST", "/infill", json.dumps(body), headers)
        for raw in connection.getresponse():
            if raw.startswith(b"data: {"):
                chunk = json.loads(raw[6:])
                answer.heard(chunk.get("content", ""))
                if "timings" in chunk:
                    answer.evaluated, told = chunk["timings"]["prompt_n"], True
        connection.close()
        if not told:
            raise RuntimeError("no answer from /infill")
        return answer


@asynccontextmanager
async def peer() -> AsyncIterator[Peer]:
    """The flags of llama.vim's manual: `-fa -ub 1024 -b 1024 --ctx-size 0 --cache-reuse 256`."""
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    xllamacpp: Any = import_module("xllamacpp")
    flags = xllamacpp.CommonParams()
    flags.model.path, flags.n_ctx, flags.n_parallel = str(weights.find(DEFAULT.name).path), 0, 1
    flags.n_batch = flags.n_ubatch = 1024
    flags.n_cache_reuse, flags.port, flags.api_keys, flags.verbosity = 256, 0, ["bench"], 1
    # Otherwise the two sides read prompts with different numbers of threads.
    flags.cpuparams.n_threads = flags.cpuparams_batch.n_threads = physical_cores()
    server = await asyncio.to_thread(xllamacpp.Server, flags)
    yield Peer(int(server.listening_address.rpartition(":")[2]), "bench")
    del server
