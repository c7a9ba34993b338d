"""Two open documents: one that is typed in, and one that may help there."""

import asyncio
from dataclasses import replace
from typing import Any

from lsp_server.core.prompt import Style
from lsp_server.engine.suggestion import Ask
from lsp_server.settings import Context
from tests.engine.stage import URI, Stage
from tests.support.virtual_time import passes

SHOP_URI = "file:///w/shop.py"
SHOP = '''\
def total(items, tax=0.2):
    """The sum of all prices."""
    result = 0
    for item in items:
        result += item.price
    log(result)
    return result * (1 + tax)
'''
CART = "from shop import total\n\n\ndef pay(items):\n    due = total(items)\n    <|>\n"
SIGNATURE = "def total(items, tax=0.2):"
STYLES = [Style("chat"), Style("fim", context_tokens=500)]


class Two(Stage):
    """`a.py` is being typed in, `shop.py` is open beside it and has been read."""

    def __init__(
        self,
        source: str = CART,
        other: str = SHOP,
        uri: str = SHOP_URI,
        context: Context | None = None,
        **given: Any,
    ) -> None:
        super().__init__(source, **given)
        self.settings = replace(self.settings, context=context or Context())
        self.beside(uri, other)

    def beside(self, uri: str, text: str, language: str = "python") -> None:
        self.editor.open(uri, text, language)
        self.deliver()

    def put(self, new: str, instead_of: str, uri: str) -> None:
        """The user replaces the first occurrence of a text."""
        at = self.text(uri).index(instead_of)
        self.editor.replace(uri, at, at + len(instead_of), new)
        self.deliver()

    async def asked(self, uri: str = URI, at: int | None = None) -> str:
        """All that a completion sends, after everything open has been read."""
        await passes(1.0)
        document = self.workspace.get(uri)
        assert document
        cursor = self.source.at if at is None else at
        number = len(self.model.calls)
        answer = asyncio.ensure_future(self.assistant.complete(Ask(document, cursor, invoked=True)))
        call = await self.call(number)
        call.finish("")
        await answer
        return call.text
