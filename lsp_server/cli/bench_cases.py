"""What `midstream bench` asks: holes in your own files, or in a built-in set."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lsp_server.cli.headless import LANGUAGES
from lsp_server.core.document import Document
from lsp_server.core.text import split_lines

MOST_BYTES = 200_000
LONGEST_LINE = 120
HOLES_A_FILE = 2


@dataclass(frozen=True, slots=True)
class Hole:
    """A place in a file with the rest of its line taken out: `wanted` is what is missing."""

    path: str
    language: str
    before: str
    after: str
    wanted: str

    def document(self) -> Document:
        """The file as it stands while its author types."""
        return Document.open(f"untitled:{self.path}", self.language, 1, self.before + self.after)


BUILT_IN = {
    "temperature.py": (
        "python",
        '''def celsius_to_fahrenheit(celsius: float) -> float:
    """Convert a temperature."""
    return celsius * 9 / 5 + 32


def fahrenheit_to_celsius(fahrenheit: float) -> float:
    """Convert a temperature."""
    return (fahrenheit - 32) * 5 / 9


def mean(values: list[float]) -> float:
    """The arithmetic mean."""
    if not values:
        raise ValueError("no values")
    return sum(values) / len(values)
''',
    ),
    "cart.ts": (
        "typescript",
        """interface Item {
  name: string;
  price: number;
  quantity: number;
}

export function total(items: Item[]): number {
  let sum = 0;
  for (const item of items) {
    sum += item.price * item.quantity;
  }
  return sum;
}

export function names(items: Item[]): string[] {
  return items.map((item) => item.name);
}
""",
    ),
    "stack.go": (
        "go",
        """package stack

type Stack struct {
	items []int
}

func (s *Stack) Push(item int) {
	s.items = append(s.items, item)
}

func (s *Stack) Len() int {
	return len(s.items)
}

func (s *Stack) Empty() bool {
	return len(s.items) == 0
}
""",
    ),
}


def built_in() -> list[Hole]:
    """Holes in the built-in files."""
    return [hole for name, (language, text) in BUILT_IN.items() for hole in holes(name, language, text)]


def in_folder(folder: Path, most: int) -> list[Hole]:
    """Holes in the source files of a folder, in the order of their paths, spread over the files."""
    found: list[Hole] = []
    for path in sorted(folder.rglob("*")):
        language = LANGUAGES.get(path.suffix.lower())
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if language is None or hidden or not path.is_file() or path.stat().st_size > MOST_BYTES:
            continue
        try:
            text = path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        found += list(holes(path.name, language, text))[:HOLES_A_FILE]
    step = max(1, len(found) // most)
    return found[::step][:most]


def holes(name: str, language: str, text: str) -> Iterator[Hole]:
    """Lines that assign or return something, from their operator on."""
    start = 0
    for number, line in enumerate(split_lines(text)):
        body = line.rstrip("\r\n")
        for mark in ("return ", " = ", " += "):
            at = body.find(mark)
            wanted = body[at + len(mark) :]
            if at >= 0 and number > 2 and len(wanted.strip()) > 3 and len(body) <= LONGEST_LINE:
                cut = start + at + len(mark)
                yield Hole(name, language, text[:cut], text[start + len(body) :], wanted)
                break
        start += len(line)
