"""How fast a rewrite of 1,000 lines is turned into edits, beside what the fastest models write.

A token counts as four characters.
"""

import random
from collections.abc import Callable
from time import perf_counter

from lsp_server.core.diff import StreamingDiff

LINES = 1000
TOKEN = 4
FASTEST_MODEL = 10_000  # Tokens a second.


def source() -> list[str]:
    chance = random.Random(1)
    names = ["value", "result", "items", "index", "self.total"]
    common = ["\n", "    return result\n", "        }\n", "    else:\n"]
    return [
        chance.choice(common)
        if chance.random() < 0.3
        else f"    {chance.choice(names)} = compute_{row}({chance.choice(names)}, {row})\n"
        for row in range(LINES)
    ]


def kept(lines: list[str]) -> list[str]:
    return lines


def renamed(lines: list[str]) -> list[str]:
    return [line.replace("compute", "derive") for line in lines]


def sprinkled(lines: list[str]) -> list[str]:
    """Every ninth line is gone, and every tenth has a new one above it."""
    new = []
    for row, line in enumerate(lines):
        if row % 10 == 0:
            new.append("    check()\n")
        if row % 9:
            new.append(line)
    return new


def fresh(lines: list[str]) -> list[str]:
    return [f"    other[{row}].append(({row}, None))\n" for row in range(len(lines))]


def moved(lines: list[str]) -> list[str]:
    return lines[len(lines) // 2 :] + lines[: len(lines) // 2]


def seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def main() -> None:
    old = source()
    for change in (kept, renamed, sprinkled, fresh, moved):
        new = change(old)
        text = "".join(new)
        tokens = [text[start : start + TOKEN] for start in range(0, len(text), TOKEN)]

        def stream(tokens: list[str] = tokens) -> None:
            diff = StreamingDiff("".join(old))
            for token in tokens:
                diff.push(token)
            diff.finish()

        rate = len(tokens) / seconds(stream)
        print(
            f"{change.__name__:9} {rate:9,.0f} tokens/s, {rate / FASTEST_MODEL:4.0f} times the fastest model"
        )


if __name__ == "__main__":
    main()
