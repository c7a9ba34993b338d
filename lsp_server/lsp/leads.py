"""From a diagnostic, or from a request, to what the user accepted: the times that `midstream usage` shows."""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from lsp_server.engine.ports import Since

REMEMBERED = 500
"""Diagnostics and edits; the oldest are forgotten first."""


@dataclass(slots=True)
class Leads:
    """Times are seconds of one clock, passed in. A server does not hear of a diagnostic before a client asks
    what can be done about it, so its time runs from the first offer of a fix."""

    _offered: OrderedDict[tuple[str, str], float] = field(default_factory=OrderedDict)
    _began: OrderedDict[str, tuple[float, Since]] = field(default_factory=OrderedDict)

    def offered(self, uri: str, message: str, now: float) -> None:
        """A fix of this diagnostic is offered."""
        self._offered.setdefault((uri, message), now)
        _bound(self._offered)

    def began(self, generation: str, uri: str, messages: Iterable[str], now: float) -> None:
        """An edit was asked for; `messages` are the diagnostics that it is to mend."""
        known = [self._offered.pop((uri, message), now) for message in messages]
        self._began[generation] = (min(known), "diagnostic") if known else (now, "request")
        _bound(self._began)

    def accepted(self, generation: str, now: float) -> tuple[float, Since] | None:
        """Milliseconds until this edit was accepted, and since when; None when it is not known any more."""
        began = self._began.pop(generation, None)
        return None if began is None else ((now - began[0]) * 1000, began[1])


def _bound(table: "OrderedDict[str, tuple[float, Since]] | OrderedDict[tuple[str, str], float]") -> None:
    if len(table) > REMEMBERED:
        table.popitem(last=False)
