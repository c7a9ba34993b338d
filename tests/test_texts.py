"""Every sentence that an error shows to a user: short, ended, and free of the names that programmers use."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsp_server.engine import errors

ROOT = Path(__file__).parents[1] / "lsp_server"
ERRORS = {
    name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)
}
LONGEST = 260


def sentences() -> Iterator[tuple[str, str]]:
    """Where an error of the engine is made, and its sentence with `…` for what is filled in."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ERRORS:
                text = spelled(node.args[0]) if node.args else None
                if text is not None:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", text


def spelled(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
    return None


SENTENCES = dict(sentences())


def test_there_are_sentences() -> None:
    assert len(SENTENCES) > 40


@pytest.mark.parametrize("place", SENTENCES)
def test_a_sentence_is_one_for_its_reader(place: str) -> None:
    text = SENTENCES[place]
    assert text.rstrip().endswith((".", "…")), text
    assert len(text) <= LONGEST, text
    assert not re.search(r"\b\w+(Error|Exception)\b|Traceback|errno|None\b", text), text
    assert re.match(r"[A-Z`…]|llama\.cpp ", text), text
