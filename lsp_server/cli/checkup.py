"""The doctor's checks of one model, end to end: weights or key, connection, first token, cancel."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping
from importlib.util import find_spec

from lsp_server.cli.compose import ConfiguredModels
from lsp_server.core.prompt import Chat, Fill, Prompt, Style
from lsp_server.engine.errors import MidstreamError
from lsp_server.engine.ports import Backend, Delta, Request
from lsp_server.settings import MissingKey, Model, Settings, resolve_key

Line = tuple[str, bool, str, str]
"""Name, whether it is well, what was found, what to do."""

PATIENCE = 60.0

INSTALL = "Run `pip install 'midstream[local]'`, or configure a model at a provider."
PROVIDER = "Configure a model at a provider (`models` in the settings)."
MENDS = {
    "unreachable": "Check `url`, `proxy` and `caFile` of this model, and that its host is running.",
    "upgrade_refused": "Check `url` and `protocol` of this model.",
    "unauthorized": "Check `key` of this model, and that the key is still valid.",
    "rate_limited": "Wait a while, or name a `fallback` for this model.",
    "overloaded": "Try again later, or name a `fallback` for this model.",
    "stalled": "Try again later, or name a `fallback` for this model.",
    "interrupted": "Try again; when it stays so, check what lies between you and the host.",
    "rejected": "Check `model`, `protocol` and `omit` of this model.",
    "model_missing": "Run `midstream model pull`, or choose other weights with `midstream model use`.",
    "budget": "Raise `budget` in the settings, or wait until the day or the month is over.",
}
"""What to do about an error, by its code."""
LOCAL_MENDS = {
    "unreachable": "Run `midstream host stop` and try again; host.log in the cache folder says more.",
}


async def examine_model(model: Model, environment: Mapping[str, str]) -> AsyncIterator[Line]:
    """The checks in the order in which a request needs them; the first failure ends them."""
    name = f"model {model.name}"
    local = model.protocol == "local"
    if local:
        for line in local_parts(model):
            yield line
            if not line[1]:
                return
    elif model.key:
        try:
            resolve_key(model.key, environment)
        except MissingKey as error:
            yield (f"{name}, key", False, str(error), "Set the variable, or store the key in the key store.")
            return
        yield (f"{name}, key", True, f"found under {model.key}", "")
    models = ConfiguredModels(environment)
    models.configure(Settings(models={model.name: model}), lambda status: None)
    try:
        backend = models.backend("complete", model.name)
        async for line in conversation(name, backend):
            yield line
    except MidstreamError as error:
        mends = MENDS | LOCAL_MENDS if local else MENDS
        yield (name, False, str(error), mends.get(error.code, ""))
    except TimeoutError:
        yield (name, False, f"It did not answer within {PATIENCE:.0f} seconds.", MENDS["stalled"])
    finally:
        await models.close()


def local_parts(model: Model) -> list[Line]:
    """What the embedded model needs on this machine."""
    from lsp_server.local import weights
    from lsp_server.local.processor import missing_runtime

    reason = missing_runtime()
    runtime = "embedded model, runtime"
    if reason is not None:
        return [(runtime, False, reason, INSTALL if find_spec("xllamacpp") is None else PROVIDER)]
    try:
        found = weights.find(model.model)
    except MidstreamError as error:
        weighed = ("embedded model, weights", False, str(error), MENDS["model_missing"])
    else:
        weighed = ("embedded model, weights", True, str(found.path), "")
    return [(runtime, True, "xllamacpp is here", ""), weighed]


async def conversation(name: str, backend: Backend) -> AsyncIterator[Line]:
    """A short answer, then one that is cancelled."""
    started = time.perf_counter()
    text, first = "", None
    async with (
        asyncio.timeout(PATIENCE),
        contextlib.aclosing(backend.stream(question(backend.style))) as stream,
    ):
        async for event in stream:
            if isinstance(event, Delta) and event.text:
                first = first or time.perf_counter() - started
                text += event.text
    if first is None:
        yield (f"{name}, answer", False, "It answered nothing.", MENDS["rejected"])
        return
    total = time.perf_counter() - started
    yield (
        f"{name}, answer",
        True,
        f"first token after {first * 1000:.0f} ms, {total * 1000:.0f} ms in all",
        "",
    )
    started = time.perf_counter()
    async with (
        asyncio.timeout(PATIENCE),
        contextlib.aclosing(backend.stream(question(backend.style))) as stream,
    ):
        async for _ in stream:
            break
    yield (
        f"{name}, cancel",
        True,
        f"let go {(time.perf_counter() - started) * 1000:.0f} ms after the request",
        "",
    )


def question(style: Style) -> Request:
    """A request that any model can answer with a few tokens."""
    prompt: Prompt
    if style.kind == "chat":
        prompt = Chat("You complete code. Answer with code only.", "", "def add(a, b):\n    return")
    else:
        prompt = Fill("def add(a, b):\n    return", "", "plain", True, "add.py", "python")
    return Request("complete", prompt, max_tokens=8, cache_key="doctor")
