"""When a stream has given all that will be shown."""

from lsp_server.core.completion.block import block_end
from lsp_server.core.completion.closers import Limit
from lsp_server.core.completion.context import Context
from lsp_server.core.completion.repeated_indent import without_repeated_indent
from lsp_server.core.completion.style import in_document_style
from lsp_server.core.reply.runaway import Runaway


class Stopper:
    """Push machine that is true once nothing that follows can be shown, so that the stream may end.

    That is so after the one line that was asked for, at the closer or comma that the text after the cursor
    has already, at the first complete line outside the block, and in a loop.
    """

    def __init__(self, context: Context, *, block: bool) -> None:
        self._context = context
        self._block = block
        self._limit = Limit(context)
        self._loop = Runaway()
        self._text = ""
        self.stopped = False

    def push(self, text: str) -> bool:
        """Take the next piece of the cleaned reply."""
        self._text += text
        self.stopped = (
            self.stopped
            or bool(self._limit.push(text))
            or self._loop.push(text)
            or ("\n" in text and self._line_ended())
        )
        return self.stopped

    def _line_ended(self) -> bool:
        complete = self._text.rpartition("\n")[0]
        shown = without_repeated_indent(in_document_style(complete, self._context), self._context)
        if not self._context.before_line.strip() and not shown:
            # Either only blank lines have come, after which the answer starts, or it left the block.
            return complete.strip() != ""
        lines = shown.split("\n")
        return not self._block or block_end(lines, self._context) < len(lines)
