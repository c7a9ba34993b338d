"""Scopes by lines alone: for languages without a grammar, and for code too broken for one."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from lsp_server.core.document import Document
from lsp_server.core.syntax import sections
from lsp_server.core.syntax.block import Block, ScopeKind, bare, width_of
from lsp_server.core.syntax.languages import Language

LONG_STATEMENT = 100
"""A statement of more lines is not taken as a whole where a part of it can be."""

_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|override|open|sealed"
    r"|inline|suspend|data|inner|partial|virtual|extern|unsafe|const|local|pure|elemental|impure|recursive"
    r"|declare|companion|implicit|case|pub(?:\([^)]*\))?|integer|real|logical|type\([^)]*\))\s+)*"
)
_FUNCTION = re.compile(
    rf"\s*{_MODIFIERS}(?:def|defp|defmacro|fun|func|fn|function(?!\s*\()|sub|proc|procedure|subroutine|method)\b"
    r"\s*\*?\s*(?:<[^>]*>\s*)?(?:\([^)]*\)\s*)?(?P<name>[\w.$:~?!]*\w[?!]?)",
    re.IGNORECASE,
)
_CLASS = re.compile(
    rf"\s*{_MODIFIERS}(?:class|struct|interface|trait|impl|enum|object|record|protocol|extension|actor|mixin)"
    r"(?:<[^>]*>)?\s+(?:class\s+)?(?P<name>\w+)(?!\s*=)"
)
_BOUND = re.compile(
    rf"\s*{_MODIFIERS}(?:(?:let|var|val)\s+)?(?P<name>[\w.]+)\s*[:=]\s*(?:async\s*)?"
    r"(?:function\b|\([^()]*\)[^=()]*=>|\w+\s*=>)"
)
_CALL_LIKE = re.compile(
    r"\s*(?=\S)(?!(?:if|for|while|switch|catch|else|do|return|with|foreach|using|lock|synchronized|when|match|try"
    r"|unless|until|repeat|case|select|elif|elseif|elsif|throw|new|await|yield|and|or|not)\b)"
    r"[\w<>,:&*~\[\]?.\s@]*?(?P<name>[~\w$]+)\s*\((?!.*(?:=>|\"|'))[^;]*$"
)
_CLOSER = re.compile(r"\s*(?:[)}\]]|</|(?:end\w*|fi|done|esac)\b)", re.IGNORECASE)
_GOES_ON = re.compile(r"\s*(?:[)}\]]+\s*)?(?:else|elif|elsif|elseif|except|finally|catch|rescue|ensure)\b")
_OPENS = re.compile(r".*(?:[({\[:]|\b(?:then|do)|\|)\s*$")
_BELONGS_ABOVE = re.compile(r"\s*[{)]")


def block_at(document: Document, language: Language | None, number: int, column: int) -> Block | None:
    """The block that line `number` lies in; on a blank line, `column` is how deep the cursor stands.

    None between blocks.
    """
    layout = language.layout if language else "blocks"
    if layout == "headings":
        return sections.heading_at(document, number)
    if layout == "paragraphs":
        return sections.paragraph_at(document, number)
    if layout == "equations":
        return sections.equation_at(document, number, _attachable(language))
    if layout == "units" and (unit := sections.unit_at(document, number)):
        return replace(unit, first=_attached(document, language, unit.first), header=unit.first)
    headers = _headers(document, language, number, column)
    statement = None
    for line in headers:
        header = _header_start(document, line)
        found = _definition(document, header)
        if found:
            kind, name = found
            above = (_definition(document, _header_start(document, line)) for line in headers)
            if kind == "function" and next((outer[0] for outer in above if outer), None) == "class":
                kind = "method"
            first = _attached(document, language, header)
            return Block(first, max(_last(document, language, header), number), kind, name, header)
        block = Block(header, _last(document, language, header), "statement")
        small = block.last - block.first < LONG_STATEMENT and layout != "elements"
        if statement is None or (small and not is_everything(document, block)):
            statement = block
    if statement and is_everything(document, statement):
        return Block(number, number, "statement") if bare(document, number).strip() else None
    return statement


def is_everything(document: Document, block: Block) -> bool:
    """Whether nothing but blank lines stands outside of a block."""
    above = (bare(document, line) for line in range(block.first))
    below = (bare(document, line) for line in range(block.last + 1, document.line_count))
    return not any(text.strip() for text in above) and not any(text.strip() for text in below)


def _headers(document: Document, language: Language | None, number: int, column: int) -> Iterator[int]:
    """The lines that a line lies under, the nearest first, after the line itself."""
    if bare(document, number).strip():
        number = _opening(document, language, _below_comment(document, language, number))
        limit = width_of(bare(document, number))
        yield number
    else:
        limit = max(column, _width_below(document, number))
    transparent = _transparent(language)
    for above in range(number - 1, max(-1, number - sections.REACH), -1):
        if limit == 0:
            return
        text = bare(document, above)
        if width_of(text) >= limit or not text.strip() or transparent.match(text):
            continue
        limit = width_of(text)
        # A block that ended above encloses nothing, and neither does its header.
        if not _CLOSER.match(text) or _OPENS.match(text):
            yield above


def _width_below(document: Document, number: int) -> int:
    """How deep the next line that is not blank stands; a closer stands as deep as what it closes."""
    for below in range(number + 1, min(document.line_count, number + sections.REACH)):
        text = bare(document, below)
        if text.strip():
            return width_of(text) + (1 if _CLOSER.match(text) else 0)
    return 0


def _opening(document: Document, language: Language | None, number: int) -> int:
    """The line that opens what `number` closes or goes on with; `number` itself where it does neither."""
    text = bare(document, number)
    if not (_CLOSER.match(text) or _GOES_ON.match(text)):
        return number
    width = width_of(text)
    for above in range(number - 1, max(-1, number - sections.REACH), -1):
        text = bare(document, above)
        if not text.strip() or width_of(text) > width or _transparent(language).match(text):
            continue
        if width_of(text) < width:
            return number
        if not (_CLOSER.match(text) or _GOES_ON.match(text)):
            return above
    return number


def _header_start(document: Document, number: int) -> int:
    """The first line of a header that ends in a line of its own, such as `{` or `) {`."""
    width = width_of(bare(document, number))
    first = number
    while first > 0 and _BELONGS_ABOVE.match(bare(document, first)):
        above = first - 1
        while above > 0 and width_of(bare(document, above)) > width:
            above -= 1
        if not bare(document, above).strip():
            return number
        first = above
    return first


def _definition(document: Document, header: int) -> tuple[ScopeKind, str | None] | None:
    """The kind and name of the definition that starts at a line, None where none does."""
    text = bare(document, header)
    if found := _CLASS.match(text):
        return "class", found["name"]
    if found := _FUNCTION.match(text) or _BOUND.match(text):
        return "function", found["name"]
    if (found := _CALL_LIKE.match(text)) and _opens_brace(document, header):
        return "function", found["name"]
    return None


def _opens_brace(document: Document, header: int) -> bool:
    width = width_of(bare(document, header))
    for number in range(header, min(header + 30, document.line_count)):
        text = bare(document, number)
        if number > header and text.strip() and width_of(text) <= width:
            return bool(_BELONGS_ABOVE.match(text)) and text.rstrip().endswith("{")
        if text.rstrip().endswith("{"):
            return True
        if text.rstrip().endswith((";", "}")):
            return False
    return False


def _last(document: Document, language: Language | None, first: int) -> int:
    """The last line of the block that starts at a line."""
    width, transparent = width_of(bare(document, first)), _transparent(language)
    last = first
    for number in range(first + 1, min(document.line_count, first + sections.REACH)):
        text = bare(document, number)
        if not text.strip():
            continue
        if width_of(text) > width:
            # A comment may stand anywhere; it belongs to the block only with code of the block below.
            last = number
            continue
        if transparent.match(text):
            continue
        if _GOES_ON.match(text) or (_BELONGS_ABOVE.match(text) and _OPENS.match(text)):
            last = number
            continue
        if _CLOSER.match(text) and width_of(text) == width:
            last = number
            if not _OPENS.match(text):
                return last
            continue
        return last
    return last


def _attached(document: Document, language: Language | None, header: int) -> int:
    """The first line of the comments and annotations directly above a header."""
    first, width = header, width_of(bare(document, header))
    while first > 0:
        above = bare(document, first - 1)
        if not _attachable(language).match(above) or width_of(above) not in (width, width + 1):
            break
        first -= 1
    while first < header and width_of(bare(document, first)) != width:
        first += 1
    return first


def _below_comment(document: Document, language: Language | None, number: int) -> int:
    """The line that a comment or annotation stands directly above; the line itself for any other."""
    below = number
    while below < document.line_count and _attachable(language).match(bare(document, below)):
        below += 1
    if below == number or below == document.line_count or not bare(document, below).strip():
        return number
    # The later lines of a block comment stand one deeper than its first.
    deeper = width_of(bare(document, number)) - width_of(bare(document, below))
    return below if deeper in (0, 1) else number


@cache
def _attachable(language: Language | None) -> re.Pattern[str]:
    """What may stand directly above a definition and belong to it."""
    starts = [r"@\w", r"#!?\[", r"\[\w[^\]]*\]\s*$"]
    if language is None or language.block_comment == ("/*", "*/"):
        starts += [r"/\*", r"\*(?!\w)"]
    grammar = language.grammar if language else None
    if language and language.line_comment and not (grammar and grammar.attached.isdisjoint(grammar.comments)):
        starts.append(re.escape(language.line_comment))
    starts += ["//", "#", "--"] if language is None else []
    return re.compile(rf"\s*(?:{'|'.join(starts)})")


@cache
def _transparent(language: Language | None) -> re.Pattern[str]:
    """Lines whose indentation says nothing: comments, preprocessor lines and labels."""
    comment = re.escape(language.line_comment) if language and language.line_comment else "//|#|--"
    label = r"|#\s*(?:if|el|endif|define|undef|pragma|line)|\w+:\s*$" if comment == "//" else ""
    return re.compile(rf"\s*(?:{comment}{label})")
