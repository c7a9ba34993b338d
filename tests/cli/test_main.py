"""The command as a whole: wrong words, crashes, and servers that nobody speaks to."""

from tests.support.command import Machine

CRASH = (
    "from lsp_server.cli import usage\ndef run(arguments): raise KeyError('sk-proj-abcdefghijklmnopqrst')\n"
)
CRASH += "usage.run = run"


def test_wrong_words_show_the_usage(machine: Machine) -> None:
    for words in ([], ["nonsense"], ["complete"], ["serve", "--tcp", "x"]):
        run = machine.midstream(*words)
        assert (run.status, run.out) == (2, "")
        assert run.err.startswith("usage: ")


def test_version_and_help(machine: Machine) -> None:
    assert machine.midstream("--version").out.startswith("midstream ")
    assert "doctor" in machine.midstream("--help").out


def test_a_crash_says_where_the_log_is(machine: Machine) -> None:
    run = machine.midstream("usage", prelude=CRASH)
    log = machine.cache / "crash.log"
    assert (run.status, run.out) == (1, "")
    assert (
        run.err
        == f"midstream: This is a mistake of Midstream's own, not yours. {log} says more; please report it.\n"
    )
    text = log.read_text()
    assert "KeyError" in text and "sk-proj-abcdefghijklmnopqrst" not in text
    assert log.stat().st_mode & 0o77 == 0


def test_a_server_whose_input_ends_leaves(machine: Machine) -> None:
    run = machine.midstream("serve")
    assert (run.status, run.out) == (1, "")


def test_broken_settings_are_told_and_the_rest_works(machine: Machine) -> None:
    machine.settings.write_text("[complete]\ndebounce = 'soon'\n")
    run = machine.midstream("config", "check")
    assert run.status == 1 and ":2:" in run.out
    assert machine.midstream("usage").status == 0


def test_the_tour_without_its_model_says_what_is_wrong(machine: Machine) -> None:
    machine.use("ws://127.0.0.1:9/v1")
    run = machine.midstream("try")
    assert (run.status, run.err) == (
        1,
        "midstream: Nothing listens at 127.0.0.1:9; start it, or check `url`.\n",
    )
