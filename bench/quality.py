"""How good the embedded model is through the whole chain, on holes in real code.

From prompt to filters, host and socket included, as `midstream complete` goes. With `--peer` beside it the
same weights under `/infill` as llama.vim asks, whose first line is what counts; its long prompts take time.
The holes lie in packages that are installed here, and are the same in every run with the same packages.
"""

import argparse
import ast
import asyncio
import io
import keyword
import os
import random
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from time import perf_counter

from bench.harness import embedded
from bench.harness.measure import spread, table
from lsp_server.cli.complete import MeasuredModels
from lsp_server.cli.headless import HeadlessEditor
from lsp_server.core.document import Change
from lsp_server.core.text import Range
from lsp_server.engine.suggestion import Ask
from lsp_server.settings import load_user

PACKAGES = ("pygls", "websockets", "anyio", "click", "attr", "pluggy", "cattrs", "h11")
PLACES = 5
KINDS = ("member", "word", "word to line end", "line to its end", "line", "block")


@dataclass(frozen=True, slots=True)
class Hole:
    """`before` and `after` surround the cursor, between them once stood `missing`."""

    kind: str
    name: str
    before: str
    missing: str
    after: str


@dataclass(frozen=True, slots=True)
class Result:
    """`text` is what would be shown, empty when nothing is; `replaced` characters behind it go with it."""

    text: str
    replaced: int
    first: float | None
    evaluated: float | None

    def fits(self, hole: Hole) -> bool:
        """Whether accepting it restores the code; of a block its first line counts."""
        wanted = hole.missing.rstrip()
        wanted = wanted.lstrip("\n").partition("\n")[0] if hole.kind == "block" else wanted
        shown = self.text.lstrip("\n") if hole.kind == "block" else self.text
        behind = hole.after[: self.replaced]
        return bool(shown) and shown.rstrip() == (wanted + behind).rstrip()

    def parses(self, hole: Hole) -> bool:
        text = self.text.rstrip("\n") + ("\n" if hole.kind == "block" else "")
        try:
            ast.parse(hole.before + text + hole.after[self.replaced :])
        except (SyntaxError, ValueError):
            return False
        return True


def files() -> Iterator[Path]:
    for package in PACKAGES:
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            for path in sorted(Path(folder).rglob("*.py")):
                if "tests" not in path.parts and 4_000 < path.stat().st_size < 60_000:
                    yield path


def holes(places: int) -> list[Hole]:
    """One of each kind near each of so many places."""
    chance, found = random.Random(11), list[Hole]()
    candidates = list(files())
    chance.shuffle(candidates)
    for path in candidates:
        if len({hole.name for hole in found}) >= places:
            break
        here = list(holes_of(path, chance))
        found += here if len(here) == len(KINDS) else []
    return found


def holes_of(path: Path, chance: random.Random) -> Iterator[Hole]:
    text = path.read_text("utf-8")
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines))]
    functions = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
        if 8 <= node.end_lineno - node.body[0].lineno <= 40
    ]
    if not functions:
        return
    function = chance.choice(functions)
    first, last = function.body[0].lineno + 1, function.end_lineno or 0
    names = [
        (token, before)
        for before, token in pairwise(tokenize.generate_tokens(io.StringIO(text).readline))
        if token.type == tokenize.NAME and first < token.start[0] <= last and len(token.string) > 4
        if not keyword.iskeyword(token.string)
    ]

    def hole(kind: str, start: int, end: int) -> Hole:
        return Hole(kind, path.name, text[:start], text[start:end], text[end:])

    members = [token for token, before in names if before.string == "."]
    for kind, of, keep in (("member", members, 0), ("word", [token for token, _ in names], 2)):
        if of:
            token = chance.choice(of)
            at = starts[token.start[0] - 1] + token.start[1]
            yield hole(kind, at + keep, at + len(token.string))
            if kind == "word":
                token = chance.choice(of)
                at = starts[token.start[0] - 1] + token.start[1]
                end = starts[token.start[0] - 1] + len(lines[token.start[0] - 1].rstrip("\n"))
                yield hole("word to line end", at + chance.randrange(2, len(token.string)), end)
    code = [
        number
        for number in range(first, last)
        if len(lines[number].strip()) > 12 and lines[number].strip()[0] not in "#\"'"
    ]
    behind = [
        (number, lines[number].index(mark) + len(mark))
        for number in code
        for mark in (" = ", "return ", "(", "if ")
        if mark in lines[number]
    ]
    if behind:
        number, column = chance.choice(behind)
        yield hole(
            "line to its end", starts[number] + column, starts[number] + len(lines[number].rstrip("\n"))
        )
    if code:
        number = chance.choice(code)
        indent = len(lines[number]) - len(lines[number].lstrip())
        yield hole("line", starts[number] + indent, starts[number] + len(lines[number].rstrip("\n")))
    blocks = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.If | ast.For | ast.While | ast.With) and node.body[0].lineno > node.lineno
        if lines[node.body[0].lineno - 2].rstrip().endswith(":")
    ]
    if blocks:
        body = chance.choice(blocks).body
        opener = body[0].lineno - 2
        start, end = starts[opener] + len(lines[opener].rstrip("\n")), starts[(body[-1].end_lineno or 1) - 1]
        yield hole("block", start, end + len(lines[(body[-1].end_lineno or 1) - 1].rstrip("\n")))


class Chain:
    """Our product without an editor."""

    def __init__(self, folder: Path) -> None:
        (folder / "config.toml").write_text("")
        os.environ["MIDSTREAM_CONFIG"] = str(folder / "config.toml")
        settings, _ = load_user(os.environ)
        self.models = MeasuredModels(os.environ)
        self.models.configure(settings, lambda status: None)
        self.editor = HeadlessEditor(settings, self.models)
        self._file = folder / "hole.py"
        self._file.write_text("")
        self._document = self.editor.open(self._file)

    async def ask(self, hole: Hole) -> Result:
        self.models.timings.clear()
        uri, encoding = self._document.uri, self.editor.workspace.encoding
        document = self.editor.workspace.get(uri) or self._document
        whole = Range(document.position(0, encoding), document.position(document.length, encoding))
        text = Change(whole, hole.before + hole.after)
        self.editor.assistant.document_changed(uri, [text], document.version + 1)
        changed = self.editor.workspace.get(uri)
        assert changed
        document = changed
        items = await self.editor.assistant.complete(Ask(document, len(hole.before), invoked=True))
        timings = self.models.timings
        told = timings.get("firstTokenMs"), timings.get("promptTokensEvaluated")
        if not items:
            return Result("", 0, *told)
        return Result(items[0].text, items[0].span.end - items[0].span.start, *told)

    async def close(self) -> None:
        await self.editor.assistant.shutdown()
        await self.models.close()


async def as_llama_vim(peer: embedded.Peer, hole: Hole) -> Result:
    """The first line of the answer; a block's is that behind its opener."""
    before, newline, line = hole.before.rpartition("\n")
    answer = await peer.infill(before + newline, line, hole.after, 48)
    text = answer.text.lstrip("\n") if hole.kind == "block" else answer.text
    return Result(text.partition("\n")[0].rstrip(), 0, answer.first, answer.evaluated)


def share(part: int, of: int) -> str:
    return f"{100 * part / of:.0f} %" if of else "-"


def row(name: str, pairs: Sequence[tuple[Hole, Result]]) -> tuple[str, ...]:
    shown = [(hole, result) for hole, result in pairs if result.text]
    right = sum(result.fits(hole) for hole, result in shown)
    return (
        name,
        str(len(pairs)),
        share(len(shown), len(pairs)),
        share(right, len(pairs)),
        share(right, len(shown)),
        share(sum(result.parses(hole) for hole, result in shown), len(shown)),
        spread([result.first for _, result in pairs]),
        spread([result.evaluated for _, result in pairs]),
    )


async def main() -> None:
    parser = argparse.ArgumentParser(description="How good the embedded model is at holes in real code.")
    parser.add_argument("places", nargs="?", type=int, default=PLACES, help="places, each with six holes")
    parser.add_argument("--peer", action="store_true", help="also ask /infill")
    parser.add_argument("-v", "--verbose", action="store_true", help="print each hole")
    arguments = parser.parse_args()
    if reason := embedded.missing():
        print(f"Skipped: {reason}.")
        return
    chosen = holes(arguments.places)
    seen: dict[str, list[tuple[Hole, Result]]] = {"midstream": []}
    started = perf_counter()
    with embedded.own_host() as folder:
        chain = Chain(folder)
        try:
            await chain.ask(chosen[0])
            for hole in chosen:
                seen["midstream"].append((hole, await chain.ask(hole)))
        finally:
            await chain.close()
        if arguments.peer:
            seen["/infill"] = []
            async with embedded.peer() as other:
                for hole in chosen:
                    seen["/infill"].append((hole, await as_llama_vim(other, hole)))
    if arguments.verbose:
        for who, pairs in seen.items():
            for hole, result in pairs:
                shown = (hole.before[-30:], hole.missing[:50], result.text)
                verdict = "right" if result.fits(hole) else "wrong"
                print(f"{who}: {hole.kind}, {hole.name}, {verdict}:", *map(repr, shown))
    rows = list[tuple[str, ...]]()
    for who, pairs in seen.items():
        rows += [row(f"{who}: {kind}", [pair for pair in pairs if pair[0].kind == kind]) for kind in KINDS]
        rows.append(row(f"{who}: all", pairs))
    head = (
        "holes",
        "n",
        "shown",
        "right",
        "right of shown",
        "parses of shown",
        "first token, ms",
        "evaluated",
    )
    table(f"Quality of the embedded model, {perf_counter() - started:.0f} s", head, rows)


if __name__ == "__main__":
    asyncio.run(main())
