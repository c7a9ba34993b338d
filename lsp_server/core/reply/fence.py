"""The code of a reply without what models wrap around it: Markdown fences and prose."""

import re
from typing import Literal

_OPENING = re.compile(r"[ \t]*(`{3,})[ \t]*([^\s`]*)[^`\n]*")
_CLOSING = re.compile(r"[ \t]*(`{3,})\s*")
_MAYBE_OPENING = re.compile(r"[ \t]*(?:`{0,2}|`{3,}[^`]*)\r?")
_MAYBE_CLOSING = re.compile(r"[ \t]*`*[ \t]*\r?")
# A sentence is a capitalised word with nothing but words and their punctuation after it.
_WORD = r" [\w'’`\"(),.:;!?/*–—-]"
_MAYBE_PROSE = re.compile(rf"[A-Z][a-z'’]*[,.!?:]?(?:{_WORD}*)*\r?")
_PROSE = re.compile(rf"[A-Z][a-z'’]*(?:[,.!?:]?(?:{_WORD}+){{3,}}|[,.!?]?(?: \S+)+[!:]|!)\s*")
_CODE = re.compile(r"[=(){}\[\];<>]|\A\s+\S")
_BULLET = re.compile(r"\s*(?:[-*•]|\d+[.)]) ")


class Fence:
    """Takes a reply in pieces and gives the code in it as soon as it is certain.

    Without a fence all is code, but for sentences in front. Where no code follows them, `bare_prose` says
    what they are: "keep" suits a completion, which may complete a sentence, "drop" suits an edit. The first
    block counts; what comes outside it is collected in `dropped`. Where `original` has fences that the
    reply's own cannot be told from, the last one in the reply closes the block.
    """

    def __init__(self, bare_prose: Literal["keep", "drop"], original: str = "") -> None:
        lines = original.split("\n")
        self._bare_prose = bare_prose
        self._known = {line.strip() for line in lines if line.strip()}
        self._longest_own = max((len(match[1]) for match in map(_OPENING.match, lines) if match), default=0)
        self._state: Literal["start", "bare", "inside", "after"] = "start"
        self._fence = "```"
        self._depth = 0
        self._line = ""
        self._sent = 0
        self._held = ""
        self._prose = False
        self.fenced = False
        self.closed = False
        self.dropped = ""

    @property
    def ended(self) -> bool:
        """True when nothing that follows can matter."""
        return self._state == "after" and not self._ambiguous

    def push(self, text: str) -> str:
        """The code that is certain now."""
        given = list[str]()
        for piece in re.findall(r"[^\n]*\n|[^\n]+", text):
            self._line += piece
            if piece.endswith("\n"):
                given.append(self._take_line())
        if self._line:
            given.append(self._take_partial())
        return "".join(given)

    def finish(self) -> str:
        """What was held back and is code."""
        given = ""
        if self._line:
            cut_fence = (
                "`" in self._line and not self._line.strip("` \t\r") and not _CLOSING.fullmatch(self._line)
            )
            given = "" if cut_fence and self._state != "start" and not self._sent else self._take_line()
        held, self._held = self._held, ""
        if self._state == "start" and (self._bare_prose == "keep" or not self._prose):
            return given + held
        if self._state == "after":
            held = held.partition("\n")[2]
        self.dropped += held
        return given

    @property
    def _ambiguous(self) -> bool:
        return len(self._fence) <= self._longest_own

    def _take_line(self) -> str:
        line, sent = self._line, self._sent
        self._line, self._sent = "", 0
        if self._state == "start":
            return self._start(line)
        closes = (match := _CLOSING.fullmatch(line)) is not None and len(match[1]) >= len(self._fence)
        if self._state == "after":
            if closes and self._ambiguous:
                inside, self._held = self._held, line
                return inside
            if self._ambiguous:
                self._held += line
            else:
                self.dropped += line
            return ""
        if closes and not self._depth:
            self._state, self.closed = "after", True
            self._held = line if self._ambiguous else ""
            return ""
        if closes:
            self._depth -= 1
        elif (match := _OPENING.fullmatch(line.rstrip())) and match[2]:
            self._depth += 1
        return line[sent:]

    def _start(self, line: str) -> str:
        if match := _OPENING.fullmatch(line.rstrip()):
            self._state, self._fence, self.fenced = "inside", match[1], True
            self.dropped, self._held = self._held, ""
            return ""
        if not line.strip():
            self._held += line
            return ""
        if self._is_prose(line):
            self._held += line
            self._prose = True
            return ""
        return self._bare() + line

    def _bare(self) -> str:
        self._state = "bare"
        held, self._held = self._held, ""
        if self._prose and self._bare_prose == "drop":
            self.dropped, held = held, ""
        return held

    def _take_partial(self) -> str:
        if self._state == "after":
            return ""
        if self._state == "start":
            if self._prose or _MAYBE_OPENING.fullmatch(self._line) or _MAYBE_PROSE.fullmatch(self._line):
                return ""
            given = self._bare()
        elif _MAYBE_CLOSING.fullmatch(self._line):
            return ""
        else:
            given = ""
        given += self._line[self._sent :]
        self._sent = len(self._line)
        return given

    def _is_prose(self, line: str) -> bool:
        if line.strip() in self._known:
            return False
        if self._prose:
            return _BULLET.match(line) is not None or not _CODE.search(line)
        return _PROSE.fullmatch(line) is not None
