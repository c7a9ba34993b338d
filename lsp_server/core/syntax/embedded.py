"""Languages inside a page: which script or style sheet a place lies in."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from lsp_server.core.syntax.grammar import Grammar
from lsp_server.core.syntax.language import Language
from lsp_server.core.syntax.languages import language_of

_LANGUAGE = re.compile(r"\s(?:lang|type)\s*=\s*[\"']?(?:text/|application/)?(?:x-)?([\w+-]+)")
_SCRIPTS = {"module": "javascript", "babel": "javascript", "ecmascript": "javascript"}


def embedded(path: Sequence[Node], page: Grammar) -> tuple[Node, Language] | None:
    """The raw text that a path ends in, and its language; None outside of one, or for other data."""
    if len(path) < 2 or path[-1].type != "raw_text" or path[-2].type not in page.embeds:
        return None
    default = "css" if path[-2].type == "style_element" else "javascript"
    start_tag = (path[-2].children[0].text or b"").decode(errors="replace")
    named = _LANGUAGE.search(start_tag)
    language_id = named[1].lower() if named else default
    language = language_of(_SCRIPTS.get(language_id, language_id))
    return (path[-1], language) if language and language.grammar else None
