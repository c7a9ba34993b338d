"""A folder that VS Code does not trust. It comes first, for the window is trusted from then on."""

import pytest

from tests.editors_vscode.window import Window

pytestmark = pytest.mark.timeout(120)


def test_nothing_is_sent_before_an_untrusted_workspace_is_allowed(untrusted: Window) -> None:
    untrusted.sees("status", "off in this workspace")
    untrusted.open("def wary(a, b):\n    <|>\n")
    untrusted.type("return a")
    untrusted.shot("untrusted")
    assert untrusted.model.turns == []
    untrusted.allow()
    untrusted.focus()
    untrusted.type(" + ")
    untrusted.answer(untrusted.turn("return a + <|cursor|>"), "b\n")
    untrusted.sees_ghost("b")
    untrusted.shot("untrusted-allowed")
    untrusted.press("Escape")
