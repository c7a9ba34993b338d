"""The indentation of a candidate in the style of the document."""

from collections.abc import Sequence
from math import gcd

from lsp_server.core.completion.context import Context
from lsp_server.core.completion.indentation import indentation

_USUAL_WIDTHS = (4, 2, 8, 3)


def in_document_style(candidate: str, context: Context) -> str:
    """Tabs where the document has tabs, and blanks where it has blanks."""
    lines = candidate.split("\n")
    # In the middle of a line the first blanks of a candidate are no indentation.
    kept, indented = (lines[:1], lines[1:]) if context.before_line.strip() else ([], lines)
    if context.indent == "\t":
        width = _width(indented, context.before_line.count("\t"))
        return "\n".join([*kept, *(_with_tabs(line, width) for line in indented)])
    return "\n".join([*kept, *(_with_blanks(line, context.indent) for line in indented)])


def _width(lines: Sequence[str], depth: int) -> int:
    """How many blanks the model takes for one tab; its first indented line is at most one level deeper."""
    levels = [len(indentation(line)) for line in lines if line.startswith(" ") and line.strip()]
    common = gcd(*levels)
    fitting = [width for width in _USUAL_WIDTHS if levels and common % width == 0]
    return next((width for width in fitting if levels[0] // width <= depth + 1), *fitting[-1:] or (4,))


def _with_tabs(line: str, width: int) -> str:
    blanks = indentation(line)
    if " " not in blanks:
        return line
    columns = len(blanks.expandtabs(width))
    return "\t" * (columns // width) + " " * (columns % width) + line[len(blanks) :]


def _with_blanks(line: str, unit: str) -> str:
    blanks = indentation(line)
    return blanks.replace("\t", unit) + line[len(blanks) :]
