"""Function-level changes of real public history: packages between two releases.

The wheels are fetched once, by pip, into a cache outside the checkout; nothing of them is imported.
"""

import ast
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

PACKAGES = {
    "attrs": ("22.2.0", "24.2.0"),
    "Jinja2": ("3.0.3", "3.1.4"),
    "packaging": ("21.3", "24.2"),
    "starlette": ("0.27.0", "0.41.3"),
    "urllib3": ("1.26.18", "2.2.3"),
    "Werkzeug": ("2.2.3", "3.1.3"),
}
LINES = range(4, 200)


@dataclass(frozen=True, slots=True)
class Change:
    """One function before and after, in its file before. The texts are whole lines, without the last end.

    `lead` is what of `new` are decorators.
    """

    name: str
    file: str
    start: int
    old: str
    new: str
    lead: str


def changes(count: int) -> list[Change]:
    """So many changes, spread evenly over all that there are."""
    found = [change for package, versions in PACKAGES.items() for change in between(package, *versions)]
    return [found[index * len(found) // count] for index in range(count)]


def between(package: str, before: str, after: str) -> Iterator[Change]:
    old, new = (sources(package, version) for version in (before, after))
    for path in sorted(old.keys() & new.keys()):
        then, now = functions(old[path]), functions(new[path])
        for name in sorted(then.keys() & now.keys()):
            (start, text, _), (_, changed, lead) = then[name], now[name]
            short = all(len(each.splitlines()) in LINES for each in (text, changed))
            if text != changed and short:
                yield Change(f"{path}:{name}", old[path], start, text, changed, lead)


def functions(source: str) -> dict[str, tuple[int, str, str]]:
    """Where each function starts (code points), its text and its decorators, under its qualified name."""
    lines = source.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found: dict[str, tuple[int, str, str]] = {}

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"{prefix}{child.name}"
                if not isinstance(child, ast.ClassDef):
                    first = min([child.lineno, *(each.lineno for each in child.decorator_list)]) - 1
                    last = child.end_lineno or child.lineno
                    text = source[starts[first] : starts[last]].rstrip("\n")
                    lead = source[starts[first] : starts[child.lineno - 1]]
                    # Of several with one name (overloads, properties) none is certain.
                    found[name] = (-1, "", "") if name in found else (starts[first], text, lead)
                visit(child, f"{name}.")

    visit(ast.parse(source), "")
    return {name: each for name, each in found.items() if each[0] >= 0}


def sources(package: str, version: str) -> dict[str, str]:
    """The Python files of a release."""
    folder = user_cache_path("midstream") / "bench" / f"{package}-{version}"
    if not any(folder.glob("*.whl")):
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
                *("--no-deps", "--only-binary=:all:", "--dest", str(folder), f"{package}=={version}"),
            ],
            check=True,
        )
    return dict(files(next(folder.glob("*.whl"))))


def files(wheel: Path) -> Iterator[tuple[str, str]]:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            text = archive.read(name).decode("utf-8") if name.endswith(".py") else ""
            if text and "\r" not in text and "\f" not in text:
                yield name.removeprefix("src/"), text
