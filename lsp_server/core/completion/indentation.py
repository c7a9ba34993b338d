"""Indentation, read from lines."""

from collections.abc import Sequence

_WIDTHS = (4, 2, 3)


def indentation(line: str) -> str:
    """The blanks in front of a line."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def columns(line: str) -> int:
    """How far a line is indented, a tab counted as four blanks."""
    return len(indentation(line).expandtabs(4))


def indent_unit(lines: Sequence[str]) -> str:
    """One level of indentation as most of `lines` have it; four blanks when none is indented."""
    levels = [indentation(line) for line in lines]
    tabs = sum(level.startswith("\t") for level in levels)
    blanks = [len(level) for level in levels if level.startswith(" ")]
    if tabs > len(blanks):
        return "\t"
    # A few lines are aligned with something rather than indented, so a width need not divide all of them.
    for width in _WIDTHS:
        if blanks and 10 * sum(length % width == 0 for length in blanks) >= 9 * len(blanks):
            return " " * width
    return " " * _WIDTHS[0]
