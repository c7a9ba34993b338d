"""A lighter import of lsprotocol, which is most of the way from the start of the process to `initialize`."""

import importlib
from functools import partial

import attrs


def import_types() -> None:
    """Import LSP's types without comparison and repr.

    attrs compiles both for each of some 570 classes, which is a third of the import; nothing here compares
    messages, and a repr could bring code into a log.
    """
    full = attrs.define
    setattr(attrs, "define", partial(full, eq=False, repr=False))  # noqa: B010
    try:
        importlib.import_module("lsprotocol.types")
    finally:
        setattr(attrs, "define", full)  # noqa: B010
