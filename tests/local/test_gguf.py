"""Reading what a GGUF header says, from headers made by hand."""

import struct
from pathlib import Path
from typing import Any

import pytest

from lsp_server.engine.errors import ModelMissing
from lsp_server.local.gguf import FILL_TEMPLATES, read_traits


def gguf(**values: Any) -> bytes:
    pairs = b"".join(_string(name.replace("__", ".")) + _value(value) for name, value in values.items())
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(values)) + pairs


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: Any) -> bytes:
    match value:
        case str():
            return struct.pack("<I", 8) + _string(value)
        case bool():
            return struct.pack("<I?", 7, value)
        case int():
            return struct.pack("<II", 4, value)
        case [str(), *_]:
            return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_string, value))
        case list():
            return struct.pack(f"<IIQ{len(value)}f", 9, 6, len(value), *value)
    raise TypeError(value)


def read(tmp_path: Path, data: bytes) -> Any:
    file = tmp_path / "made.gguf"
    file.write_bytes(data)
    return read_traits(file)


def test_the_header_says_how_to_ask(tmp_path: Path) -> None:
    header = gguf(
        general__architecture="qwen2",
        general__name="A coder",
        qwen2__context_length=32768,
        tokenizer__ggml__scores=[0.5, 1.5],
        tokenizer__ggml__add_bos_token=False,
        tokenizer__ggml__tokens=["a", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"],
        tokenizer__chat_template="{{ messages }}",
    )
    traits = read(tmp_path, header + b"tensors")
    assert (traits.name, traits.context, traits.chat) == ("A coder", 32768, True)
    assert traits.fill == "<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>"
    assert traits.markers == ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>")


def test_weights_without_those_tokens_only_continue(tmp_path: Path) -> None:
    traits = read(tmp_path, gguf(tokenizer__ggml__tokens=["a", "<|fim_prefix|>"]))
    assert (traits.name, traits.fill, traits.markers, traits.context) == ("made", None, (), None)


@pytest.mark.parametrize("template", FILL_TEMPLATES)
def test_every_family_is_known_by_its_tokens(tmp_path: Path, template: str) -> None:
    tokens = [each for each in template.replace("{suffix}", "{prefix}").split("{prefix}") if each]
    assert read(tmp_path, gguf(tokenizer__ggml__tokens=tokens)).fill == template


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"ELF!" + bytes(40),
        gguf(general__name="cut")[:-2],
        b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**60),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + _string("k") + struct.pack("<I", 77),
    ],
    ids=["empty", "other", "cut", "huge", "unknown"],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ModelMissing, match="cannot be read as a GGUF file"):
        read(tmp_path, data)
