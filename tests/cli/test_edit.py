"""`midstream edit`: the change as a diff, into the file, and what it says about a wrong call."""

import json

from tests.support.command import Machine
from tests.support.editors.model import Model

BEFORE = "def add(a, b):\n    return a - b\n"
AFTER = "def add(a, b):\n    return a + b\n"
REPLY = f"```python\n{AFTER}```\n"


def test_without_write_it_shows_a_diff(machine: Machine, model: Model) -> None:
    model.always(REPLY)
    file = machine.home / "add.py"
    file.write_text(BEFORE)
    run = machine.midstream("edit", f"{file}:2", "add instead")
    assert run.status == 0, run.err
    assert "-    return a - b\n+    return a + b\n" in run.out
    assert file.read_text() == BEFORE


def test_with_write_the_file_is_changed(machine: Machine, model: Model) -> None:
    model.always(REPLY)
    file = machine.home / "add.py"
    file.write_text(BEFORE)
    assert machine.midstream("edit", "--write", f"{file}:2", "add instead").status == 0
    assert file.read_text() == AFTER


def test_a_program_reads_the_result_and_the_text(machine: Machine, model: Model) -> None:
    model.always(REPLY)
    file = machine.home / "add.py"
    file.write_text(BEFORE)
    report = json.loads(machine.midstream("edit", "--json", f"{file}:2", "add instead").out)
    assert (report["outcome"], report["text"]) == ("done", AFTER)


def test_wrong_calls_are_told_in_one_line(machine: Machine, model: Model) -> None:
    file = machine.home / "add.py"
    file.write_text(BEFORE)
    for arguments, said in {
        (f"{file}", "x"): "Say the place as FILE:LINE",
        ("nowhere.py:1", "x"): "There is no file nowhere.py.",
        (f"{file}:2", " "): "Say what to change: the instruction is empty.",
    }.items():
        run = machine.midstream("edit", *arguments)
        assert (run.status, run.out) == (1, ""), run
        assert run.err.startswith(f"midstream: {said}") and run.err.count("\n") == 1


def test_without_a_model_the_file_stays_and_the_reason_is_told(machine: Machine) -> None:
    file = machine.home / "add.py"
    file.write_text(BEFORE)
    run = machine.midstream("edit", "--write", f"{file}:2", "add instead")
    assert run.status == 1 and "`midstream model pull" in run.err
    assert file.read_text() == BEFORE
