"""An answer that goes on after the closers which the editor has put behind the cursor."""

from dataclasses import replace

from lsp_server.core.completion.brackets import CLOSERS
from lsp_server.core.completion.closers import within_closers
from lsp_server.core.completion.context import Context


def past_closers(text: str, whole: str, context: Context) -> tuple[str, int]:
    """The text to offer, and how many characters after the cursor it replaces.

    `text` is what fits in front of those closers, `whole` the line of the answer that it was cut from. Only
    where nothing but closers follows on the line, and the answer has the same ones and goes on after them.
    """
    there = context.after_line.rstrip()
    through = text + there
    if not there or set(there) - CLOSERS - set("\"'`") or not whole.startswith(through):
        return text, 0
    behind = replace(context, before_line=context.before_line + through, after_line="")
    more = within_closers(whole[len(through) :], behind).rstrip()
    return (through + more, len(there)) if more.strip(" ;,") else (text, 0)
