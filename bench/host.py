"""The embedded model through its host, against the same llama.cpp called in this process.

And the warm keystroke in the middle of a line: through the host as our prompts are laid out, against
`/infill` as llama.vim lays it out, with the flags of its manual. Needs the weights of the catalogue's
default, and fetches none.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from bench.harness import embedded
from bench.harness.client import source
from bench.harness.embedded import Answer
from bench.harness.measure import ratio, spread, table
from lsp_server.core.document import Document
from lsp_server.core.prompt import Fill, completion_prompt
from lsp_server.local import launcher, weights
from lsp_server.local.catalogue import DEFAULT
from lsp_server.local.engine import CONTEXT, _open

ROUNDS, TOKENS = 5, 16
TYPED = "sorted(names)[:limit]"
BEFORE, AFTER = 60, 64
"""Lines around the cursor of the warm keystroke; llama.vim sends all of these, and we a window."""


def here(handle: Callable[..., None], body: dict[str, Any]) -> Answer:
    """One call of llama.cpp in this process, with what the host asks of it."""
    answer = Answer()

    def heard(chunk: Any) -> bool:
        for part in chunk if isinstance(chunk, list) else [chunk]:
            for choice in part.get("choices", ()):
                answer.heard(choice.get("text") or "")
            answer.evaluated = part.get("timings", {}).get("prompt_n", answer.evaluated)
        return False

    common = {"stream": True, "return_progress": True, "temperature": 0, "cache_prompt": True, "id_slot": 0}
    handle(common | body, heard)
    return answer


async def hosted(socket: ClientConnection, fill: Fill, tokens: int) -> Answer:
    """The same through the host."""
    variables = {"prefix": fill.prefix, "suffix": fill.suffix, "blanks": fill.blanks}
    frame = {
        "type": "response.create", "model": DEFAULT.name, "max_output_tokens": tokens, "temperature": 0,
        "prompt": {"id": fill.layout, "variables": variables}, "prompt_cache_key": "bench",
    }  # fmt: skip
    answer = Answer()
    await socket.send(json.dumps(frame))
    while True:
        event = json.loads(await socket.recv())
        match event["type"]:
            case "response.output_text.delta":
                answer.heard(event["delta"])
            case "response.completed" | "response.incomplete":
                answer.evaluated = event["response"]["timings"]["evaluated_tokens"]
                return answer
            case "response.failed" | "error":
                raise RuntimeError(event)


async def beside_in_process(socket: ClientConnection, found: weights.Weights) -> tuple[list[Answer], ...]:
    """The same prompts, in turn; they end where nothing is to be healed, so that the work is the same."""
    server = await asyncio.to_thread(_open, found, 1, CONTEXT)
    text = "\n".join(source(40))
    ours, theirs = list[Answer](), list[Answer]()
    for number in range(ROUNDS + 1):
        prompt = f"{text}\n\n\ndef sum_of_part_{number}(path):\n"
        body = {"prompt": prompt, "n_predict": TOKENS}
        fill = Fill(prompt, "", "plain", False, "", "python")
        # Whoever comes second meets what the first has left in the caches of the processor.
        if number % 2:
            ours.append(await hosted(socket, fill, TOKENS))
        theirs.append(await asyncio.to_thread(here, server.handle_completions, body))
        if not number % 2:
            ours.append(await hosted(socket, fill, TOKENS))
    del server
    return theirs[1:], ours[1:]


async def keys(socket: ClientConnection) -> tuple[list[Answer], list[Answer]]:
    """A line that is typed key by key in front of the rest of it; the first key warms both up."""
    above, below = "\n".join(source(BEFORE)), "\n".join(source(AFTER))
    style = DEFAULT.style
    theirs, ours = list[Answer](), list[Answer]()
    async with embedded.peer() as peer:
        for typed in range(1, len(TYPED) + 1, 3):
            before, line = f"{above}\n\n\ndef rows_of(path, names, limit):\n", "    rows = " + TYPED[:typed]
            after = f" or []\n    return rows\n\n\n{below}\n"
            document = Document.open("file:///bench.py", "python", 1, before + line + after)
            theirs.append(await peer.infill(before, line, after, 4))
            prompt = completion_prompt(document, len(before + line), style)
            assert isinstance(prompt, Fill)
            ours.append(await hosted(socket, prompt, 4))
    return theirs[1:], ours[1:]


async def main() -> None:
    if reason := embedded.missing():
        print(f"Skipped: {reason}.")
        return
    with embedded.own_host():
        endpoint = await launcher.ensure_host(DEFAULT.name)
        async with connect(endpoint.url, additional_headers=endpoint.headers, proxy=None) as socket:
            theirs, ours = await beside_in_process(socket, weights.find(DEFAULT.name))
            rows = [
                row("first token, ms", first(theirs), first(ours), "+ 3 ms"),
                row("tokens a second", [a.rate for a in theirs], [a.rate for a in ours], ">= 0.97"),
            ]
            table("The host", ("median (middle half)", "in process", "midstream", "ratio", "target"), rows)
            theirs, ours = await keys(socket)
    evaluated = [[answer.evaluated for answer in answers] for answers in (theirs, ours)]
    rows = [
        row("first token, ms", first(theirs), first(ours), "<= 0.2"),
        row("tokens of the prompt evaluated", evaluated[0], evaluated[1], ""),
    ]
    table("A warm key in mid-line", ("median (middle half)", "/infill", "midstream", "ratio", "target"), rows)


def row(
    name: str, theirs: Sequence[float | None], ours: Sequence[float | None], target: str
) -> tuple[str, ...]:
    return (name, spread(theirs), spread(ours), ratio(ours, theirs), target)


def first(answers: list[Answer]) -> list[float | None]:
    return [answer.first for answer in answers]


if __name__ == "__main__":
    asyncio.run(main())
