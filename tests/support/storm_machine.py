"""The typing storm: hypothesis decides what happens, `Storm` says what must hold."""

from collections import Counter
from collections.abc import Callable
from functools import partial

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lsp_server.settings import Edit
from tests.support.storm import REPLIES, URIS, Storm

WHERE = st.integers(0, 240)
URI = st.sampled_from(URIS)
WHICH = st.sampled_from((*URIS, None))
REPLY = st.sampled_from(list(REPLIES))
NUMBER = st.integers(0, 3)
TURNS = st.sampled_from((30, 0, 1, 2, 3, 5))
KEYS = st.sampled_from(("key", "astral", "newline", "plain"))


class StormMachine(RuleBasedStateMachine):
    """`mode` is the client's; `counts` says how often what happened."""

    mode = "vscode"
    counts: Counter[str] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.storm: Storm | None = None
        self.holds = True

    @initialize(
        form=st.sampled_from(("scope", "scope", "hunks")),
        delivery=st.sampled_from(("stream", "stream", "atomic")),
        foreign=st.sampled_from(("cancel", "rebase")),
        newline=st.sampled_from(("\n", "\n", "\r\n")),
        where=WHERE,
        reply=REPLY,
        started=st.booleans(),
    )
    def begin(
        self, form: str, delivery: str, foreign: str, newline: str, where: int, reply: str, started: bool
    ) -> None:
        edit = Edit(format=form, delivery=delivery, on_foreign_change=foreign)  # type: ignore[arg-type]
        self.storm = Storm(self.mode, edit=edit, newline=newline, counts=self.counts)
        self.counts["examples"] += 1
        for uri in URIS:
            self.happens("open", lambda storm, uri=uri: storm.open(uri), 0)
        self.storm.settle()
        if started:
            self.happens("edit", lambda storm: storm.edit(URIS[0], where, reply), 30)

    def happens(self, name: str, happening: Callable[[Storm], object], turns: int) -> None:
        """Count it, let it happen, and give the loop some turns."""
        storm = self.storm
        assert storm is not None
        self.counts[f"rule {name}"] += 1
        self.holds = False
        storm.run(partial(happening, storm), turns)
        self.holds = True

    def has(self, what: str) -> bool:
        """True when there is something to do for a rule."""
        return self.storm is not None and self.storm.has(what)

    def is_open(self, uri: str) -> bool:
        return self.storm is not None and self.storm.editor.is_open(uri)

    @rule(uri=URI, where=WHERE, reply=REPLY, turns=TURNS)
    def edit(self, uri: str, where: int, reply: str, turns: int) -> None:
        self.happens("edit", lambda storm: storm.edit(uri, where, reply), turns)

    @precondition(lambda self: self.has("generations"))
    @rule(which=WHICH, reply=REPLY, turns=TURNS, verb=st.sampled_from(("redirect", "redirect", "escalate")))
    def go_on(self, which: str | None, reply: str, turns: int, verb: str) -> None:
        self.happens(verb, lambda storm: getattr(storm, verb)(which, reply), turns)

    @precondition(lambda self: self.has("generations"))
    @rule(which=WHICH, turns=TURNS, verb=st.sampled_from(("stop", "revert", "revert", "accept")))
    def command(self, which: str | None, turns: int, verb: str) -> None:
        self.happens(verb, lambda storm: getattr(storm, verb)(which), turns)

    @rule(uri=URI, where=WHERE, turns=TURNS, cancels=st.booleans())
    def complete(self, uri: str, where: int, turns: int, cancels: bool) -> None:
        if cancels:
            self.happens("cancel a request", lambda storm: storm.cancel_request(), turns)
        else:
            self.happens("complete", lambda storm: storm.complete(uri, where), turns)

    @precondition(lambda self: self.has("calls"))
    @rule(number=NUMBER, size=st.integers(1, 60), turns=TURNS)
    def delta(self, number: int, size: int, turns: int) -> None:
        self.happens("delta", lambda storm: storm.say(number, size), turns)

    @precondition(lambda self: self.has("calls"))
    @rule(number=NUMBER, turns=TURNS)
    def finish(self, number: int, turns: int) -> None:
        self.happens("finish", lambda storm: storm.finish(number), turns)

    @precondition(lambda self: self.has("calls"))
    @rule(number=NUMBER, size=st.integers(10, 60))
    def speak_and_land(self, number: int, size: int) -> None:
        """What comes next as long as nobody disturbs it."""
        self.happens("speak and land", lambda storm: storm.say(number, size), 30)
        assert self.storm is not None
        self.storm.wait(0.1)
        self.storm.settle()

    @rule(uri=URI, where=WHERE, near=st.booleans(), kind=KEYS, turns=TURNS)
    def type(self, uri: str, where: int, near: bool, kind: str, turns: int) -> None:
        if self.is_open(uri):
            self.happens(f"type {kind}", lambda storm: storm.type(uri, where, near, kind), turns)

    @rule(
        uri=URI,
        where=WHERE,
        near=st.booleans(),
        length=st.integers(0, 12),
        turns=TURNS,
        verb=st.sampled_from(("paste", "delete", "undo")),
    )
    def change(self, uri: str, where: int, near: bool, length: int, turns: int, verb: str) -> None:
        if not self.is_open(uri):
            return
        if verb == "undo":
            self.happens("undo", lambda storm: storm.undo(uri), turns)
        else:
            self.happens(verb, lambda storm: getattr(storm, verb)(uri, where, near, length), turns)

    @precondition(lambda self: self.has("work"))
    @rule(turns=TURNS)
    def work(self, turns: int) -> None:
        self.happens("work", lambda storm: storm.editor.work(), turns)

    @precondition(lambda self: self.has("messages"))
    @rule(turns=TURNS)
    def deliver(self, turns: int) -> None:
        self.happens("deliver", lambda storm: storm.deliver(), turns)

    @precondition(lambda self: self.has("held changes"))
    @rule(turns=TURNS)
    def flush(self, turns: int) -> None:
        self.happens("flush", lambda storm: storm.editor.flush(), turns)

    @rule(uri=URI, number=NUMBER, turns=TURNS, verb=st.sampled_from(("refuse", "fail", "close or reopen")))
    def trouble(self, uri: str, number: int, turns: int, verb: str) -> None:
        if verb == "fail":
            self.happens("fail", lambda storm: storm.fail(number), turns)
        elif verb == "refuse":
            self.happens("refuse", lambda storm: storm.refuse(), turns)
        elif self.is_open(uri):
            self.happens("close", lambda storm: storm.close(uri), turns)
        else:
            self.happens("reopen", lambda storm: storm.open(uri), turns)

    @rule(seconds=st.sampled_from((0.04, 0.1, 0.2, 0.6, 2.0, 6.0)))
    def wait(self, seconds: float) -> None:
        self.happens("wait", lambda storm: None, 0)
        assert self.storm is not None
        self.storm.wait(seconds)

    @rule(turns=st.integers(1, 6))
    def turn(self, turns: int) -> None:
        self.happens("turns", lambda storm: None, turns)

    @rule()
    def settle(self) -> None:
        self.happens("settle", lambda storm: None, 0)
        assert self.storm is not None
        self.storm.settle()

    @invariant()
    def nothing_is_wrong(self) -> None:
        if self.storm is not None:
            self.holds = False
            self.storm.check()
            self.holds = True

    def teardown(self) -> None:
        if self.storm is None:
            return
        try:
            if self.holds:
                self.storm.come_to_rest()
        finally:
            self.storm.free()
