"""Changing one string in a TOML file that a person wrote, and nothing else in it."""

import json
import re
import tomllib

TABLE = re.compile(r"^\s*\[(?P<name>[^\[\]]+)\]\s*(#.*)?$")
STRING = re.compile(r"""(?P<head>\s*[\w."'-]+\s*=\s*)(?P<value>"(?:[^"\\]|\\.)*"|'[^']*')""")


class CannotEdit(ValueError):
    """The file is written in a way that this cannot change; nothing was changed."""


def with_string(text: str, table: str, key: str, value: str) -> str:
    """The text with `key` of `[table]` set to a string. Comments and the rest stay as they are.

    Raises CannotEdit when the text is no TOML, or holds the key in a form that is not understood.
    """
    try:
        wanted = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CannotEdit(str(error)) from error
    inner = wanted
    for name in table.split("."):
        inner = inner.setdefault(name, {})
        if not isinstance(inner, dict):
            raise CannotEdit(f"{table} is no table")
    inner[key] = value
    # JSON leaves DEL as it is, TOML does not allow that.
    literal = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    changed = _changed(text, table, key, literal)
    try:
        if tomllib.loads(changed) == wanted:
            return changed
    except tomllib.TOMLDecodeError:
        pass
    raise CannotEdit(f"{table}.{key} is not written as a line of its own under [{table}]")


def _changed(text: str, table: str, key: str, literal: str) -> str:
    lines = text.splitlines(keepends=True)
    current = ""
    header = None
    for index, line in enumerate(lines):
        if found := TABLE.match(line.rstrip("\r\n")):
            current = re.sub(r"\s", "", found["name"])
            header = index if current == table else header
            continue
        assigned = STRING.match(line) if current == table else None
        if assigned and assigned["head"].split("=")[0].strip() == key:
            lines[index] = f"{assigned['head']}{literal}{line[assigned.end('value') :]}"
            return "".join(lines)
    if header is not None:
        lines[header] = lines[header].rstrip("\r\n") + "\n"
        return "".join([*lines[: header + 1], f"{key} = {literal}\n", *lines[header + 1 :]])
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}[{table}]\n{key} = {literal}\n"
