"""Faults that a program of this kind can have, each planted by one patch. The typing storm finds them all."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from unittest.mock import patch as planted

from lsp_server.core import echo, text
from lsp_server.engine import patches, workspace
from lsp_server.engine.assistant import Assistant
from lsp_server.engine.generation import Generation
from lsp_server.engine.ports import Outcome, Result
from tests.support.storm_editor import StormEditor


def echo_taken_for_typing() -> AbstractContextManager[object]:
    return planted.object(workspace, "find", lambda *arguments: None)


def typing_taken_for_echo() -> AbstractContextManager[object]:
    def gullible(before: Any, after: Any, edits: Any, expected: Any) -> echo.Verdict:
        verdict = echo.classify(before, after, edits, expected)
        return verdict if expected is None else echo.Verdict(True, ())

    return planted.object(patches, "classify", gullible)


def patch_not_bound_to_its_version() -> AbstractContextManager[object]:
    original = StormEditor.take

    def take(self: StormEditor) -> bool:
        if self.incoming:
            self.incoming[0] = replace(self.incoming[0], version=None)
        return original(self)

    return planted.object(StormEditor, "take", take)


@contextlib.contextmanager
def outstanding_patch_forgotten_at_a_cancel() -> Iterator[None]:
    original = Generation.cancel

    def cancel(self: Generation, reason: Outcome) -> bool:
        entry = self._workspace._entries.get(self.job.uri)
        if entry is not None:
            entry.outstanding = entry.reply = None
        return original(self, reason)

    with planted.object(Generation, "cancel", cancel):
        yield


def resend_on_a_timer() -> AbstractContextManager[object]:
    original = workspace.Workspace.send

    def send(self: Any, uri: str, edit: Any, owner: str, **how: Any) -> Any:
        sent = original(self, uri, edit, owner, **how)

        def again() -> None:
            if not sent.landing.done():
                task = asyncio.get_running_loop().create_task(how["send"](sent.patch))
                self._replies.add(task)

        asyncio.get_running_loop().call_later(0.25, again)
        return sent

    return planted.object(workspace.Workspace, "send", send)


@contextlib.contextmanager
def redirect_starting_before_the_echo() -> Iterator[None]:
    async def quiet(self: Generation) -> None:
        pass

    with (
        planted.object(Generation, "_quiet", quiet),
        planted.object(workspace, "under_way", lambda entry: []),
    ):
        yield


def utf16_off_by_one() -> AbstractContextManager[object]:
    def off(line: str, column: int, encoding: text.Encoding) -> int:
        return min(column, len(line.rstrip("\r\n")))

    return planted.multiple("lsp_server.core.document", index_of=off)


def coalesced_text_lost() -> AbstractContextManager[object]:
    def take(self: Generation) -> str:
        last = "".join(self._pending[-1:])
        self._pending.clear()
        return last

    return planted.object(Generation, "_take", take)


def two_answers() -> AbstractContextManager[object]:
    original = Assistant._ended

    def ended(self: Assistant, result: Result) -> None:
        original(self, result)
        if result.outcome == "redirected":
            original(self, result)

    return planted.object(Assistant, "_ended", ended)


def no_answer() -> AbstractContextManager[object]:
    original = Assistant._ended

    def ended(self: Assistant, result: Result) -> None:
        if result.outcome != "superseded":
            original(self, result)

    return planted.object(Assistant, "_ended", ended)


FAULTS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    fault.__name__.replace("_", " "): fault
    for fault in (
        echo_taken_for_typing,
        typing_taken_for_echo,
        patch_not_bound_to_its_version,
        outstanding_patch_forgotten_at_a_cancel,
        resend_on_a_timer,
        redirect_starting_before_the_echo,
        utf16_off_by_one,
        coalesced_text_lost,
        two_answers,
        no_answer,
    )
}
