"""The code that the tests have edited, and the model's answer in two pieces."""

from tests.editors_vscode.window import Window
from tests.support.model_server import Turn

HEAD = "top = 1\n\n\n"
TAIL = "\n\nbottom = 1\n"
OLD = "def area(w, h):\n    # both in metres\n    size = w * h\n    log(size)\n    return size\n"
FIRST = 'def area(w, h):\n    """The area of a rectangle."""\n    # both in metres\n    size = w * h\n'
REST = "    return size\n"
NEW = FIRST + REST
BEFORE = HEAD + OLD + TAIL
HALFWAY = HEAD + FIRST + "    log(size)\n    return size\n" + TAIL
AFTER = HEAD + NEW + TAIL
SOURCE = BEFORE.replace("size =", "<|>size =")


def halfway(window: Window, instruction: str = "say what it is") -> Turn:
    """An edit whose first change is in the document."""
    window.open(SOURCE)
    turn = window.instruct(instruction)
    window.say(turn, FIRST)
    window.reads(HALFWAY)
    return turn


def edited(window: Window) -> None:
    """An edit with two changes, which wait to be accepted or rejected."""
    window.answer(halfway(window), REST)
    window.reads(AFTER)
    window.sees_lens("Accept All (Tab)")
