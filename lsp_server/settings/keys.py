"""Where secrets and the user's file are found."""

import os
from collections.abc import Mapping
from pathlib import Path

from lsp_server.settings.folders import named_path, user_folder

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
            raise MissingKey(
                f"The environment variable {name} is not set; put the key in it and restart the editor."
            )
        _read.add(value)
        return value
    if kind == "keyring":
        value = _from_keyring(name)
        _read.add(value)
        return value
    raise MissingKey("A key is named as `env:NAME` or `keyring:NAME`.")


def keys_read() -> frozenset[str]:
    """Every secret that this process has looked up, for what must not show them: its log, its crash report.

    Asking the key store again for each line of a log would take too long, and what was never read cannot
    show up there.
    """
    return frozenset(_read)


def _from_keyring(name: str) -> str:
    advice = f"store it with `keyring set {SERVICE} {name}`."
    try:
        import keyring
    except ImportError:
        raise MissingKey("The key store needs the package `keyring`; install `midstream[keyring]`.") from None
    try:
        value = keyring.get_password(SERVICE, name)
    except Exception as error:
        # Each store brings errors of its own, and not all of them are KeyringErrors.
        raise MissingKey(f"The key store did not answer ({type(error).__name__}); {advice}") from None
    if not value:
        raise MissingKey(f"The key store has no key named {name}; {advice}")
    return str(value)


def user_file(environment: Mapping[str, str] | None = None) -> Path:
    """The user's TOML; `MIDSTREAM_CONFIG` names another one."""
    named = (os.environ if environment is None else environment).get("MIDSTREAM_CONFIG", "")
    if named:
        return named_path(named)
    return user_folder("config") / "config.toml"
