"""Comments that stand for code which the model did not write: "... rest of the code unchanged ..."."""

import re

from lsp_server.core.text import split_lines

_DOTS = r"(?:\.{3,}|…)"
_COMMENT = re.compile(
    r"(?:#|//|/\*+|--|;+|%|!|<!--|\{/\*)\s*(?P<text>.*?)\s*(?:\*/\}?|-->)?\s*",
)
# With dots in front one of these words is enough; without them the whole comment must be such a phrase.
_WORDS = re.compile(
    r"\b(rest|remain\w*|existing|unchanged|same|others?|omitted|previous|original|as before|snip)\b",
    re.IGNORECASE,
)
_PART = (
    r"(?:code|function|method|class|file|implementation|body|module|logic|lines?|methods|functions|content)"
)
_PHRASE = re.compile(
    rf"\(?(?:(?:the )?(?:rest|remainder)(?: of (?:the |this |your )?(?:\w+ )?{_PART})?"
    rf"|(?:the )?(?:existing|previous|original|remaining|other|unchanged) {_PART}"
    r"|unchanged|same as (?:before|above|the original)|no changes?|(?:code )?omitted(?: for brevity)?)"
    r"(?: (?:(?:remains?|stays?|is|goes|continues)(?: the)? ?)?"
    r"(?:same|unchanged|here|omitted|needed|as before|as is|below|above)?(?: for brevity)?)?\)?\.?",
    re.IGNORECASE,
)


def placeholder_in(text: str, original: str) -> str | None:
    """The first line of `text` that stands for code left out, or None; a line of `original` never does."""
    known = {line.strip() for line in split_lines(original)}
    above = ""
    for line in split_lines(text):
        if line.strip() not in known and stands_for_code(line, above):
            return line.rstrip("\r\n")
        above = line if line.strip() else above
    return None


def stands_for_code(line: str, above: str) -> bool:
    """True for a line whose comment, or dots, stand for code; `above` is the last line that is not blank."""
    bare = line.strip()
    if re.fullmatch(_DOTS, bare):
        # After a colon these dots are the body of a Python function.
        return not above.rstrip().endswith(":")
    if match := _COMMENT.fullmatch(bare):
        return _elides(match["text"]) or _PHRASE.fullmatch(match["text"].strip(" .…-")) is not None
    trailing = re.search(rf"(?:#|//|/\*)\s*({_DOTS}.*)", bare)
    return trailing is not None and _elides(trailing[1])


def _elides(comment: str) -> bool:
    dots = re.match(_DOTS, comment)
    if dots is None:
        return False
    words = comment[dots.end() :].strip(" .…*/->}")
    return not words or _WORDS.search(words) is not None
