"""What the header of a GGUF file says about its weights: how to ask them, and how much they can read.

Format: the GGUF specification of ggml, versions 2 and 3, little endian.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from lsp_server.engine.errors import ModelMissing
from lsp_server.local.healing import Vocabulary, vocabulary
from lsp_server.texts import embedded as texts

STRING, ARRAY = 8, 9
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}

FILL_TEMPLATES = (
    "<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>",
    "<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>",
    "<fim-prefix>{prefix}<fim-suffix>{suffix}<fim-middle>",
    "<｜fim▁begin｜>{prefix}<｜fim▁hole｜>{suffix}<｜fim▁end｜>",
    "[SUFFIX]{suffix}[PREFIX]{prefix}",
    "<|code_prefix|>{prefix}<|code_suffix|>{suffix}<|code_middle|>",
)
"""How families of weights write fill-in-the-middle; a family is known by the tokens of its vocabulary."""


@dataclass(frozen=True, slots=True)
class Traits:
    """`fill` is the fill-in-the-middle template, None where the vocabulary has no tokens for it.

    `markers` are the tokens that mean something to the model and must not come from a file's text.
    `context` is the length in tokens that the weights were trained for, `chat` whether they bring a
    template for conversations.
    """

    name: str
    fill: str | None
    markers: tuple[str, ...]
    context: int | None
    chat: bool
    vocabulary: Vocabulary = field(default=(), repr=False)


def read_traits(path: Path) -> Traits:
    """Raises ModelMissing when the file is no GGUF file that can be read."""
    try:
        with path.open("rb") as file:
            header = dict(_pairs(file))
    except (OSError, ValueError, struct.error, UnicodeDecodeError) as error:
        raise ModelMissing(texts.UNREADABLE_GGUF.format(file=path, reason=error)) from error
    tokens = frozenset(header.get("tokenizer.ggml.tokens", ()))
    fill = next((each for each in FILL_TEMPLATES if all(token in tokens for token in _tokens(each))), None)
    context = header.get(f"{header.get('general.architecture')}.context_length")
    return Traits(
        name=str(header.get("general.name", path.stem)),
        fill=fill,
        markers=() if fill is None else _tokens(fill),
        context=context if isinstance(context, int) else None,
        chat="tokenizer.chat_template" in header,
        vocabulary=vocabulary(header),
    )


def _tokens(template: str) -> tuple[str, ...]:
    marked = template.replace("{prefix}", "\0").replace("{suffix}", "\0")
    return tuple(token for token in marked.split("\0") if token)


def _pairs(file: BinaryIO) -> Iterator[tuple[str, Any]]:
    if file.read(4) != b"GGUF":
        raise ValueError(texts.NOT_GGUF)
    _version, _tensors, count = _unpack(file, "<IQQ")
    for _ in range(count):
        key = _string(file)
        (kind,) = _unpack(file, "<I")
        yield key, _value(file, kind)


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == STRING:
        return _string(file)
    if kind == ARRAY:
        item, length = _unpack(file, "<IQ")
        if item in SCALARS:
            return _unpack(file, f"<{length}{SCALARS[item]}")
        return tuple(_value(file, item) for _ in range(length))
    if kind not in SCALARS:
        raise ValueError(texts.UNKNOWN_TYPE.format(kind=kind))
    return _unpack(file, "<" + SCALARS[kind])[0]


def _string(file: BinaryIO) -> str:
    (length,) = _unpack(file, "<Q")
    if length > 64 * 1024 * 1024:
        raise ValueError(texts.LONG_STRING)
    return _read(file, length).decode("utf-8", "replace")


def _unpack(file: BinaryIO, layout: str) -> tuple[Any, ...]:
    return struct.unpack(layout, _read(file, struct.calcsize(layout)))


def _read(file: BinaryIO, length: int) -> bytes:
    data = file.read(length)
    if len(data) < length:
        raise ValueError(texts.CUT_SHORT)
    return data
