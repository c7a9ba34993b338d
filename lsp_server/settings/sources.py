"""One `Settings` from its four sources, later ones over earlier ones.

The built-in defaults, the user's TOML, the environment, `initializationOptions`, `workspace/configuration`.
The last one merges in what a repository brings, so what spends money, names hosts, runs commands or writes
files is not taken from it, and its ignore patterns can only add to the user's.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lsp_server.settings import environment as variables
from lsp_server.settings.checking import ABSENT, Path, Report, check_group
from lsp_server.settings.consistency import settle
from lsp_server.settings.keys import user_file
from lsp_server.settings.positions import Place, key_places
from lsp_server.settings.shapes import alternatives, is_group, is_list, is_mapping, item_of, options, plain
from lsp_server.settings.values import Settings
from lsp_server.texts import settings as texts

DEFAULT = "default"
CLIENT = "initializationOptions"
WORKSPACE = "workspace/configuration"
USER_ONLY = (("models",), ("budget",), ("checks",), ("log", "file"))


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one setting. `path` is its dotted key; line and column are one-based, TOML only."""

    path: str
    source: str
    sentence: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}:{self.column}"
        return f"{place}: {self.sentence}"


def load(
    user_toml: str | None,
    environment: Mapping[str, str],
    initialization_options: object,
    workspace: object | None,
    *,
    file: str = "settings file",
) -> tuple[Settings, list[Problem]]:
    """The settings of all sources, and what was wrong with them; whatever is right is used.

    `file` names the user's TOML in problems. `workspace` is the answer to the `midstream` section of
    `workspace/configuration`; in an untrusted workspace it is not read.
    """
    problems: list[Problem] = []
    places: Mapping[tuple[str, ...], Place] = {}

    def reporter(source: str) -> Report:
        def report(path: Path, said: str) -> None:
            line, column = _nearest(places, path) if source == file else (None, None)
            dotted = ".".join(path)
            problems.append(Problem(dotted, source, f"`{dotted}` {said}" if dotted else said, line, column))

        return report

    def checked(value: object, source: str) -> dict[str, Any]:
        tree = check_group(Settings, value, (), reporter(source))
        return {} if tree is ABSENT else dict(tree)

    layers: list[tuple[str, dict[str, Any]]] = []
    if user_toml is not None:
        try:
            tree = tomllib.loads(user_toml)
            places = key_places(user_toml)
            layers.append((file, checked(tree, file)))
        except tomllib.TOMLDecodeError as error:
            problems.append(_syntax_problem(str(error), user_toml, file))
    layers += variables.layers(environment, reporter)
    client = checked(_section(initialization_options), CLIENT)
    layers.append((CLIENT, client))
    if client.get("trusted") is not False:
        brought = checked(_section(workspace), WORKSPACE)
        layers.append((WORKSPACE, _restricted(brought, client, reporter(WORKSPACE))))

    merged = plain(Settings())
    origins: dict[str, str] = {}
    for source, layer in layers:
        if source != CLIENT and layer.pop("trusted", None) is not None:
            reporter(source)(("trusted",), texts.ONLY_FROM.format(source=CLIENT))
        _merge(merged, layer, (), source, origins)

    def refuse(path: Path, said: str) -> None:
        reporter(_origin(origins, path))(path, said)
        origins.pop(".".join(path), None)

    settle(merged, refuse)
    settings: Settings = _build(Settings, merged)
    defaults: dict[str, str] = {}
    _note(plain(settings), (), DEFAULT, defaults)
    models = {name: replace(model, name=name) for name, model in settings.models.items()}
    return replace(settings, models=models, origins={**defaults, **origins}), problems


def read(
    environment: Mapping[str, str], initialization_options: object, workspace: object | None = None
) -> tuple[Settings, list[Problem]]:
    """As `load`, with the user's file as it is now; one that cannot be read counts as none."""
    try:
        toml = user_file(environment).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        toml = None
    return load(toml, environment, initialization_options, workspace)


def load_user(
    environment: Mapping[str, str], initialization_options: object = None, workspace: object | None = None
) -> tuple[Settings, list[Problem]]:
    """As `load`, with the user's TOML read from its file; a file that cannot be read is a problem too."""
    path = user_file(environment)
    toml, problems = None, []
    try:
        toml = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        if environment.get("MIDSTREAM_CONFIG"):
            problems.append(Problem("", str(path), texts.NAMED_FILE_MISSING))
    except UnicodeDecodeError:
        problems.append(Problem("", str(path), texts.NOT_UTF8))
    except OSError as error:
        problems.append(Problem("", str(path), texts.CANNOT_BE_READ.format(reason=error.strerror)))
    settings, found = load(toml, environment, initialization_options, workspace, file=str(path))
    return settings, problems + found


def _section(value: object) -> object:
    """Clients send our section either bare or still under its name."""
    return value["midstream"] if isinstance(value, Mapping) and "midstream" in value else value


def _restricted(layer: dict[str, Any], client: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """What a workspace may set. VS Code repeats the user's own values here: those are dropped in silence."""
    for path in USER_ONLY:
        *groups, key = path
        group, allowed = layer, client
        for name in groups:
            group, allowed = group.get(name, {}), allowed.get(name, {})
        value = group.pop(key, None)
        if value and value != allowed.get(key) and not _holds(plain(Settings()), path, value):
            report(
                path,
                texts.NOT_FROM.format(source=WORKSPACE),
            )
    ignore = layer.get("context", {}).get("ignore", [])
    if any(pattern.startswith("!") for pattern in ignore):
        report(("context", "ignore"), texts.ONLY_ADDS)
        layer["context"]["ignore"] = [pattern for pattern in ignore if not pattern.startswith("!")]
    return layer


def _holds(tree: Any, path: Path, value: Any) -> bool:
    for key in path:
        tree = tree.get(key, {})
    return bool(tree == value)


def _merge(
    tree: dict[str, Any], layer: Mapping[str, Any], path: Path, source: str, origins: dict[str, str]
) -> None:
    """Lay one source over what is there, object by object. A workspace adds its ignore patterns."""
    for key, value in layer.items():
        here = (*path, key)
        if isinstance(value, dict) and isinstance(tree.get(key), dict):
            _merge(tree[key], value, here, source, origins)
            continue
        if source == WORKSPACE and here == ("context", "ignore"):
            value = [*tree[key], *value]
        tree[key] = value
        _note(value, here, source, origins)


def _note(value: Any, path: Path, source: str, origins: dict[str, str]) -> None:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            _note(inner, (*path, key), source, origins)
    elif path:
        origins[".".join(path)] = source


def _origin(origins: Mapping[str, str], path: Path) -> str:
    """Where the setting, or the newest thing inside it, came from."""
    dotted = ".".join(path)
    inside = [source for key, source in origins.items() if f"{key}.".startswith(f"{dotted}.")]
    return next((source for source in reversed(inside) if source != DEFAULT), DEFAULT)


def _build(shape: Any, value: Any) -> Any:
    """The value of a checked tree: groups become their dataclass, lists tuples."""
    group = next((inner for inner in alternatives(shape) if is_group(inner)), None)
    if group is not None:
        known = options(group)
        return group(**{known[key].field: _build(known[key].shape, inner) for key, inner in value.items()})
    if is_mapping(shape):
        return {key: _build(item_of(shape), inner) for key, inner in value.items()}
    if is_list(shape):
        return tuple(_build(item_of(shape), inner) for inner in value)
    return value


def _nearest(places: Mapping[tuple[str, ...], Place], path: Path) -> tuple[int | None, int | None]:
    """The place of a key, else of the innermost object around it that is written in the file."""
    for length in range(len(path), 0, -1):
        if path[:length] in places:
            return places[path[:length]]
    return None, None


def _syntax_problem(said: str, toml: str, file: str) -> Problem:
    place = re.search(r"\(at (?:line (\d+), column (\d+)|end of document)\)", said)
    sentence = texts.NOT_TOML.format(reason=said.partition(" (at ")[0])
    if place is None:
        return Problem("", file, sentence)
    if place.group(1):
        return Problem("", file, sentence, int(place.group(1)), int(place.group(2)))
    return Problem("", file, sentence, toml.count("\n") + 1, len(toml) - toml.rfind("\n"))
