"""`midstream complete`: what it prints, and what it says about a wrong call."""

import json

import pytest

from tests.support.command import Machine
from tests.support.editors.model import Model


def test_it_prints_what_the_editor_would_show(machine: Machine, model: Model) -> None:
    model.always("a + b")
    file = machine.home / "add.py"
    file.write_text("def add(a, b):\n    return \n")
    run = machine.midstream("complete", f"{file}:2:12")
    assert (run.status, run.out, run.err) == (0, "a + b\n", "")


def test_a_program_reads_items_and_model(machine: Machine, model: Model) -> None:
    model.always("a + b")
    file = machine.home / "add.py"
    file.write_text("def add(a, b):\n    return \n")
    report = json.loads(machine.midstream("complete", "--json", f"{file}:2:12").out)
    [item] = report["items"]
    assert item["text"] == "a + b" and item["range"]["start"] == {"line": 2, "column": 12}
    assert report["model"] == "scripted" and report["timings"]["totalMs"] > 0


def test_the_prompt_shows_what_another_open_file_tells(machine: Machine, model: Model) -> None:
    cart, shop = machine.home / "cart.py", machine.home / "shop.py"
    cart.write_text("from shop import total\n\ndue = total()\n")
    shop.write_text("def total(items, tax=0.2):\n    return sum(items)\n")
    alone = json.loads(machine.midstream("complete", "--show-prompt", f"{cart}:3:13").out)
    both = json.loads(machine.midstream("complete", "--show-prompt", "--open", str(shop), f"{cart}:3:13").out)
    assert "tax=0.2" not in alone["context"] and "def total(items, tax=0.2):" in both["context"]
    assert model.turns == []


def test_nothing_to_say_is_no_failure(machine: Machine, model: Model) -> None:
    model.always("   ")
    file = machine.home / "add.py"
    file.write_text("x = 1\n")
    run = machine.midstream("complete", f"{file}:1:6")
    assert (run.status, run.out) == (0, "")
    assert run.err == "midstream: no suggestion here\n"


@pytest.mark.parametrize(
    "place, said",
    [
        ("add.py", "Say the place as FILE:LINE:COLUMN, counted from 1; 'add.py' is not one."),
        ("add.py:0:1", "Say the place as FILE:LINE:COLUMN, counted from 1; 'add.py:0:1' is not one."),
        ("nowhere.py:1:1", "There is no file nowhere.py."),
        ("lsp_server:1:1", "lsp_server cannot be read: Is a directory."),
        ("README.md:99999:1", "There is no line 99999: the file has "),
    ],
)
def test_a_wrong_place_is_named(machine: Machine, model: Model, place: str, said: str) -> None:
    run = machine.midstream("complete", place)
    assert (run.status, run.out) == (1, "")
    assert run.err.startswith(f"midstream: {said}")


def test_a_file_that_is_no_text(machine: Machine, model: Model) -> None:
    file = machine.home / "image.py"
    file.write_bytes(b"\xff\xfe\x00")
    run = machine.midstream("complete", f"{file}:1:1")
    assert (run.status, run.err) == (1, f"midstream: {file} is not UTF-8 text.\n")


def test_a_file_that_stays_here(machine: Machine, model: Model) -> None:
    file = machine.home / ".env"
    file.write_text("KEY=1\n")
    run = machine.midstream("complete", f"{file}:1:5")
    assert run.status == 1
    assert run.err == "midstream: .env looks like a file of secrets, so nothing of it is sent.\n"
    assert not [turn for turn in model.turns if turn.create.generate]
