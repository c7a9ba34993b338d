"""Checking untrusted values against the schema: what is right is kept, what is wrong becomes a problem."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lsp_server.settings.shapes import (
    Option,
    alternatives,
    choices,
    is_group,
    is_list,
    is_mapping,
    item_of,
    options,
)
from lsp_server.texts import settings as texts

Path = tuple[str, ...]
Report = Callable[[Path, str], None]

REFERENCE = re.compile(r"env:[A-Za-z_]\w*|keyring:\S+", re.ASCII)
KEY_ITSELF = re.compile(r"(env|keyring):((sk|gsk|csk|xai|pk|key|AIza|hf|ghp)[-_]?\S{16,}|[A-Za-z0-9]{32,})")
"""Where somebody has put the key after the colon, and not its name."""

REFUSED = "refused:"
"""Stands for an address that was refused: without it a model would go to its vendor, or around its proxy."""

SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Absent:
    """Stands for a value that is missing or was refused."""


ABSENT = Absent()


def check_group(group: type, value: Any, path: Path, report: Report) -> Any:
    """The right part of an object, under its external keys, or ABSENT. Lua writes its empty table as `[]`."""
    if value is None or value == []:
        return {}
    if not isinstance(value, Mapping):
        report(path, texts.NOT_AN_OBJECT.format(kind=kind_of(value)))
        return ABSENT
    known = options(group)
    right = {}
    for key, inner in value.items():
        if key not in known:
            report((*path, str(key)), texts.NOT_A_SETTING.format(suggestion=suggestion(str(key), known)))
        elif inner is not None:
            checked = check_option(known[key], inner, (*path, key), report)
            if checked is not ABSENT:
                right[key] = checked
    return right


def check_option(option: Option, value: Any, path: Path, report: Report) -> Any:
    """The checked value of one option, or ABSENT."""
    if option.secret:
        return check_secret(option, value, path, report)
    if (
        option.key in ("url", "proxy", "editUrl")
        and isinstance(value, str)
        and "@" in value.partition("//")[2]
    ):
        report(path, texts.HOLDS_CREDENTIALS)
        checked: Any = ABSENT
    else:
        checked = check_shape(option, option.shape, value, path, report)
    return REFUSED if checked is ABSENT and option.key in ("url", "proxy") else checked


def check_shape(option: Option, shape: Any, value: Any, path: Path, report: Report) -> Any:
    """The checked value of an option, or of one item of it, or ABSENT."""
    if option.shorthand and is_number(value) and (is_group(shape) or shape is float):
        value = {option.shorthand: value}
    if is_group(shape):
        return check_group(shape, value, path, report)
    if is_mapping(shape):
        return check_mapping(option, item_of(shape), value, path, report)
    if is_list(shape):
        return check_list(option, item_of(shape), value, path, report)
    for alternative in alternatives(shape):
        if is_group(alternative):
            return check_group(alternative, value, path, report)
        fitted = fit(alternative, value)
        if fitted is not ABSENT and in_range(option, fitted):
            return fitted
    report(path, texts.WRONG_VALUE.format(expectation=expectation(option, shape), shown=shown(value)))
    return ABSENT


def check_mapping(option: Option, item: Any, value: Any, path: Path, report: Report) -> Any:
    if value == []:
        return {}
    if not isinstance(value, Mapping):
        report(path, texts.NOT_AN_OBJECT.format(kind=kind_of(value)))
        return ABSENT
    if item is Any:
        return dict(value)
    checked = {
        str(key): check_shape(option, item, inner, (*path, str(key)), report)
        for key, inner in value.items()
        if inner is not None
    }
    return {key: inner for key, inner in checked.items() if inner is not ABSENT}


def check_list(option: Option, item: Any, value: Any, path: Path, report: Report) -> Any:
    if value == {}:
        return []
    if not isinstance(value, list | tuple):
        report(path, texts.NOT_A_LIST.format(kind=kind_of(value)))
        return ABSENT
    checked = [
        check_shape(option, item, inner, (*path, str(index)), report) for index, inner in enumerate(value)
    ]
    return [inner for inner in checked if inner is not ABSENT]


def check_secret(option: Option, value: Any, path: Path, report: Report) -> Any:
    """A secret is named, never written down: a literal one is refused and not repeated."""
    if is_mapping(option.shape):
        checked = check_mapping(option, str, value, path, _silently(report))
        literal = [
            name
            for name, header in (checked or {}).items()
            if SECRET_HEADER.search(name) and not is_reference(header)
        ]
        for name in literal:
            report((*path, name), texts.HOLDS_KEY)
        return ABSENT if checked is ABSENT else {k: v for k, v in checked.items() if k not in literal}
    if value == "" or (isinstance(value, str) and is_reference(value)):
        return value
    report(path, texts.HOLDS_KEY)
    return ABSENT


def is_reference(text: str) -> bool:
    """True for `env:NAME` and `keyring:NAME`, unless the name is a key."""
    return REFERENCE.fullmatch(text) is not None and KEY_ITSELF.fullmatch(text) is None


def _silently(report: Report) -> Report:
    """Report without repeating the value that was found."""
    return lambda path, sentence: report(path, sentence.split(", not ")[0])


def fit(shape: Any, value: Any) -> Any:
    """The value as this simple shape holds it, or ABSENT. Lua and JSON write whole numbers as floats."""
    if choices(shape):
        fits = any(value == choice and type(value) is type(choice) for choice in choices(shape))
        return value if fits else ABSENT
    if shape is Any:
        return value
    if shape is int and is_number(value) and float(value).is_integer():
        return int(value)
    if shape is float and is_number(value):
        return float(value)
    if shape in (bool, str) and type(value) is shape:
        return value
    return ABSENT


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def in_range(option: Option, value: Any) -> bool:
    if not is_number(value):
        return True
    above = option.minimum is None or option.minimum <= value
    return above and (option.maximum is None or value <= option.maximum)


def expectation(option: Option, shape: Any) -> str:
    """What a value should have been, in words."""
    words: list[str] = []
    for alternative in alternatives(shape):
        words += [f'"{choice}"' for choice in choices(alternative) if choice] or [
            _NAMES[alternative] + _bounds(option)
        ]
    return " or ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else words[0]


_NAMES = {bool: texts.TRUE_OR_FALSE, int: texts.WHOLE_NUMBER, float: "a number", str: "a text"}


def _bounds(option: Option) -> str:
    if option.minimum is not None and option.maximum is not None:
        return " " + texts.FROM_TO.format(minimum=option.minimum, maximum=option.maximum)
    return "" if option.minimum is None else " " + texts.AT_LEAST.format(minimum=option.minimum)


def kind_of(value: Any) -> str:
    """The JSON kind of a value, in words."""
    if isinstance(value, Mapping):
        return texts.AN_OBJECT
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing"
    return _NAMES.get(type(value), "a " + type(value).__name__)


def shown(value: Any) -> str:
    """A short wrong value as it was written, of a long one only its kind."""
    if isinstance(value, str) and len(value) <= 40:
        return f'"{value}"'
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else kind_of(value)


def suggestion(key: str, known: Mapping[str, Any]) -> str:
    """`; did you mean ...?` when a known key is near, spelling in snake_case or lower case included."""
    # Only a mistake pays for the import, not every start.
    import difflib

    folded = {_folded(name): name for name in known}
    near = difflib.get_close_matches(_folded(key), folded, n=1, cutoff=0.6)
    return texts.DID_YOU_MEAN.format(near=folded[near[0]]) if near else ""


def _folded(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()
