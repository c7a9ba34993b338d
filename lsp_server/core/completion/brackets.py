"""Brackets and quotes, read without a parser while the text arrives."""

import re
from dataclasses import dataclass

CLOSER_OF = {"(": ")", "[": "]", "{": "}"}
CLOSERS = frozenset(CLOSER_OF.values())

_HASH = frozenset(
    {"python", "ruby", "shellscript", "yaml", "toml", "perl", "r", "makefile", "dockerfile", "elixir", "nix"}
)
_DASHES = frozenset({"lua", "sql", "haskell", "elm", "ada", "vhdl"})
# Where an apostrophe is more often a lifetime, a label, a prime or a letter of prose.
_APOSTROPHES = frozenset(
    {"rust", "haskell", "ocaml", "elm", "lisp", "clojure", "markdown", "plaintext", "latex", "html", "xml"}
)


# All that can mean anything here; whatever lies between is skipped at once.
_MEANING = re.compile(r"""[\n\\"'`()\[\]{},#/-]""")


@dataclass(frozen=True, slots=True)
class Mark:
    """A closer without its opener, or a comma outside brackets, at an offset of all text pushed."""

    offset: int
    text: str


class Scanner:
    """Push machine over code. Strings and line comments hide what is in them.

    `open` holds the closers that are due, the innermost last, the quote of an open string among them.
    """

    def __init__(self, language: str) -> None:
        self._quotes = '"`' if language in _APOSTROPHES else "\"'`"
        self._comment_start = "#" if language in _HASH else "--" if language in _DASHES else "//"
        self._string = ""
        self._outer_string = False
        self._comment = False
        self._escaped = -1
        self._last = "\n"
        self._offset = 0
        self._due: list[str] = []

    @property
    def open(self) -> list[str]:
        """The closers that are due."""
        return [*self._due, self._string] if self._string else list(self._due)

    def inner(self, language: str) -> "Scanner":
        """A scanner for the text that comes next, to which the brackets opened so far are outside."""
        scanner = Scanner(language)
        scanner._string, scanner._outer_string = self._string, bool(self._string)
        scanner._comment, scanner._last = self._comment, self._last
        return scanner

    def push(self, text: str) -> list[Mark]:
        """The marks in `text`."""
        marks = list[Mark]()
        for found in _MEANING.finditer(text):
            at, character = found.start(), found[0]
            last = text[at - 1] if at else self._last
            if self._is_mark(character, last, self._offset + at):
                marks.append(Mark(self._offset + at, character))
        self._last = text[-1:] or self._last
        self._offset += len(text)
        return marks

    def _is_mark(self, character: str, last: str, offset: int) -> bool:
        if character == "\n":
            # Only a template string goes on in the next line, so a stray quote does no harm beyond its own.
            self._comment = False
            if self._string != "`":
                self._string, self._outer_string = "", False
            return False
        if self._comment:
            return False
        if self._string:
            return self._in_string(character, offset)
        if self._starts_comment(character, last):
            self._comment = True
        elif character in self._quotes:
            self._string = character
        elif character in CLOSER_OF:
            self._due.append(CLOSER_OF[character])
        elif character in CLOSERS:
            return self._close(character)
        return character == "," and not self._due

    def _in_string(self, character: str, offset: int) -> bool:
        if offset == self._escaped:
            return False
        if character == "\\":
            self._escaped = offset + 1
        if character != self._string:
            return False
        closes_outer, self._string, self._outer_string = self._outer_string, "", False
        return closes_outer

    def _close(self, closer: str) -> bool:
        if closer not in self._due:
            return True
        while self._due.pop() != closer:
            pass
        return False

    def _starts_comment(self, character: str, last: str) -> bool:
        if self._comment_start == "#":
            return character == "#" and last.isspace()
        return last + character == self._comment_start
