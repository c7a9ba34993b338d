"""Every sentence that is shown to a user: in one place, short, ended, for its reader, and with what to do."""

import ast
import importlib
import pkgutil
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsp_server import texts
from lsp_server.engine import errors
from lsp_server.local import sources, transfer, weights
from lsp_server.model import dial, failures
from lsp_server.settings import keys

ROOT = Path(__file__).parents[1] / "lsp_server"
SOURCES = {
    str(path.relative_to(ROOT)): ast.parse(path.read_text())
    for path in sorted(ROOT.rglob("*.py"))
    if "texts" not in path.parts
}
TEXTS = {
    f"{module.name}.{name}": value
    for module in pkgutil.iter_modules(texts.__path__)
    for name, value in vars(importlib.import_module(f"{texts.__name__}.{module.name}")).items()
    if name.isupper()
}
ERRORS = {
    name
    for module in (errors, dial, failures, keys, sources, transfer, weights)
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, (errors.MidstreamError, LookupError))
}
ENDS_ITSELF = re.compile(r"\{(tail|said|advice|missing|wants|problems)\}$")
"""What is filled in at the end and brings its own full stop, or is somebody else's words."""
ADVICE = re.compile(
    r"\b([Tt]ry|[Cc]heck|[Ss]et|[Rr]aise|[Rr]un|[Ss]elect|[Ss]ay|[Ss]tart|[Nn]ame|[Oo]pen|[Ii]nstall|[Pp]ut"
    r"|[Uu]ndo|[Tt]rust|[Ww]rite|[Ff]ree|[Ee]nd that|[Cc]hoose|[Cc]onfigure|[Cc]orrect|[Ii]nsert|[Rr]eport"
    r"|brings it|by itself|fetches|connecting again|asking in full"
    r"|takes over|must begin|comes with|ends it|says more|may be)\b"
    r"|; there are \{|choose from are|\{(tail|said|advice|missing|sentence)\}"
)
NOTHING_TO_DO = {
    "edits.CLOSED_MEANWHILE": "the user closed the document",
    "edits.EDIT_FAILED": "the log is for who repairs it",
    "edits.MET_A_KEY": "what was wrong is put right",
    "edits.NOTHING_TO_REVERT": "all is as it was",
    "edits.MINUTES": "for the author of a plugin: it names the form",
    "edits.ONE_OBJECT": "for the author of a plugin: it names the form",
    "edits.RANGE_FIELD": "for the author of a plugin: it names the form",
    "edits.TEXT_FIELD": "for the author of a plugin: it names the form",
    "edits.NO_COMMAND": "for the author of a plugin: it names what was asked for",
    "commands.NO_FILE": "it names the file that was asked for",
    "commands.NOT_UTF8": "it names the file that was asked for",
    "commands.CANNOT_BE_READ": "it names the file and the reason",
    "commands.NO_LINE": "it names the lines that there are",
    "commands.NOTHING_TO_COMPLETE": "it names what the folder lacks",
    "settings.KEY_FORM": "it names the form",
}
"""Sentences of failures without advice, and why."""


LABELS = ("Midstream: ", "Not now", "Today, {date}", "The last seven days", "HOME, or")
"""Titles, buttons and headings, which end without a full stop."""
ENDED = ("settings.STORE_IT", "commands.BENCH_LEGEND", "commands.WHAT_COLUMNS_SAY")
"""The end of a sentence, and legends, which begin with the word that they explain."""


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_one_for_its_reader(name: str) -> None:
    text = TEXTS[name]
    assert text == text.strip()
    assert all(len(line) <= 260 for line in text.split("\n"))
    assert not re.search(r"\b\w+(Error|Exception)\b|Traceback|errno|None\b|exception|stack", text)
    ended = text.endswith((".", "?")) or ENDS_ITSELF.search(text) is not None
    if text[0].isupper() and not text.startswith(LABELS):
        assert ended
    if text[0].islower() and name not in ENDED:
        assert not ended


def calls() -> Iterator[tuple[str, ast.Call]]:
    for place, tree in SOURCES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield f"{place}:{node.lineno}", node


def subject(tree: ast.AST) -> str:
    """The module of texts that a file uses."""
    imported = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == texts.__name__
        for alias in node.names
    ]
    return imported[0] if imported else ""


def used() -> Iterator[tuple[str, str, set[str] | None]]:
    """Where a text is used, its name, and what is filled in; None when it is used as it stands."""
    for place, tree in SOURCES.items():
        filled = {
            id(node.func.value): {str(keyword.arg) for keyword in node.keywords}
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "format"
        }
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "texts"
            ):
                name = f"{subject(tree)}.{node.attr}"
                yield f"{place}:{node.lineno}", name, filled.get(id(node))


def test_every_text_is_used_and_given_what_it_names() -> None:
    seen = {"doctor.DOCTOR"}
    for place, name, given in used():
        fields = {field for _, field, _, _ in string.Formatter().parse(TEXTS[name]) if field}
        assert (given or set()) == fields, f"{place}: {name}"
        seen.add(name)
    assert seen == set(TEXTS)


def test_a_failure_says_what_to_do() -> None:
    failed = set()
    for place, call in calls():
        if isinstance(call.func, ast.Name) and call.func.id in ERRORS and call.args:
            tree = SOURCES[place.rpartition(":")[0]]
            failed |= {
                f"{subject(tree)}.{node.attr}"
                for node in ast.walk(call.args[0])
                if isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "texts"
            }
    assert len(failed) > 80
    # What begins small is the reason in a sentence that says what to do.
    silent = {name for name in failed if not ADVICE.search(TEXTS[name]) and not TEXTS[name][0].islower()}
    assert silent <= set(NOTHING_TO_DO), silent - set(NOTHING_TO_DO)


TOLD = {"print", "show", "ask", "say", "hushed", "add_argument", "add_parser", "ArgumentParser"}


@pytest.mark.parametrize("place", SOURCES)
def test_no_sentence_is_written_elsewhere(place: str) -> None:
    for node in ast.walk(SOURCES[place]):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in TOLD | ERRORS or name.startswith("JsonRpc"):
            plain = () if name.startswith("add_") else node.args
            given = [*plain, *(keyword.value for keyword in node.keywords if keyword.arg != "detail")]
            for words in (spelled(argument) for argument in given):
                assert len(re.findall(r"[A-Za-z]{2,}", words)) < 4, f"{place}:{node.lineno}: {words}"


def spelled(node: ast.expr) -> str:
    """What a literal says, without what is filled in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
