"""What a tree-sitter grammar calls the things that a scope is made of, and how to load it."""

import importlib
from dataclasses import dataclass
from functools import cache

import tree_sitter


def kinds(names: str) -> frozenset[str]:
    """Node kinds, written as one line of words."""
    return frozenset(names.split())


@dataclass(frozen=True, slots=True)
class Grammar:
    """Node kinds by their part in a scope, and the wheel that holds the grammar.

    functions   definitions with a name of their own; methods where a class holds them
    callbacks   functions without a name: named by a binding, else a scope of their own from 3 lines on
    bindings    nodes that give the callback at their right side its name
    classes     classes and whatever else holds methods
    wrappers    nodes that only dress the definition inside them: export, decorators, template
    attached    nodes that belong to a definition when they stand directly above it
    containers  nodes whose children count as top-level statements: a namespace, an include guard
    blocks      nodes that are a scope wherever they stand, such as the elements of a page
    hollow      names of blocks that only hold others
    embeds      nodes that hold another language as raw text
    fragment    what a piece from the middle of a file needs in front to parse
    """

    module: str
    function: str = "language"
    functions: frozenset[str] = frozenset()
    callbacks: frozenset[str] = frozenset()
    bindings: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    attached: frozenset[str] = frozenset({"comment"})
    containers: frozenset[str] = frozenset()
    blocks: frozenset[str] = frozenset()
    hollow: frozenset[str] = frozenset()
    embeds: frozenset[str] = frozenset()
    strings: frozenset[str] = frozenset({"string"})
    comments: frozenset[str] = frozenset({"comment"})
    interpolations: frozenset[str] = frozenset()
    fragment: str = ""


@cache
def load(grammar: Grammar) -> tree_sitter.Language | None:
    """The parser tables of a grammar, or None when its wheel is missing or does not fit."""
    return _load(grammar)[0]


@cache
def missing_reason(grammar: Grammar) -> str | None:
    """Why a grammar cannot be loaded, as a sentence for the user; None when it can."""
    return _load(grammar)[1]


@cache
def _load(grammar: Grammar) -> tuple[tree_sitter.Language | None, str | None]:
    try:
        module = importlib.import_module(grammar.module)
        return tree_sitter.Language(getattr(module, grammar.function)()), None
    # A wheel can fail in as many ways as there are builds: absent, for another machine, too old an ABI.
    except Exception as error:
        wheel = grammar.module.replace("_", "-")
        return None, f"The package {wheel} cannot be loaded ({error}); scopes go by indentation."
