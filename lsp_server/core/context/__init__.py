"""What of other places helps to understand the code at the cursor, chosen from what is open.

`index` reads a document once, `place` is what is around the cursor, `recent` what changed; `choose` picks.
"""

from lsp_server.core.context.choice import Chosen, Wanted, choose, known_names
from lsp_server.core.context.index import Indexed, Part, family, indexed, read, sections
from lsp_server.core.context.place import Place, place_at
from lsp_server.core.context.recent import Burst, Ended, Hunk, ended, grown, hunk_of, is_near

__all__ = [
    "Burst",
    "Chosen",
    "Ended",
    "Hunk",
    "Indexed",
    "Part",
    "Place",
    "Wanted",
    "choose",
    "ended",
    "family",
    "grown",
    "hunk_of",
    "indexed",
    "is_near",
    "known_names",
    "place_at",
    "read",
    "sections",
]
