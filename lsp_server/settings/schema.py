"""The schema as programs read it: JSON Schema, and the settings that the VS Code extension contributes."""

from collections.abc import Iterator
from typing import Any

from lsp_server.settings.checking import REFERENCE
from lsp_server.settings.shapes import (
    Option,
    alternatives,
    choices,
    is_group,
    is_list,
    is_mapping,
    item_of,
    options,
    plain,
)
from lsp_server.settings.sources import USER_ONLY
from lsp_server.settings.values import Settings

_JSON_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}


def json_schema() -> dict[str, Any]:
    """JSON Schema of the user's file and of `initializationOptions`."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Midstream settings"}
    return {**head, **_group_schema(Settings)}


def _group_schema(group: type) -> dict[str, Any]:
    properties = {key: _option_schema(option) for key, option in options(group).items()}
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _option_schema(option: Option) -> dict[str, Any]:
    schema = {"description": option.text, **_shape_schema(option, option.shape)}
    if option.default is not None and not is_group(option.shape):
        schema["default"] = plain(option.default)
    return schema


def _shape_schema(option: Option, shape: Any) -> dict[str, Any]:
    if is_mapping(shape):
        return {"type": "object", "additionalProperties": _shape_schema(option, item_of(shape))}
    if is_list(shape):
        return {"type": "array", "items": _shape_schema(option, item_of(shape))}
    words = [choice for member in alternatives(shape) for choice in choices(member)]
    members = [_member_schema(option, member) for member in alternatives(shape) if not choices(member)]
    if words:
        members.append({"enum": words})
    if option.shorthand and is_group(shape):
        members.insert(0, {"type": "number", "minimum": 0})
    return members[0] if len(members) == 1 else {"anyOf": members}


def _member_schema(option: Option, shape: Any) -> dict[str, Any]:
    if is_group(shape):
        return _group_schema(shape)
    schema: dict[str, Any] = {"type": _JSON_TYPES[shape]} if shape in _JSON_TYPES else {}
    if shape in (int, float):
        bounds = {"minimum": option.minimum, "maximum": option.maximum}
        schema |= {name: bound for name, bound in bounds.items() if bound is not None}
    if option.secret and not is_mapping(option.shape):
        schema["pattern"] = f"^({REFERENCE.pattern})?$"
    return schema


def contributed() -> dict[str, Any]:
    """The `contributes.configuration.properties` of the VS Code extension.

    What a workspace may not set is scoped to the application; `trusted` is VS Code's own to say.
    """
    properties = {}
    for path, option in _leaves(Settings, ()):
        if path != ("trusted",):
            scope = "application" if any(path[: len(own)] == own for own in USER_ONLY) else "resource"
            properties[".".join(("midstream", *path))] = {**_option_schema(option), "scope": scope}
    return properties


def _leaves(group: type, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Option]]:
    """The options of groups within groups, but of a group that a bare number may stand for as a whole."""
    for key, option in options(group).items():
        if is_group(option.shape) and not option.shorthand:
            yield from _leaves(option.shape, (*path, key))
        else:
            yield (*path, key), option
