"""Logging without keys, prompts and code."""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lsp_server.settings import Log, Settings, keys_read
from lsp_server.settings.folders import named_path

SHORT = 120
"""Characters of an argument that may be shown: enough for a method, an id, a path; too few for code."""

WIRE_LOGGERS = ("pygls", "websockets", "httpx", "httpx2", "httpcore", "httpcore2", "openai", "anthropic")


LEVELS = {
    "error": logging.ERROR,
    "warning": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
    "trace": logging.DEBUG,
}
"""At `trace` the libraries of the wire are heard too, without the bodies of their messages."""


class RedactingFilter(logging.Filter):
    """Takes the bodies out of the records of libraries that log them, and keys out of every record.

    `secrets` gives the keys that are in use. A filter on a logger does not see the records of its children,
    so it belongs on the handler.
    """

    def __init__(self, secrets: Callable[[], Iterable[str]] = tuple) -> None:
        super().__init__()
        self._secrets = secrets

    def filter(self, record: logging.LogRecord) -> bool:
        # Most runs log nothing, and the guard takes a while to load.
        from lsp_server.core.guard import redact

        from_wire = record.name.partition(".")[0] in WIRE_LOGGERS
        try:
            message = _without_bodies(record) if from_wire else record.getMessage()
        except (TypeError, ValueError, KeyError):
            message = str(record.msg)
        record.msg, record.args = redact(message, self._secrets()), None
        if record.exc_info and record.exc_info[1] is not None:
            record.exc_text = redact(_trace(record.exc_info[1], with_text=not from_wire), self._secrets())
        return True


def configure(log: Log, secrets: Callable[[], Iterable[str]] = tuple) -> None:
    """Log as the settings say, through the filter and nowhere else; called again, it starts anew.

    Without a file, or with one that cannot be written, the log goes to stderr, where editors show it.
    """
    handler = _handler(log.file)
    handler.addFilter(RedactingFilter(secrets))
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=LEVELS[log.level], handlers=[handler], force=True)
    for name in WIRE_LOGGERS:
        logging.getLogger(name).setLevel(logging.NOTSET if log.level == "trace" else logging.WARNING)


def keys_in(settings: Settings, environment: Mapping[str, str]) -> list[str]:
    """The keys for the filter to look for: those that the settings name in the environment, and those that
    were read, from the key store too."""
    references = (
        value for model in settings.models.values() for value in (model.key, *model.headers.values())
    )
    names = {reference.removeprefix("env:") for reference in references if reference.startswith("env:")}
    named = [environment[name].strip() for name in sorted(names) if environment.get(name, "").strip()]
    return [*named, *(keys_read() - set(named))]


def _handler(file: str) -> logging.Handler:
    if file:
        try:
            path = named_path(file)
            path.touch(mode=0o600)
            return logging.FileHandler(path, encoding="utf-8")
        except OSError:
            return logging.StreamHandler()
    return logging.StreamHandler()


def _without_bodies(record: logging.LogRecord) -> str:
    """The message with each argument that may hold a body replaced by its kind."""
    message = str(record.msg)
    if isinstance(record.args, Mapping):
        return message % {key: _brief(value) for key, value in record.args.items()}
    if record.args:
        return message % tuple(_brief(value) for value in record.args)
    line = message.partition("\n")[0]
    return line if line == message and len(line) <= SHORT else f"{line[:SHORT]}…"


def _brief(value: Any) -> Any:
    if isinstance(value, int | float) or value is None:
        return value
    if isinstance(value, str) and len(value) <= SHORT and not set(value) & set("\n{["):
        return value
    return f"<{type(value).__name__}>"


def _trace(error: BaseException, *, with_text: bool) -> str:
    """Where an error came from. The text of a library's error may hold a body, so it can be left out."""
    lines = [f"{type(error).__name__}: {error}" if with_text else type(error).__name__]
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        lines.append(f"  {code.co_filename}:{trace.tb_lineno} in {code.co_name}")
        trace = trace.tb_next
    if error.__cause__ is not None:
        lines.append(f"caused by {_trace(error.__cause__, with_text=with_text)}")
    return "\n".join(lines)
