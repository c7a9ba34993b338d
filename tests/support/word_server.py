"""A language server that completes words, as any other server beside ours would.

    python -m tests.support.word_server FILE WORD ...

It creates FILE once it has been told of a document.
"""

import sys
from pathlib import Path

from lsprotocol import types
from pygls.lsp.server import LanguageServer

READY, WORDS = Path(sys.argv[1]), sys.argv[2:]
server = LanguageServer("words", "1")


@server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions())
def complete(params: types.CompletionParams) -> types.CompletionList:
    """The words that begin as the one at the cursor; the list is complete, so typing on filters it."""
    line = server.workspace.get_text_document(params.text_document.uri).lines[params.position.line]
    before = line[: params.position.character]
    word = before[len(before.rstrip("abcdefghijklmnopqrstuvwxyz")) :]
    start = types.Position(params.position.line, params.position.character - len(word))
    items = [
        types.CompletionItem(
            known, detail="a word", text_edit=types.TextEdit(types.Range(start, params.position), known)
        )
        for known in WORDS
        if word and known.startswith(word)
    ]
    return types.CompletionList(is_incomplete=False, items=items)


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
def opened(params: types.DidOpenTextDocumentParams) -> None:
    """Say that the server serves."""
    READY.touch()


@server.command("words.here")
def here() -> None:
    """Nothing; Helix shows no picker of commands while no server has any."""


if __name__ == "__main__":
    server.start_io()
