"""The schema as people read it: the page docs/settings.md."""

import json
from collections.abc import Iterator, Mapping

from lsp_server.settings.checking import expectation
from lsp_server.settings.environment import PREFIX
from lsp_server.settings.shapes import (
    Option,
    alternatives,
    is_group,
    is_list,
    is_mapping,
    item_of,
    options,
    plain,
    shouting,
)
from lsp_server.settings.sources import USER_ONLY
from lsp_server.settings.values import Settings

INTRODUCTION = """\
# Settings

<!-- Written by `midstream config schema --markdown`; a test keeps it fresh. -->

Every setting has a default: with no settings at all, Midstream completes with its embedded model.
The same keys are read from these places, later ones over earlier ones:

1. the built-in defaults;
2. your file: `config.toml` in the user's configuration folder (`midstream config show` prints the path;
   `MIDSTREAM_CONFIG` names another file);
3. the environment: `MIDSTREAM_COMPLETE_DEBOUNCE=120`; a variable of a whole object, such as
   `MIDSTREAM_MODELS`, holds JSON or inline TOML, a list is JSON or separated by commas;
4. `initializationOptions` of the editor's language client;
5. the editor's `workspace/configuration`, under `midstream`.

The last one can carry what a repository brings along, so `models`, `budget`, `checks` and `log.file` are not
read from it, and its `context.ignore` can only add to yours. In a workspace that the editor calls untrusted
it is not read at all.

An API key is never written into a setting. A key is named, as `env:NAME` for an environment variable or
`keyring:NAME` for the system's key store, filled by `keyring set midstream NAME`.

```toml
[models.fast]
protocol = "responses-ws"
model = "gpt-5.3-codex-spark"
key = "env:OPENAI_API_KEY"
fallback = "local"

[tasks]
edit = "fast"

[complete]
languages = ["*", "!markdown"]

[budget]
perDay = 2.0
perMonth = { money = 20.0, models = { fast = 15.0 } }
```

`midstream config check` names line and column of every mistake, `midstream config show` says where each value
came from, and `midstream config schema` prints the JSON Schema for completion in an editor.
"""


def page() -> str:
    """docs/settings.md: the introduction, then a table for each object of the schema."""
    return INTRODUCTION + "\n".join(_sections()) + "\n"


def _sections() -> Iterator[str]:
    for key, option in options(Settings).items():
        title = f"{key}.NAME" if is_mapping(option.shape) else key
        group = item_of(option.shape) if is_mapping(option.shape) else option.shape
        yield f"\n## `{title}`\n\n{option.text}"
        if (key,) in USER_ONLY:
            yield "\nNot read from `workspace/configuration`."
        if is_group(group):
            yield from _table(group, (key,), in_environment=is_group(option.shape))
            for inner, name in _inner_groups(group):
                yield f"\n`{inner}`:"
                yield from _table(name, (), in_environment=False)
        else:
            yield f"\n{_type_words(option)}; absent by default."


def _table(group: type, path: tuple[str, ...], *, in_environment: bool) -> Iterator[str]:
    variable = " variable |" if in_environment else ""
    yield f"\n| key | type | default |{variable} meaning |"
    yield "|---|---|---|---|---|" if in_environment else "|---|---|---|---|"
    for key, option in options(group).items():
        name = PREFIX + "_".join(shouting(part) for part in (*path, key))
        variable = f" `{name}` |" if in_environment else ""
        words = f"{_type_words(option)} | {_default_words(option)}"
        yield f"| `{key}` | {words} |{variable} {option.text} |"


def _inner_groups(group: type) -> Iterator[tuple[str, type]]:
    """The objects inside an object, each once, under the keys that hold it."""
    found: dict[type, list[str]] = {}
    for key, option in options(group).items():
        for shape in alternatives(item_of(option.shape) or option.shape):
            if is_group(shape):
                found.setdefault(shape, []).append(f"{key}.NAME" if is_mapping(option.shape) else key)
    for inner, keys in found.items():
        yield "`, `".join(keys), inner
        yield from ((f"{keys[0]}.{name}", deeper) for name, deeper in _inner_groups(inner))


def _type_words(option: Option) -> str:
    shape = option.shape
    if is_list(shape):
        return "list of objects" if is_group(item_of(shape)) else "list of texts"
    if is_mapping(shape):
        return "object"
    if any(is_group(member) for member in alternatives(shape)):
        return "number or object" if option.shorthand else "object"
    return expectation(option, shape).replace('"', "`")


def _default_words(option: Option) -> str:
    value = plain(option.default)
    if value in (None, "", [], {}) or isinstance(value, Mapping):
        return ""
    return f"`{json.dumps(value)}`"
