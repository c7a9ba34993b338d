"""Taking keys out of text that people will read: messages, logs, reports."""

import re
from collections.abc import Iterable
from urllib.parse import quote

MASK = "[key]"
PIECE = 8
"""Characters of a key that are already a part of it: providers quote keys in part."""

_LOOKS_LIKE_A_KEY = re.compile(
    r"(?i:\b(?:bearer|basic)\s+)(?P<scheme>[\w.~+/=-]{8,})"
    r"|(?i:\b(?:authorization|(?:x-)?api[-_]?key|x-goog-api-key|access_token|token)[\"']?\s*[:=]\s*[\"']?)"
    r"(?P<field>(?!(?i:bearer|basic)\b)[^\s\"',;&}\]]{8,})"
    r"|\b(?P<shape>(?:sk|pk|rk|gsk|xai|hf|ghp|gho|glpat|csk)[-_][\w-]{12,}|AIza[\w-]{20,})"
    r"|://[^\s/:@]*:(?P<password>[^\s/@]+)@"
)


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without the given secrets, without pieces of them, and without what looks like a key."""
    for secret in secrets:
        # As it is first: replacing a word of the other form in it would leave shorter pieces behind.
        for form in dict.fromkeys((secret, quote(secret, safe=""))):
            text = _without(text, form)
    return _LOOKS_LIKE_A_KEY.sub(_masked, text)


def _masked(match: re.Match[str]) -> str:
    name = match.lastgroup or ""
    start, end = match.start(name) - match.start(), match.end(name) - match.start()
    return match.group()[:start] + MASK + match.group()[end:]


def _without(text: str, secret: str) -> str:
    """The text with every run of at least PIECE characters that also stands in the secret replaced."""
    if len(secret) < PIECE:
        return text.replace(secret, MASK) if len(secret) >= 4 else text
    pieces = {secret[index : index + PIECE] for index in range(len(secret) - PIECE + 1)}
    kept: list[str] = []
    done = index = 0
    while index <= len(text) - PIECE:
        if text[index : index + PIECE] not in pieces:
            index += 1
            continue
        end = index + PIECE
        while end < len(text) and text[end - PIECE + 1 : end + 1] in pieces:
            end += 1
        kept += text[done:index], MASK
        done = index = end
    return "".join(kept) + text[done:]
