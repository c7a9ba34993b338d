"""The blank that stands before the cursor already."""

from lsp_server.core.completion.context import Context

_OPERATORS = "=<>!&|+-*/%^"


def without_repeated_blank(candidate: str, context: Context) -> str:
    """After a blank in the middle of a line: the candidate without another one in front.

    Nothing is left where the model did not see the blank and goes on with the word or operator before it.
    """
    seen = context.before_line.rstrip(" \t")
    if not seen or seen == context.before_line:
        return candidate
    if context.stripped and _joins(seen[-1], candidate[:1]):
        return ""
    return candidate.lstrip(" \t")


def _joins(a: str, b: str) -> bool:
    return bool(b) and ((_in_word(a) and _in_word(b)) or (a in _OPERATORS and b in _OPERATORS))


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"
