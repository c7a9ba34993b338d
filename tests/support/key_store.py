"""A key store for processes that a test starts: PYTHON_KEYRING_BACKEND=tests.support.key_store.KeyStore."""

import os

from keyring.backend import KeyringBackend


class KeyStore(KeyringBackend):
    """Holds one password under every name: what the variable MIDSTREAM_TEST_STORED says."""

    priority = 1.0  # type: ignore[assignment]

    def get_password(self, service: str, username: str) -> str | None:
        return os.environ.get("MIDSTREAM_TEST_STORED")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise NotImplementedError
