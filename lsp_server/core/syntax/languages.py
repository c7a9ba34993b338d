"""The languages: what editors call them, how they write comments, and their grammars.

A new language is one entry in `LANGUAGES` and one file in `tests/data/scope`.
"""

from dataclasses import dataclass, replace
from typing import Literal

from lsp_server.core.syntax.grammar import Grammar, kinds

Layout = Literal["blocks", "indents", "equations", "headings", "paragraphs"]


@dataclass(frozen=True, slots=True)
class Language:
    """One language. `id` and `aliases` are LSP language ids, in lower case.

    `layout` says how the lines alone show a definition: `blocks` closed by a bracket or a word,
    `indents` closed by nothing, `equations` that start in the first column, `headings` of a text,
    `paragraphs` of COBOL.
    """

    id: str
    aliases: tuple[str, ...] = ()
    line_comment: str = ""
    block_comment: tuple[str, str] | None = None
    grammar: Grammar | None = None
    layout: Layout = "blocks"


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


_C_BLOCK = ("/*", "*/")


_JAVASCRIPT = Grammar(
    "tree_sitter_javascript",
    functions=kinds(
        "function_declaration generator_function_declaration method_definition class_static_block"
    ),
    callbacks=kinds("arrow_function function_expression generator_function"),
    bindings=kinds("variable_declarator assignment_expression pair field_definition"),
    classes=kinds("class_declaration class"),
    wrappers=kinds(
        "export_statement lexical_declaration variable_declaration expression_statement"
        " parenthesized_expression"
    ),
    attached=kinds("comment decorator"),
    strings=kinds("string template_string regex jsx_text"),
    interpolations=kinds("template_substitution jsx_expression"),
)
_TSX = replace(
    _JAVASCRIPT,
    module="tree_sitter_typescript",
    function="language_tsx",
    functions=_JAVASCRIPT.functions | kinds("function_signature abstract_method_signature"),
    bindings=kinds("variable_declarator assignment_expression pair public_field_definition"),
    classes=_JAVASCRIPT.classes | kinds("abstract_class_declaration interface_declaration enum_declaration"),
    wrappers=_JAVASCRIPT.wrappers | kinds("ambient_declaration as_expression satisfies_expression"),
    containers=kinds("internal_module module"),
)
_TYPESCRIPT = replace(
    _TSX,
    function="language_typescript",
    strings=kinds("string template_string regex"),
    interpolations=kinds("template_substitution"),
)

LANGUAGES = (
    Language(
        "python",
        ("py", "cython", "jupyter"),
        line_comment="#",
        layout="indents",
        grammar=Grammar(
            "tree_sitter_python",
            functions=kinds("function_definition"),
            callbacks=kinds("lambda"),
            classes=kinds("class_definition"),
            wrappers=kinds("decorated_definition"),
            # What a function does is said inside it; a comment above may be about anything.
            attached=kinds("decorator"),
            interpolations=kinds("interpolation"),
        ),
    ),
    Language(
        "javascript",
        ("javascriptreact", "js", "jsx"),
        line_comment="//",
        block_comment=_C_BLOCK,
        grammar=_JAVASCRIPT,
    ),
    Language(
        "typescript",
        ("ts", "mts", "cts"),
        line_comment="//",
        block_comment=_C_BLOCK,
        grammar=_TYPESCRIPT,
    ),
    Language(
        "typescriptreact",
        ("tsx",),
        line_comment="//",
        block_comment=_C_BLOCK,
        grammar=_TSX,
    ),
)

_BY_ID = {name: language for language in LANGUAGES for name in (language.id, *language.aliases)}
