"""The real weights, from the user's cache: tests that need them run where they are."""

import os
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lsp_server.local import weights
from lsp_server.local.answers import Done, Piece
from lsp_server.local.catalogue import known
from lsp_server.local.engine import Engine, load
from lsp_server.wire.server import Create, Message

SMALL = "smollm2-135m"
DEFAULT = weights.DEFAULT.name
SOURCE = Path(weights.__file__).read_text()


def real_weights(name: str) -> weights.Weights:
    """The weights of this name; where everything is required they are fetched, elsewhere the test skips."""
    if not weights.is_present(name):
        if not os.environ.get("MIDSTREAM_REQUIRE"):
            pytest.skip(f"needs the weights of {name}: run `midstream model pull {name}`")
        weights.pull(known(name))
    return weights.find(name)


def cache_with(name: str, patch: pytest.MonkeyPatch, folder: Path) -> None:
    """A cache of its own for this test, with the real weights in it and no host."""
    found = real_weights(name)
    patch.setenv("MIDSTREAM_CACHE", str(folder))
    entry = known(name)
    entry.path.parent.mkdir(parents=True)
    for path in (found.path, found.path.with_name(f"{found.path.name}.verified")):
        (entry.path.parent / path.name).symlink_to(path)


@asynccontextmanager
async def engine(name: str = SMALL, **options: Any) -> AsyncIterator[Engine]:
    opened = await load(real_weights(name), **options)
    try:
        yield opened
    finally:
        await opened.close()


@dataclass(frozen=True, slots=True)
class Answer:
    pieces: tuple[Piece, ...]
    done: Done

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @property
    def cached(self) -> float:
        return self.done.timings["cached_tokens"]

    @property
    def evaluated(self) -> float:
        return self.done.timings["evaluated_tokens"]


def plain(prefix: str, key: str = "", **fields: Any) -> Create:
    """One line, continued from a prefix."""
    variables = {"prefix": prefix}
    options: dict[str, Any] = {"max_output_tokens": 8, "stop": ("\n",)} | fields
    return Create("", prompt_id="plain", prompt_variables=variables, prompt_cache_key=key, **options)


def chat(text: str, **fields: Any) -> Create:
    return Create("", messages=(Message("user", text),), **{"max_output_tokens": 8, **fields})


async def ask(opened: Engine, create: Create) -> Answer:
    pieces: list[Piece] = []
    async with aclosing(opened.generate(create)) as items:
        async for item in items:
            if isinstance(item, Done):
                return Answer(tuple(pieces), item)
            pieces.append(item)
    raise AssertionError("the answer has no end")
