"""Secrets replaced by placeholders on the way out, and put back where the model repeats a placeholder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from lsp_server.core.guard.secrets import find_secrets

PREFIX = "REDACTED_"


@dataclass(frozen=True, slots=True)
class Masked:
    """Texts that may leave, and what each placeholder in them stands for."""

    texts: tuple[str, ...]
    secrets: Mapping[str, str]


def mask(texts: Sequence[str], salt: bytes) -> Masked:
    """The texts with their secrets replaced. They are read as one text: a secret may lie across a border.

    With the same `salt` a secret has the same placeholder in every call, which keeps the provider's prompt
    cache; without it the placeholder tells nothing about the secret.
    """
    whole = "".join(texts)
    spans = find_secrets(whole)
    if not spans:
        return Masked(tuple(texts), {})
    secrets: dict[str, str] = {}
    masked: list[str] = []
    start = 0
    for text in texts:
        end = start + len(text)
        at = start
        parts: list[str] = []
        for span in spans:
            if span.end <= start or end <= span.start:
                continue
            if start <= span.start:
                secret = whole[span.start : span.end]
                placeholder = (
                    PREFIX + blake2b(secret.encode("utf-8", "replace"), key=salt, digest_size=4).hexdigest()
                )
                secrets[placeholder] = secret
                parts += whole[at : span.start], placeholder
            at = min(span.end, end)
        masked.append("".join(parts) + whole[at:end])
        start = end
    return Masked(tuple(masked), secrets)


@dataclass(slots=True)
class Unmask:
    """Puts secrets back into a stream of text; a placeholder may be cut anywhere between two pieces."""

    secrets: Mapping[str, str]
    held: str = field(default="", init=False)

    def push(self, text: str) -> str:
        """The text that is certain by now; what may be the head of a placeholder is held back."""
        text = self._restored(self.held + text)
        cut = len(text) - self._head(text)
        self.held = text[cut:]
        return text[:cut]

    def finish(self) -> str:
        """What was held back, as it is."""
        held, self.held = self.held, ""
        return held

    def _restored(self, text: str) -> str:
        for placeholder, secret in self.secrets.items():
            text = text.replace(placeholder, secret)
        return text

    def _head(self, text: str) -> int:
        """Characters at the end of the text that begin some placeholder."""
        for placeholder in self.secrets:
            for length in range(min(len(placeholder) - 1, len(text)), 0, -1):
                if text.endswith(placeholder[:length]):
                    return length
        return 0
