"""`midstream bench`: figures of several models side by side, and a page of them."""

import asyncio
from pathlib import Path

import pytest

from lsp_server.cli import bench
from lsp_server.cli.bench_cases import built_in, in_folder
from lsp_server.cli.bench_page import page
from lsp_server.engine.errors import MidstreamError
from lsp_server.settings import Model, Settings
from tests.support.model_server import TOKEN, ModelServer

CODE = "def f(a):\n    b = 1\n\n    c = 22\n    return a + b + c\n"


def test_a_hole_is_the_rest_of_a_line() -> None:
    for hole in built_in():
        assert hole.before + hole.wanted + hole.after
        assert hole.wanted not in ("", "\n") and not hole.wanted.endswith("\n")
        assert hole.after.startswith("\n")
    assert {hole.language for hole in built_in()} == {"python", "typescript", "go"}


def test_a_folder_gives_the_holes_of_its_source_files(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CODE)
    (tmp_path / "b.bin").write_bytes(b"\xff\xfe")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "c.py").write_text(CODE)
    assert [hole.wanted for hole in in_folder(tmp_path, 5)] == ["a + b + c"]


async def test_two_models_side_by_side(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MIDSTREAM_TEST_KEY", TOKEN)
    monkeypatch.setenv("MIDSTREAM_USAGE_FILE", str(tmp_path / "usage"))
    async with ModelServer() as server:
        server.always("1 ", "+ ", "1")
        there = Model("there", "responses-ws", url=server.face.url, model="m", key="env:MIDSTREAM_TEST_KEY")
        gone = Model(
            "gone", "responses-ws", url="ws://127.0.0.1:9/v1", model="m", key="env:MIDSTREAM_TEST_KEY"
        )
        settings = Settings(models={"there": there, "gone": gone})
        rows = await asyncio.wait_for(bench.measure(settings, ["there", "gone"], built_in()[:3]), 60)
    assert (rows[0].answered, rows[0].asked, rows[0].trouble) == (3, 3, "")
    assert len(rows[0].first_token) == len(rows[0].useful_line) == 3 and rows[0].set_up
    assert all(first <= line for first, line in zip(rows[0].first_token, rows[0].useful_line, strict=True))
    assert rows[1].answered == 0 and rows[1].trouble
    shown = page(rows, 3)
    assert "there" in shown and "<script" not in shown and "http" not in shown.replace(rows[1].trouble, "")
    assert any("there" in line for line in bench.table(rows))


def test_an_unknown_model_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MIDSTREAM_CONFIG", str(tmp_path / "none.toml"))
    import argparse

    with pytest.raises(MidstreamError, match="no model 'nobody'"):
        bench.run(argparse.Namespace(models=["nobody"], folder=None, holes=3, html=None, json=False))


async def test_nobody_stands_in_for_a_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KEY", TOKEN)
    monkeypatch.setenv("MIDSTREAM_USAGE_FILE", str(tmp_path / "usage"))
    async with ModelServer() as server:
        server.always("1")
        there = Model("there", "responses-ws", url=server.face.url, model="m", key="env:KEY")
        gone = Model("gone", "responses-ws", url="ws://127.0.0.1:9/v1", model="m", fallback="there")
        settings = Settings(models={"there": there, "gone": gone})
        (row,) = await bench.measure(settings, ["gone"], built_in()[:1])
        assert "Nothing listens" in row.trouble
        assert row.answered == 0 and not server.turns
