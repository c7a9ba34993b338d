"""The languages with a grammar: one entry each, and one file in `tests/data/scope`."""

from dataclasses import replace

from lsp_server.core.syntax.grammar import Grammar, kinds
from lsp_server.core.syntax.language import C_BLOCK, Language

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

_C = Grammar(
    "tree_sitter_c",
    functions=kinds("function_definition preproc_function_def"),
    bindings=kinds("type_definition"),
    classes=kinds("struct_specifier union_specifier enum_specifier"),
    containers=kinds("preproc_ifdef preproc_if preproc_else preproc_elif linkage_specification"),
    strings=kinds("string_literal system_lib_string char_literal"),
)

PARSED_LANGUAGES = (
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
    Language("javascript", ("javascriptreact", "js", "jsx", "mjs"), "//", C_BLOCK, _JAVASCRIPT),
    Language("typescript", ("ts", "mts", "cts"), "//", C_BLOCK, _TYPESCRIPT),
    Language("tsx", ("typescriptreact",), "//", C_BLOCK, _TSX),
    Language(
        "go",
        ("golang",),
        "//",
        C_BLOCK,
        Grammar(
            "tree_sitter_go",
            functions=kinds("function_declaration method_declaration"),
            callbacks=kinds("func_literal"),
            classes=kinds("type_spec"),
            wrappers=kinds("type_declaration"),
            strings=kinds("interpreted_string_literal raw_string_literal rune_literal"),
        ),
    ),
    Language(
        "rust",
        ("rs",),
        "//",
        C_BLOCK,
        Grammar(
            "tree_sitter_rust",
            functions=kinds("function_item function_signature_item macro_definition"),
            callbacks=kinds("closure_expression"),
            classes=kinds("impl_item trait_item struct_item enum_item union_item"),
            attached=kinds("line_comment block_comment attribute_item"),
            containers=kinds("mod_item foreign_mod_item"),
            strings=kinds("string_literal raw_string_literal char_literal"),
            comments=kinds("line_comment block_comment"),
        ),
    ),
    Language(
        "java",
        (),
        "//",
        C_BLOCK,
        Grammar(
            "tree_sitter_java",
            functions=kinds(
                "method_declaration constructor_declaration compact_constructor_declaration"
                " static_initializer annotation_type_element_declaration"
            ),
            callbacks=kinds("lambda_expression"),
            classes=kinds(
                "class_declaration interface_declaration enum_declaration record_declaration"
                " annotation_type_declaration"
            ),
            attached=kinds("line_comment block_comment annotation marker_annotation"),
            strings=kinds("string_literal character_literal"),
            comments=kinds("line_comment block_comment"),
            interpolations=kinds("string_interpolation"),
        ),
    ),
    Language("c", ("h",), "//", C_BLOCK, _C),
    Language(
        "cpp",
        ("c++", "cc", "cxx", "hpp", "arduino", "cuda", "cuda-cpp"),
        "//",
        C_BLOCK,
        replace(
            _C,
            module="tree_sitter_cpp",
            callbacks=kinds("lambda_expression"),
            classes=_C.classes | kinds("class_specifier"),
            wrappers=kinds("template_declaration"),
            containers=_C.containers | kinds("namespace_definition"),
            strings=_C.strings | kinds("raw_string_literal"),
        ),
    ),
    Language(
        "csharp",
        ("cs", "c#", "c_sharp", "c-sharp"),
        "//",
        C_BLOCK,
        Grammar(
            "tree_sitter_c_sharp",
            functions=kinds(
                "method_declaration constructor_declaration destructor_declaration operator_declaration"
                " conversion_operator_declaration local_function_statement property_declaration"
                " indexer_declaration event_declaration delegate_declaration"
            ),
            callbacks=kinds("lambda_expression anonymous_method_expression"),
            classes=kinds(
                "class_declaration interface_declaration struct_declaration record_declaration"
                " enum_declaration"
            ),
            wrappers=kinds("global_statement"),
            attached=kinds("comment attribute_list"),
            containers=kinds("namespace_declaration preproc_if preproc_elif preproc_else"),
            strings=kinds(
                "string_literal verbatim_string_literal raw_string_literal character_literal"
                " interpolated_string_expression"
            ),
            interpolations=kinds("interpolation"),
        ),
    ),
    Language(
        "ruby",
        ("rb", "rake"),
        "#",
        ("=begin", "=end"),
        Grammar(
            "tree_sitter_ruby",
            functions=kinds("method singleton_method"),
            callbacks=kinds("do_block block lambda"),
            classes=kinds("class singleton_class"),
            containers=kinds("module"),
            strings=kinds("string heredoc_body regex subshell character string_array symbol_array"),
            interpolations=kinds("interpolation"),
        ),
    ),
    Language(
        "php",
        (),
        "//",
        C_BLOCK,
        Grammar(
            "tree_sitter_php",
            "language_php",
            functions=kinds("function_definition method_declaration"),
            callbacks=kinds("anonymous_function arrow_function"),
            classes=kinds(
                "class_declaration interface_declaration trait_declaration enum_declaration anonymous_class"
            ),
            attached=kinds("comment attribute_list"),
            containers=kinds("namespace_definition"),
            strings=kinds("string encapsed_string heredoc nowdoc text"),
            fragment="<?php\n",
        ),
    ),
    Language(
        "fortran",
        (
            "fortran-modern",
            "fortranfreeform",
            "fortranfixedform",
            "fortran_free-form",
            "fortran_fixed-form",
            "fortran90",
            "fortran77",
            "f90",
        ),
        "!",
        layout="units",
        grammar=Grammar(
            "tree_sitter_fortran",
            functions=kinds("function subroutine module_procedure"),
            classes=kinds("derived_type_definition interface"),
            containers=kinds("module submodule program internal_procedures"),
            strings=kinds("string_literal"),
        ),
    ),
    Language(
        "bash",
        ("shellscript", "sh", "shell", "zsh", "ksh", "dash"),
        "#",
        grammar=Grammar(
            "tree_sitter_bash",
            functions=kinds("function_definition"),
            strings=kinds("string raw_string ansi_c_string translated_string heredoc_body"),
            interpolations=kinds("command_substitution"),
        ),
    ),
    Language(
        "lua",
        ("luau",),
        "--",
        ("--[[", "]]"),
        Grammar(
            "tree_sitter_lua",
            functions=kinds("function_declaration"),
            callbacks=kinds("function_definition"),
            bindings=kinds("assignment_statement field"),
            wrappers=kinds("variable_declaration expression_list"),
        ),
    ),
    Language(
        "html",
        (
            "htm",
            "xhtml",
            "vue",
            "svelte",
            "htmldjango",
            "django-html",
            "jinja-html",
            "handlebars",
            "mustache",
        ),
        "",
        ("<!--", "-->"),
        Grammar(
            "tree_sitter_html",
            blocks=kinds("element script_element style_element"),
            hollow=kinds("html head body"),
            embeds=kinds("script_element style_element"),
            strings=kinds("quoted_attribute_value text"),
        ),
        "elements",
    ),
    Language(
        "css",
        ("scss", "less", "postcss"),
        "",
        C_BLOCK,
        Grammar(
            "tree_sitter_css",
            blocks=kinds(
                "rule_set media_statement supports_statement scope_statement at_rule keyframes_statement"
                " keyframe_block"
            ),
            strings=kinds("string_value"),
            comments=kinds("comment js_comment"),
        ),
    ),
)
