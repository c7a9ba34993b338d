"""The shape of every setting, read off the dataclasses: what checking, schemas and references walk along."""

import dataclasses
import re
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


@dataclasses.dataclass(frozen=True, slots=True)
class Option:
    """One key of a group: `key` in camelCase for the outside, `field` in Python."""

    key: str
    field: str
    shape: Any
    default: Any
    text: str
    minimum: float | None
    maximum: float | None
    secret: bool
    shorthand: str


@cache
def options(group: type) -> Mapping[str, Option]:
    """The options of a dataclass by their external key, in the order of the source."""
    hints = get_type_hints(group)
    found = {}
    for field in dataclasses.fields(group):
        if field.metadata.get("internal"):
            continue
        default = field.default_factory() if callable(field.default_factory) else field.default
        option = Option(
            key=camel(field.name),
            field=field.name,
            shape=hints[field.name],
            default=default,
            **field.metadata,
        )
        found[option.key] = option
    return found


def camel(name: str) -> str:
    """`on_foreign_change` -> `onForeignChange`."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def shouting(key: str) -> str:
    """`onForeignChange` -> `ON_FOREIGN_CHANGE`, the spelling of environment variables."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key).upper()


def is_group(shape: Any) -> bool:
    """True for an object with fixed keys."""
    return isinstance(shape, type) and dataclasses.is_dataclass(shape)


def item_of(shape: Any) -> Any:
    """The shape of the items of a list or of the values of a mapping; None for anything else."""
    if get_origin(shape) is tuple:
        return get_args(shape)[0]
    if get_origin(shape) is Mapping:
        return get_args(shape)[1]
    return None


def is_list(shape: Any) -> bool:
    return get_origin(shape) is tuple


def is_mapping(shape: Any) -> bool:
    return get_origin(shape) is Mapping


def alternatives(shape: Any) -> tuple[Any, ...]:
    """The members of a union, nested ones flattened and None left out; a shape that is no union alone."""
    if get_origin(shape) in (Union, types.UnionType):
        members = (alternatives(member) for member in get_args(shape) if member is not type(None))
        return tuple(shape for group in members for shape in group)
    return (shape,)


def choices(shape: Any) -> tuple[Any, ...]:
    """The values of a `Literal`; nothing for anything else."""
    return get_args(shape) if get_origin(shape) is Literal else ()


def plain(value: Any) -> Any:
    """A setting as JSON would hold it, with its external keys; absent values are left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = ((option.key, getattr(value, option.field)) for option in options(type(value)).values())
        return {key: plain(inner) for key, inner in pairs if inner is not None}
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return [plain(inner) for inner in value]
    return value
