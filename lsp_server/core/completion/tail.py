"""The end of a candidate that repeats what follows the cursor."""

from lsp_server.core.completion.brackets import Scanner
from lsp_server.core.completion.context import Context


def without_repeated_tail(candidate: str, context: Context) -> str:
    """The candidate without the end that is there after it already.

    On a line with text after the cursor: the longest end that the text after the cursor starts with, cut
    at whole words, and only where the brackets close at least as well without it. On other lines: all lines
    from some line on, if the lines below the cursor start with them; that can be the whole candidate.
    """
    if context.after_line.strip():
        return _without_overlap(candidate, context)
    lines = candidate.split("\n")
    whole = [context.before_line + lines[0], *lines[1:]]
    for index in range(0 if not context.before_line.strip() else 1, len(lines)):
        if any(line.strip() for line in whole[index:]) and _start_with(context.following, whole[index:]):
            return "\n".join(lines[:index])
    return candidate


def _without_overlap(candidate: str, context: Context) -> str:
    after = context.after_line.rstrip()
    for length in range(min(len(candidate), len(after)), 0, -1):
        if not candidate.endswith(after[:length]):
            continue
        kept = candidate[:-length]
        if _cuts_word(kept, after[:length]) or _cuts_word(after[:length], after[length:]):
            continue
        if _unbalanced(context, kept) <= _unbalanced(context, candidate):
            return kept
    return candidate


def _start_with(following: tuple[str, ...], lines: list[str]) -> bool:
    """True when the lines below are these; the last of these may have been cut short."""
    *complete, last = [line.rstrip() for line in lines]
    below = [line.rstrip() for line in following[: len(lines)]]
    return len(below) == len(lines) and below[:-1] == complete and bool(last) and below[-1].startswith(last)


def _cuts_word(a: str, b: str) -> bool:
    pair = a[-1:], b[:1]
    return all(character.isalnum() or character == "_" for character in pair) and all(pair)


def _unbalanced(context: Context, candidate: str) -> int:
    scanner = Scanner(context.language)
    marks = scanner.push(context.before_line + candidate + context.after_line)
    return len(scanner.open) + sum(mark.text != "," for mark in marks)
