"""Where secrets and the user's file are found."""

import os
from collections.abc import Mapping
from pathlib import Path

from lsp_server.settings.folders import named_path, user_folder
from lsp_server.texts import settings as texts

SERVICE = "midstream"


_read: set[str] = set()


class MissingKey(Exception):
    """`str(error)` says which key is missing and how to supply it; never the key itself."""


def resolve_key(reference: str, environment: Mapping[str, str] | None = None) -> str:
    """The secret behind `env:NAME` or `keyring:NAME`; an empty reference is an empty secret.

    Raises MissingKey when the variable is unset or empty, or the key store has no such entry.
    """
    if not reference:
        return ""
    kind, _, name = reference.partition(":")
    if kind == "env":
        value = (os.environ if environment is None else environment).get(name, "").strip()
        if not value:
            raise MissingKey(texts.NO_VARIABLE.format(name=name))
        _read.add(value)
        return value
    if kind == "keyring":
        value = _from_keyring(name)
        _read.add(value)
        return value
    raise MissingKey(texts.KEY_FORM)


def keys_read() -> frozenset[str]:
    """Every secret that this process has looked up, for what must not show them: its log, its crash report.

    Asking the key store again for each line of a log would take too long, and what was never read cannot
    show up there.
    """
    return frozenset(_read)


def _from_keyring(name: str) -> str:
    advice = texts.STORE_IT.format(service=SERVICE, name=name)
    try:
        import keyring
    except ImportError:
        raise MissingKey(texts.NO_KEY_STORE) from None
    try:
        value = keyring.get_password(SERVICE, name)
    except Exception as error:
        # Each store brings errors of its own, and not all of them are KeyringErrors.
        raise MissingKey(texts.KEY_STORE_SILENT.format(error=type(error).__name__, advice=advice)) from None
    if not value:
        raise MissingKey(texts.NO_STORED_KEY.format(name=name, advice=advice))
    return str(value)


def user_file(environment: Mapping[str, str] | None = None) -> Path:
    """The user's TOML; `MIDSTREAM_CONFIG` names another one."""
    named = (os.environ if environment is None else environment).get("MIDSTREAM_CONFIG", "")
    if named:
        return named_path(named)
    return user_folder("config") / "config.toml"
