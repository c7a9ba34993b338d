"""Streamed rewrites: exact, minimal beside an independent line diff, and calm on screen."""

import argparse
import ast
import inspect
import random
import shutil
import tarfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core.diff import StreamingDiff
from lsp_server.core.edits import Edit, apply, replacement
from lsp_server.core.text import split_lines
from tests.support.operations import steps

# Few different lines, so that they come again and again, as braces and blank lines do.
LINES = ["\n", "}\n", "    }\n", "x = 1\n", "x = 2\n", "    return x\r\n", "    return y\r", "call(a, b)\n"]
blocks = st.lists(st.sampled_from(LINES), max_size=14).map("".join)
texts = blocks | st.text("ab\r\n", max_size=20)


def chunked(text: str, cuts: Sequence[int]) -> list[str]:
    borders = [0, *sorted(cut for cut in cuts if 0 < cut < len(text)), len(text)]
    return [text[start:end] for start, end in pairwise(borders)]


def streamed(old: str, chunks: Sequence[str]) -> list[Edit]:
    diff = StreamingDiff(old)
    return [edit for chunk in chunks for edit in diff.push(chunk)] + diff.finish()


def touched(edits: Sequence[Edit]) -> int:
    """Characters written and deleted."""
    return sum(len(edit.text) + edit.end - edit.start for edit in edits)


@given(texts, texts, st.lists(st.integers(0, 120), max_size=12))
def test_any_chunks_lead_exactly_to_the_new_text(old: str, new: str, cuts: list[int]) -> None:
    assert apply(old, streamed(old, chunked(new, cuts))) == new


@given(texts, texts)
def test_chunks_make_no_difference(old: str, new: str) -> None:
    assert streamed(old, list(new)) == streamed(old, [new])


@given(texts, texts)
def test_the_text_is_always_new_lines_then_old_lines_not_yet_reached(old: str, new: str) -> None:
    diff, now = StreamingDiff(old), old
    olds, news = split_lines(old), split_lines(new)
    for count, line in enumerate(news, 1):
        now = apply(now, diff.push(line))
        reached = {last for last in range(len(olds) + 1) if not last or may_be(olds[last - 1], news[:count])}
        assert any(
            now == "".join(news[:final]) + "".join(olds[first:])
            for final in range(count + 1)
            for first in reached
        )
    assert apply(now, diff.finish()) == new


def may_be(old: str, news: Sequence[str]) -> bool:
    """True when one of the new lines is the old one or looks like a changed form of it."""
    return any(SequenceMatcher(None, old.strip(), new.strip()).ratio() >= 0.5 for new in news)


numbered = st.lists(st.integers(100, 999).map("only {}\n".format), unique=True, max_size=6)


@given(blocks, blocks, numbered, st.integers(0, 6))
def test_unchanged_ends_are_never_touched(old: str, new: str, ends: list[str], cut: int) -> None:
    head, tail = "".join(ends[:cut]), "".join(ends[cut:])
    now = head + old + tail
    for edit in streamed(now, split_lines(head + new + tail)):
        assert len(head) <= edit.start and edit.end <= len(now) - len(tail)
        now = apply(now, [edit])
    assert now == head + new + tail


def smallest(old: str, new: str) -> int:
    """Characters that the smallest line diff touches: what is not common, its common ends left out.

    The table holds, for every pair of starts, how many characters of common lines follow.
    """
    olds, news = old.splitlines(keepends=True), new.splitlines(keepends=True)
    table = [[0] * (len(news) + 1) for _ in range(len(olds) + 1)]
    for row in reversed(range(len(olds))):
        for column in reversed(range(len(news))):
            same = len(olds[row]) + table[row + 1][column + 1] if olds[row] == news[column] else 0
            table[row][column] = max(same, table[row + 1][column], table[row][column + 1])
    total = row = column = 0
    gone, come = "", ""
    while row < len(olds) or column < len(news):
        here = table[row][column]
        if row < len(olds) and table[row + 1][column] == here:
            gone, row = gone + olds[row], row + 1
        elif column < len(news) and table[row][column + 1] == here:
            come, column = come + news[column], column + 1
        else:
            total, gone, come = total + trimmed(gone, come), "", ""
            row, column = row + 1, column + 1
    return total + trimmed(gone, come)


def trimmed(gone: str, come: str) -> int:
    edit = replacement(gone, come)
    return touched([edit]) if edit else 0


def functions(module: ModuleType) -> Iterator[str]:
    """Every function and class of a module, as it stands in the file."""
    source = inspect.getsource(module)
    lines = source.splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.end_lineno - node.lineno > 3:
            yield "".join(lines[node.lineno - 1 : node.end_lineno])


def change(function: str, other: str, chance: random.Random) -> str:
    """One to four of the changes that people ask for."""
    lines = function.splitlines(keepends=True)
    for _ in range(chance.randint(1, 4)):
        first = chance.randrange(1, len(lines))
        last = min(len(lines), first + chance.randint(1, 8))
        match chance.randrange(7):
            case 0:
                words = [word for word in "".join(lines).replace("(", " ").split() if word.isidentifier()]
                word = chance.choice(words)
                lines = [line.replace(word, f"{word}_value") for line in lines]
            case 1:
                lines[first:first] = other.splitlines(keepends=True)[1 : 1 + chance.randint(1, 12)]
            case 2 if len(lines) > 8:
                del lines[first:last]
            case 3:
                lines[first:last] = ["        if ready:\n", *(f"    {line}" for line in lines[first:last])]
            case 4:
                lines[first:first] = ["        # A reason why.\n"]
            case 5:
                moved = lines[first:last]
                del lines[first:last]
                place = chance.randint(1, max(1, len(lines)))
                lines[place:place] = moved
            case _:
                lines[first - 1] = lines[first - 1].rstrip("\n")[:-1] + ", extra=None)\n"
    return "".join(lines)


@cache
def corpus() -> list[tuple[str, str, int]]:
    """Real functions, how they were changed, and what the smallest diff touches."""
    chance = random.Random(1)
    olds = [text for module in (argparse, shutil, tarfile, textwrap) for text in functions(module)]
    olds = [text for text in olds if text.count("\n") < 150]
    pairs = [(old, change(old, chance.choice(olds), chance)) for old in olds]
    return [(old, new, smallest(old, new)) for old, new in pairs if old != new]


def by_line(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def by_token(text: str) -> list[str]:
    return [text[start : start + 4] for start in range(0, len(text), 4)]


@pytest.mark.parametrize("cut", [by_line, by_token])
def test_little_more_is_touched_than_by_the_smallest_diff(cut: Callable[[str], list[str]]) -> None:
    costs = [(touched(streamed(old, cut(new))), least) for old, new, least in corpus()]
    ratios = sorted(cost / least for cost, least in costs)
    assert len(ratios) > 200
    assert sum(cost for cost, _ in costs) <= 1.1 * sum(least for _, least in costs)
    assert ratios[len(ratios) * 95 // 100] <= 1.1


def check(old: str, new: str, *screens: str) -> None:
    """What is on screen while `new` comes line by line over `old`; `|` stands for a line end."""
    old, new = old.replace("|", "\n"), new.replace("|", "\n")
    diff, seen = StreamingDiff(old), [old]
    for line in by_line(new):
        seen.append(apply(seen[-1], diff.push(line)))
    seen.append(apply(seen[-1], diff.finish()))
    changes = [now for before, now in pairwise(seen) if now != before]
    assert changes == [screen.replace("|", "\n") for screen in [*screens, new]]


def test_a_changed_line_changes_where_it_stands() -> None:
    check("def f():|    a = 1|    return a|", "def f():|    a = 2|    return a|")


def test_several_changed_lines_change_one_by_one() -> None:
    check(
        "first(alpha)|second(beta)|third(gamma)|",
        "first(alpha, 1)|second(beta, 1)|third(gamma, 1)|",
        "first(alpha, 1)|second(beta)|third(gamma)|",
        "first(alpha, 1)|second(beta, 1)|third(gamma)|",
    )


def test_a_line_goes_when_a_later_one_has_come() -> None:
    check("import os|import re|import sys|pass|", "import os|import sys|pass|")


def test_what_the_stream_has_not_reached_stays() -> None:
    old = "def f():\n    one()\n    two()\n    three()\n    return 4\n"
    diff = StreamingDiff(old)
    now = apply(old, diff.push("def f():\n    something_else()\n    two"))
    assert now == old
    assert apply(now, diff.push("()\n")) == old.replace("one", "something_else")


def test_a_common_line_is_no_reason_to_skip_others() -> None:
    diff = StreamingDiff("if a:\n    go(first)\n    go(second)\n}\n\n")
    assert diff.push("if a:\n}\n\n") == []


def test_a_long_insertion_shows_line_by_line() -> None:
    added = [f"    line_{number} = function(argument_{number})|" for number in range(6)]
    check(
        "def f():|    return 1|",
        "".join(["def f():|", *added, "    return 1|"]),
        *["".join(["def f():|", *added[:count], "    return 1|"]) for count in range(3, 6)],
    )


def test_a_line_that_looks_like_the_next_one_is_inserted_not_exchanged() -> None:
    diff = StreamingDiff("        self.a = a\n        self.c = c\n")
    assert diff.push("        self.b = b\n") == []
    assert diff.push("        self.a = a\n") == [Edit(0, 0, "        self.b = b\n")]


def test_text_after_the_last_old_line_shows_at_once() -> None:
    diff = StreamingDiff("a\n")
    assert diff.push("a\nb\nc") == [Edit(2, 2, "b\n")]
    assert diff.finish() == [Edit(4, 4, "c")]


def test_an_empty_text() -> None:
    assert streamed("", ["a\n", "b"]) == [Edit(0, 0, "a\n"), Edit(2, 2, "b")]
    assert streamed("a\nb", []) == [Edit(0, 3, "")]
    assert streamed("", []) == []


@pytest.mark.parametrize("shape", ["kept", "changed", "fresh", "repeated", "reversed"])
def test_the_work_follows_the_number_of_lines(shape: str) -> None:
    """Ten times the lines take about ten times the steps, whatever the model makes of them."""

    def work(count: int) -> int:
        old = [f"    value_{row} = compute(row_{row}, {row})\n" for row in range(count)]
        new = {
            "kept": old,
            "changed": [line.replace("compute", "derive") for line in old],
            "fresh": [f"    {row}: another(line)\n" for row in range(count)],
            "repeated": ["    }\n", "\n"] * (count // 2),
            "reversed": old[::-1],
        }[shape]
        return steps(lambda: streamed("".join(old), new))

    assert work(1000) < 12 * work(100)
