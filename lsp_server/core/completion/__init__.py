"""What of a model's answer is offered at the cursor: a chain of small filters, in the order below."""

from collections.abc import Callable

from lsp_server.core.completion.blanks import without_idle_blanks
from lsp_server.core.completion.block import wants_block, within_block
from lsp_server.core.completion.closers import within_closers
from lsp_server.core.completion.confidence import confident
from lsp_server.core.completion.context import Context, context_at
from lsp_server.core.completion.control import without_control_tokens
from lsp_server.core.completion.echo import without_echo
from lsp_server.core.completion.overwrite import past_closers
from lsp_server.core.completion.repeated_blank import without_repeated_blank
from lsp_server.core.completion.repeated_indent import without_repeated_indent
from lsp_server.core.completion.reuse import remainder
from lsp_server.core.completion.runaway import without_repeats
from lsp_server.core.completion.stop import Stopper
from lsp_server.core.completion.style import in_document_style
from lsp_server.core.completion.tail import without_repeated_tail

__all__ = [
    "Context",
    "Stopper",
    "begin",
    "confident",
    "context_at",
    "finish",
    "finish_over",
    "remainder",
    "wants_block",
]

Filter = Callable[[str, Context], str]

# What the model did wrong whatever the place, and where the text starts.
START: tuple[Filter, ...] = (
    without_control_tokens,
    without_repeats,
    without_echo,
    in_document_style,
    without_repeated_indent,
    without_repeated_blank,
)
# How far the text may go, and what follows the cursor.
END: tuple[Filter, ...] = (within_block, within_closers, without_repeated_tail, without_idle_blanks)


def finish(candidate: str, context: Context) -> str:
    """The text to offer at the cursor, with the document's line ends; empty when there is nothing to offer.

    `candidate` is the cleaned reply, whole or as far as it has come.
    """
    return _passed(begin(candidate, context), context, END).replace("\n", context.newline)


def begin(candidate: str, context: Context) -> str:
    r"""The candidate as it starts at the cursor, its end not yet cut: what typing along must spell out.

    Its lines end in `\n`.
    """
    return _passed(candidate.replace("\r\n", "\n").replace("\r", "\n"), context, START)


def finish_over(candidate: str, context: Context) -> tuple[str, int]:
    """As `finish`, for an item with a range: the text, and how many characters after the cursor it replaces.

    That number is not 0 only where the answer goes on behind the closers that follow the cursor.
    """
    whole = begin(candidate, context)
    line = within_block(whole, context)
    text, replaced = past_closers(_passed(whole, context, END), line, context)
    return text.replace("\n", context.newline), replaced


def _passed(text: str, context: Context, filters: tuple[Filter, ...]) -> str:
    for narrower in filters:
        text = narrower(text, context)
    return text
