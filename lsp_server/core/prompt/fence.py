"""Delimiters that the text between them cannot close."""

import re

from lsp_server.core.text import split_lines

_INFO = {"typescriptreact": "tsx", "javascriptreact": "jsx", "shellscript": "bash", "plaintext": ""}


def fence_for(*texts: str) -> str:
    """A Markdown fence longer than any run of backticks in the texts."""
    runs = (len(run) for text in texts for run in re.findall("`+", text))
    return "`" * max(3, 1 + max(runs, default=0))


def fenced(text: str, language: str, fence: str) -> str:
    """`text` as a fenced block; a line end is added only where the last line has none."""
    end = "" if not text or split_lines(text)[-1] == "" else "\n"
    return f"{fence}{_INFO.get(language, language)}\n{text}{end}{fence}\n"


def marker_for(*texts: str) -> str:
    """A mark for the cursor that none of the texts contains."""
    joined = "\n".join(texts)
    number = 0
    while (marker := f"<|cursor{number or ''}|>") in joined:
        number += 1
    return marker


def one_line(text: str) -> str:
    """`text` as data inside a line of a prompt: a path or a message cannot begin a line of its own."""
    return " ".join(text.split())
