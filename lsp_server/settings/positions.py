"""Where each key of a TOML text stands, for messages that name line and column; tomllib does not say."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

TOKEN = re.compile(
    r'(?P<space>[ \t\r]+|\#[^\n]*)|(?P<text>"""(?:[^\\]|\\.)*?"{3,5}|\'{3}.*?\'{3,5}'
    r'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\')|(?P<mark>[\[\]{},=.\n])|(?P<bare>[^\s\[\]{},=.#"\']+)',
    re.DOTALL,
)

Place = tuple[int, int]


@dataclass(slots=True)
class _Scan:
    """The tokens of one text, and what was found so far."""

    tokens: list[tuple[str, int]]
    index: int = 0
    found: dict[tuple[str, ...], int] = field(default_factory=dict)

    def peek(self) -> str:
        return self.tokens[self.index][0] if self.index < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.index += 1
        return token

    def skip(self, marks: str) -> None:
        while self.peek() and self.peek() in marks:
            self.index += 1


def key_places(toml: str) -> Mapping[tuple[str, ...], Place]:
    """One-based line and column of each key path in a valid TOML text; list items count from "0"."""
    scan = _Scan(list(_tokens(toml)))
    prefix: tuple[str, ...] = ()
    tables: dict[tuple[str, ...], int] = {}
    while scan.peek():
        if scan.peek() == "\n":
            scan.take()
        elif scan.peek() == "[":
            scan.take()
            many = scan.peek() == "["
            scan.skip("[")
            prefix = _key(scan, (), "]")
            if many:
                tables[prefix] = tables.get(prefix, -1) + 1
                prefix = (*prefix, str(tables[prefix]))
            scan.skip("]")
        else:
            _value(scan, _key(scan, prefix, "="))
    return {path: _place(toml, offset) for path, offset in scan.found.items()}


def _tokens(toml: str) -> Iterator[tuple[str, int]]:
    for match in TOKEN.finditer(toml):
        if match.lastgroup != "space":
            yield match.group(), match.start()


def _key(scan: _Scan, prefix: tuple[str, ...], end: str) -> tuple[str, ...]:
    """Read a possibly dotted key up to its end mark, noting where each of its parts was seen first."""
    path = prefix
    while scan.peek() not in ("", end):
        token, offset = scan.tokens[scan.index]
        scan.take()
        if token != ".":
            path = (*path, _unquoted(token))
            scan.found.setdefault(path, offset)
    scan.take()
    return path


def _value(scan: _Scan, path: tuple[str, ...]) -> None:
    opener = scan.peek()
    if opener == "{":
        scan.take()
        scan.skip("\n,")
        while scan.peek() not in ("", "}"):
            _value(scan, _key(scan, path, "="))
            scan.skip("\n,")
        scan.take()
    elif opener == "[":
        scan.take()
        scan.skip("\n,")
        count = 0
        while scan.peek() not in ("", "]"):
            scan.found.setdefault((*path, str(count)), scan.tokens[scan.index][1])
            _value(scan, (*path, str(count)))
            scan.skip("\n,")
            count += 1
        scan.take()
    else:
        while scan.peek() and scan.peek() not in "\n,]}":
            scan.take()


def _unquoted(token: str) -> str:
    if token[0] not in "\"'":
        return token
    return str(tomllib.loads(f"key = {token}")["key"])


def _place(toml: str, offset: int) -> Place:
    return toml.count("\n", 0, offset) + 1, offset - toml.rfind("\n", 0, offset)
