"""Anchored search/replace blocks: an edit that quotes the lines it changes.

    <<<<<<< SEARCH
    lines copied from the code
    =======
    the lines that replace them
    >>>>>>> REPLACE

What is quoted is looked up exactly, then with other indentation, then with other blanks between words.
Nothing is ever guessed: a block that fits nowhere, or in two places, is refused with a sentence.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from lsp_server.core.edits import Edit
from lsp_server.core.reply.placeholder import placeholder_in
from lsp_server.core.text import Span, split_lines

WIDTH = 7
_NEAR_WIDTHS = "{5,9}"
_MARKER = re.compile(r"(?m)^[ \t]*(<{5,}|={5,}|>{5,})")


@dataclass(frozen=True, slots=True)
class Hunk:
    r"""Lines to find and the lines that replace them; each line ends in `\n`."""

    search: str
    replace: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a hunk is not applied, as a sentence for the user."""

    sentence: str


def marker_width(text: str) -> int:
    """How long the markers must be so that no line of `text` can be taken for one."""
    longest = max((len(match[1]) for match in _MARKER.finditer(text)), default=0)
    return WIDTH if not longest else max(10, longest + 1)


class HunkParser:
    """Takes a reply in pieces and gives each hunk as soon as its last marker is complete.

    Text between hunks, code fences among it, is collected in `dropped`. `unfinished` is true when the
    reply ended inside a hunk; that hunk does not come out.
    """

    def __init__(self, width: int = WIDTH) -> None:
        """`width` is the `marker_width` of the code that the model was shown."""
        count = _NEAR_WIDTHS if width == WIDTH else f"{{{width}}}"
        self._search = re.compile(rf"<{count} ?SEARCH\s*")
        self._middle = re.compile(rf"={count}\s*")
        self._replace = re.compile(rf">{count} ?REPLACE\s*")
        self._line = ""
        self._parts: list[list[str]] = []
        self._outside: list[str] = []

    def push(self, text: str) -> list[Hunk]:
        """The hunks that `text` completes."""
        *complete, self._line = (self._line + text).split("\n")
        return [hunk for line in complete for hunk in self._take(line)]

    def finish(self) -> list[Hunk]:
        """The hunk that a reply without a last line end completes."""
        line, self._line = self._line, ""
        return self._take(line) if line else []

    @property
    def unfinished(self) -> bool:
        """True inside a hunk."""
        return bool(self._parts)

    @property
    def dropped(self) -> str:
        """What came outside the hunks, code fences aside."""
        return "\n".join(
            line for line in self._outside if line.strip() and not line.lstrip().startswith("```")
        )

    def _take(self, line: str) -> list[Hunk]:
        line = line.removesuffix("\r")
        if not self._parts:
            if self._search.fullmatch(line.strip()):
                self._parts = [[]]
            else:
                self._outside.append(line)
        elif len(self._parts) == 1 and self._middle.fullmatch(line):
            self._parts.append([])
        elif len(self._parts) == 2 and self._replace.fullmatch(line.strip()):
            search, replace = ("".join(f"{text}\n" for text in part) for part in self._parts)
            self._parts = []
            return [Hunk(search, replace)]
        else:
            self._parts[-1].append(line)
        return []


def locate(
    text: str, hunk: Hunk, cursor: int | None = None, scope: Span | None = None, *, newline: str | None = None
) -> Edit | Refusal:
    """The edit of `text` that `hunk` means, or why there is none.

    Of several places, the only one inside `scope` counts, else the only one that touches `cursor`. Lines
    that the hunk does not change are kept as they are in `text`; new lines get the indentation of the place
    and `newline`, by default the line end that prevails in `text`.
    """
    search, replace = _bodies(hunk.search), _bodies(hunk.replace)
    if not hunk.search.strip():
        return Refusal("The model did not say which lines it wants to change.")
    if line := placeholder_in(hunk.search, text) or placeholder_in(hunk.replace, text):
        return Refusal(f"The model left code out instead of writing it: `{line.strip()}`.")
    lines = split_lines(text)
    bodies = [_body(line) for line in lines]
    places = _places(bodies, search)
    if not places:
        return Refusal(_mismatch(bodies, search))
    starts = list(accumulate(map(len, lines), initial=0))
    spans = [Span(starts[place], starts[place + len(search)]) for place in places]
    chosen = _chosen(spans, cursor, scope)
    if chosen is None:
        return Refusal(f"`{_first(search)}` fits {len(places)} places, and nothing says which one is meant.")
    found = lines[places[chosen] : places[chosen] + len(search)]
    levels = _levels(search, [_body(line) for line in found])
    if levels is None:
        return Refusal(f"The lines from `{_first(search)}` on are nested in another way than the model says.")
    new = _rewritten(found, search, replace, levels, newline or _newline(lines))
    return Edit(spans[chosen].start, spans[chosen].end, new)


def occurrences(items: Sequence[str], block: Sequence[str]) -> list[int]:
    """Where `block` occurs in `items`, overlapping occurrences included, in linear time."""
    return [last + 1 - len(block) for last, length in _progress(items, block) if length == len(block)]


def _progress(items: Sequence[str], block: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The index of each item, and how much of `block` matches up to it (Knuth, Morris and Pratt)."""
    borders, length = [0], 0
    for item in block[1:]:
        while length and item != block[length]:
            length = borders[length - 1]
        length += item == block[length]
        borders.append(length)
    length = 0
    for index, item in enumerate(items):
        while length and (length == len(block) or item != block[length]):
            length = borders[length - 1]
        length += item == block[length]
        yield index, length


def _places(bodies: Sequence[str], search: Sequence[str]) -> list[int]:
    for same in str, str.strip, _spaced:
        places = occurrences([same(body) for body in bodies], [same(body) for body in search])
        if places:
            return places
    return []


def _spaced(body: str) -> str:
    """A line with its runs of blanks made equal; blanks in a string are not for us to judge."""
    return body.strip() if re.search("[\"'`]", body) else " ".join(body.split())


def _chosen(spans: Sequence[Span], cursor: int | None, scope: Span | None) -> int | None:
    if len(spans) == 1:
        return 0
    inside = [index for index, span in enumerate(spans) if scope and scope.start <= span.start < scope.end]
    touched = [index for index, span in enumerate(spans) if cursor is not None and span.touches(cursor)]
    for choice in inside, touched, [index for index in inside if index in touched]:
        if len(choice) == 1:
            return choice[0]
    return None


def _mismatch(bodies: Sequence[str], search: Sequence[str]) -> str:
    wanted = [body.strip() for body in search]
    last, length = max(_progress([body.strip() for body in bodies], wanted), key=lambda step: step[1])
    if not length:
        return f"`{_first(search)}` is not in the code, so the change was not applied."
    there = f"has `{bodies[last + 1].strip()}`" if any(bodies[last + 1 :]) else "ends"
    return f"The model quotes `{wanted[length]}` after `{wanted[length - 1]}`, but the code {there} there."


def _levels(search: Sequence[str], found: Sequence[str]) -> dict[str, str] | None:
    """Which indentation in the text stands for which in the hunk; None when they nest differently."""
    levels = dict[str, str]()
    for row, (line, there) in enumerate(zip(search, found, strict=True)):
        # Models tend to lose the indentation of the first line, which then says nothing.
        if line.strip() and (row or _indentation(line)):
            level = _indentation(there)
            if levels.setdefault(_indentation(line), level) != level:
                return None
    widths = [len(levels[level]) for level in sorted(levels, key=len)]
    if any(outer >= inner for outer, inner in pairwise(widths)):
        return None
    return ({_indentation(search[0]): _indentation(found[0])} if search[0].strip() else {}) | levels


def _rewritten(
    found: Sequence[str], search: Sequence[str], replace: Sequence[str], levels: dict[str, str], newline: str
) -> str:
    """The new lines; those that `search` and `replace` share are taken from `found`."""
    lines = list[str]()
    matcher = SequenceMatcher(None, search, replace, autojunk=False)
    for kind, first, last, new_first, new_last in matcher.get_opcodes():
        if kind == "equal":
            lines += [line if _body(line) != line else line + newline for line in found[first:last]]
        else:
            lines += [_indented(line, levels) + newline for line in replace[new_first:new_last]]
    text = "".join(lines)
    return text if _body(found[-1]) != found[-1] else _without_line_end(text)


def _indented(line: str, levels: dict[str, str]) -> str:
    """`line` of the hunk with the indentation of the text; a blank one is empty."""
    if not line.strip():
        return ""
    own = _indentation(line)
    level = max((level for level in levels if own.startswith(level)), key=len, default=None)
    if level is None:
        # Further left than all that was quoted: what the text has in addition stays in front.
        shallowest = min(levels, key=len)
        return levels[shallowest].removesuffix(shallowest) + line
    if levels[level] == level:
        return line
    step, step_there = _step(levels, level)
    deeper, steps = own[len(level) :], 0
    while deeper.startswith(step):
        deeper, steps = deeper.removeprefix(step), steps + 1
    return levels[level] + step_there * steps + deeper + line[len(own) :]


def _step(levels: dict[str, str], level: str) -> tuple[str, str]:
    """One more level of indentation at `level`, in the hunk and in the text."""
    there = levels[level]
    above = max((shallower for shallower in levels if len(shallower) < len(level)), key=len, default=None)
    if above is not None and len(levels[above]) < len(there):
        return level[len(above) :], there[len(levels[above]) :]
    tabs, tabs_there = "\t" in level, "\t" in there
    if tabs_there and not tabs:
        return " " * (len(level) // len(there) or 4), "\t"
    if tabs and not tabs_there:
        return "\t", " " * (len(there) // len(level) or 4)
    return "\t", "\t"


def _bodies(text: str) -> list[str]:
    """The lines without their ends; a line end at the end of `text` ends the last line."""
    bodies = [_body(line) for line in split_lines(text)]
    return bodies[:-1] if not bodies[-1] else bodies


def _body(line: str) -> str:
    return line.rstrip("\r\n")


def _without_line_end(text: str) -> str:
    return text[:-2] if text.endswith("\r\n") else text[:-1]


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _newline(lines: Sequence[str]) -> str:
    ends = Counter(line[len(_body(line)) :] for line in lines if _body(line) != line)
    return ends.most_common(1)[0][0] if ends else "\n"


def _first(search: Sequence[str]) -> str:
    return next(body.strip() for body in search if body.strip())
