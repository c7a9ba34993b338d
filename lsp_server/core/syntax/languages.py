"""The languages by the names that editors give them."""

from lsp_server.core.syntax.grammar import missing_reason
from lsp_server.core.syntax.language import Language, Layout
from lsp_server.core.syntax.parsed_languages import PARSED_LANGUAGES
from lsp_server.core.syntax.plain_languages import PLAIN_LANGUAGES

__all__ = [
    "LANGUAGES",
    "Language",
    "Layout",
    "comment_prefix",
    "commented",
    "language_of",
    "missing_grammars",
]

LANGUAGES: tuple[Language, ...] = PARSED_LANGUAGES + PLAIN_LANGUAGES

_BY_ID = {name: language for language in LANGUAGES for name in (language.id, *language.aliases)}


def language_of(language_id: str) -> Language | None:
    """The language that an LSP language id means, whatever its case; None for an unknown one."""
    return _BY_ID.get(language_id.lower())


def comment_prefix(language_id: str) -> str:
    """What starts a comment up to the end of the line; empty where there is no such comment."""
    language = language_of(language_id)
    return language.line_comment if language else ""


def commented(text: str, language_id: str) -> str:
    """One line of text as a comment of the language; unchanged where none is known."""
    language = language_of(language_id)
    if language is None:
        return text
    if language.line_comment:
        return f"{language.line_comment} {text}"
    if language.block_comment:
        return f"{language.block_comment[0]} {text} {language.block_comment[1]}"
    return text


def missing_grammars() -> dict[str, str]:
    """Why a grammar cannot be loaded, by language id; only those that cannot. Loads every grammar."""
    reasons = {each.id: missing_reason(each.grammar) for each in PARSED_LANGUAGES if each.grammar}
    return {language_id: reason for language_id, reason in reasons.items() if reason}
