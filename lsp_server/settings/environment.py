"""Settings from `MIDSTREAM_*` environment variables."""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from lsp_server.settings.checking import ABSENT, Path, Report, check_option, suggestion
from lsp_server.settings.shapes import Option, alternatives, is_group, is_list, is_mapping, options, shouting
from lsp_server.settings.values import Settings
from lsp_server.texts import settings as texts

PREFIX = "MIDSTREAM_"
WORDS = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}


def variables() -> Mapping[str, tuple[Path, Option]]:
    """Every variable that is read: `MIDSTREAM_COMPLETE_MAX_TOKENS` stands for `complete.maxTokens`.

    A group or `MIDSTREAM_MODELS` holds a whole object as JSON or inline TOML. Groups come before their keys.
    """
    return dict(_variables(Settings, ()))


def _variables(group: type, path: Path) -> Iterator[tuple[str, tuple[Path, Option]]]:
    for option in options(group).values():
        here = (*path, option.key)
        yield PREFIX + "_".join(shouting(part) for part in here), (here, option)
        if is_group(option.shape):
            yield from _variables(option.shape, here)


def layers(
    environment: Mapping[str, str], reporter: Callable[[str], Report]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """For each variable that is set, where it comes from and the settings it holds."""
    known = variables()
    for name, (path, option) in known.items():
        if name in environment:
            source = f"environment variable {name}"
            value = from_text(option, environment[name])
            checked = check_option(option, value, path, reporter(source))
            if checked is not ABSENT:
                yield source, nested(path, checked)
    groups = tuple(
        f"{PREFIX}{shouting(option.key)}_" for option in options(Settings).values() if is_group(option.shape)
    )
    for name in sorted(environment):
        if name.startswith(groups) and name not in known:
            report = reporter(f"environment variable {name}")
            report((name,), texts.NOT_A_SETTING.format(suggestion=suggestion(name, known)))


def nested(path: Path, value: Any) -> dict[str, Any]:
    """`("complete", "debounce"), 50` -> `{"complete": {"debounce": 50}}`."""
    for key in reversed(path):
        value = {key: value}
    return dict(value)


def from_text(option: Option, text: str) -> Any:
    """The value that a variable's text stands for; text that fits nothing is left for the check to refuse."""
    shapes = alternatives(option.shape)
    if bool in shapes and text.lower() in WORDS:
        return WORDS[text.lower()]
    if str in shapes:
        return text
    if is_list(option.shape) and not text.lstrip().startswith("["):
        return [item.strip() for item in text.split(",") if item.strip()]
    with suppress(ValueError):
        return json.loads(text)
    with suppress(ValueError):
        return tomllib.loads(f"value = {text}")["value"]
    with suppress(ValueError):
        return tomllib.loads(text) if any(is_group(shape) or is_mapping(shape) for shape in shapes) else text
    return text
