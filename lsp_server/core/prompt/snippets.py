"""Pieces of other places in a prompt, in front of the code at the cursor, which changes with each key."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import unquote

from lsp_server.core.prompt.budget import tokens
from lsp_server.core.prompt.fence import fence_for, fenced, one_line
from lsp_server.core.prompt.shapes import Fill, Snippet
from lsp_server.core.syntax.languages import commented

_LABELS = {
    "code": "From {path}, for reference only:",
    "definition": "From {path}, for reference only:",
    "edit": "A recent change in {path}, for reference only:",
}


def path_of(uri: str) -> str:
    """The file and its folder, as the model is told; what lies above them is nobody's business."""
    return one_line("/".join(unquote(uri.partition(":")[2]).replace("\\", "/").split("/")[-2:]).strip("/"))


def shown(snippet: Snippet) -> str:
    """A snippet as it stands in a prompt: a sentence and a fenced block, after a blank line."""
    block = fenced(snippet.text, "diff" if snippet.kind == "edit" else "", fence_for(snippet.text))
    return f"\n{_LABELS[snippet.kind].format(path=one_line(snippet.path))}\n{block}"


def file_context(path: str, language: str, snippets: Sequence[Snippet], room: int) -> str:
    """What is stable about a file: its path and the snippets that fit into `room` tokens."""
    parts = [f"File: {path} ({language})\n"]
    room -= tokens(parts[0])
    for snippet in snippets:
        part = shown(snippet)
        room -= tokens(part)
        if room < 0:
            break
        parts.append(part)
    return "".join(parts) + "\n"


def code_only(snippets: Sequence[Snippet]) -> tuple[Snippet, ...]:
    """The snippets that a model can read which knows nothing but code."""
    return tuple(snippet for snippet in snippets if snippet.kind != "edit")


def with_comments(fill: Fill) -> Fill:
    """The snippets as comments before the code, for hosts that have no field for them.

    They are left out where the language has no comments, or where a comment of theirs could not be closed.
    """
    if not fill.snippets:
        return fill
    lines: list[str] = []
    for snippet in fill.snippets:
        text = [f"From {one_line(snippet.path)}:", *snippet.text.splitlines()]
        rendered = [commented(line.rstrip(), fill.language).rstrip() for line in text]
        if any(not _is_comment(line, fill.language) for line in rendered):
            continue
        lines += [*rendered, ""]
    prefix = "".join(line + "\n" for line in lines) + fill.prefix
    return replace(fill, prefix=prefix, snippets=())


def _is_comment(line: str, language: str) -> bool:
    """Whether nothing of a line is outside the comment."""
    start, _, end = commented("\n", language).partition("\n")
    start, end = start.strip(), end.strip()
    if not start:
        return False
    return line.startswith(start) and (not end or line.find(end) == len(line) - len(end))
