"""What a completion is judged by: the code around the cursor."""

from dataclasses import dataclass

from lsp_server.core.completion.indentation import indent_unit
from lsp_server.core.document import Document

LINES_AROUND = 40


@dataclass(frozen=True, slots=True)
class Context:
    r"""The lines around the cursor, without their ends.

    `before_line` and `after_line` are the two parts of the cursor's line, `previous` the nearest line above
    that is not blank, `following` the lines below, as many as were read. `newline` ends the document's lines
    and `indent` is one level of its indentation. `stripped` says that the model did not see the blanks at the
    end of `before_line`.
    """

    before_line: str
    after_line: str
    previous: str = ""
    following: tuple[str, ...] = ()
    newline: str = "\n"
    indent: str = "    "
    language: str = ""
    stripped: bool = False


def context_at(
    document: Document, cursor: int, *, indent: str | None = None, stripped: bool = False
) -> Context:
    """The context of an offset; reads the neighbouring lines only.

    `indent` is what the client says that one level is; by default the lines around tell.
    """
    number = document.line_at(cursor)
    start = document.line_start(number)
    line = _bare(document.line(number))
    above = [_bare(row) for row in document.lines(max(0, number - LINES_AROUND), number)]
    below = [_bare(row) for row in document.lines(number + 1, number + 1 + LINES_AROUND)]
    return Context(
        before_line=line[: cursor - start],
        after_line=line[cursor - start :],
        previous=next((row for row in reversed(above) if row.strip()), ""),
        following=tuple(below),
        newline=document.newline,
        indent=indent or indent_unit([*above, line, *below]),
        language=document.language,
        stripped=stripped,
    )


def _bare(line: str) -> str:
    return line.rstrip("\r\n")
