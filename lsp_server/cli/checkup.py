"""The doctor's checks of one model, end to end: weights or key, connection, first token, cancel, lanes."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from importlib.util import find_spec

from lsp_server.cli.compose import ConfiguredModels
from lsp_server.core.prompt import Chat, Fill, Prompt, Style
from lsp_server.engine.errors import BudgetExceeded, MidstreamError, Unauthorized
from lsp_server.engine.masking import Masking, masked_prompt
from lsp_server.engine.meter import Meter, Metered, usage_file
from lsp_server.engine.ports import Backend, Delta, Request
from lsp_server.settings import Budget, Model, Settings
from lsp_server.texts import doctor as texts

Line = tuple[str, bool, str, str]
"""Name, whether it is well, what was found, what to do."""

PATIENCE = 60.0

MENDS = {
    "unreachable": texts.MEND_UNREACHABLE,
    "upgrade_refused": texts.MEND_UPGRADE,
    "unauthorized": texts.MEND_KEY,
    "rate_limited": texts.MEND_RATE,
    "overloaded": texts.MEND_LATER,
    "stalled": texts.MEND_LATER,
    "interrupted": texts.MEND_INTERRUPTED,
    "rejected": texts.MEND_REJECTED,
    "model_missing": texts.MEND_WEIGHTS,
    "budget": texts.MEND_BUDGET,
}
"""What to do about an error, by its code."""
STEPS = {
    "key": texts.MEND_NO_KEY,
    "DNS": texts.MEND_DNS,
    "TCP": texts.MEND_TCP,
    "proxy": texts.MEND_PROXY,
    "TLS": texts.MEND_TLS,
}
"""What to do about a step of the connection that failed."""
LOCAL_MENDS = {
    "unreachable": texts.MEND_HOST,
}
LANES = {
    True: texts.LANES,
    False: texts.NO_LANES,
    None: texts.CONNECTIONS,
}


async def examine_model(
    model: Model, budget: Budget, environment: Mapping[str, str]
) -> AsyncGenerator[Line, None]:
    """The checks in the order in which a request needs them; the first failure that matters ends them."""
    local = model.protocol == "local"
    check = _local(model, environment) if local else _remote(model, budget, environment)
    async with contextlib.aclosing(check) as lines:
        async for line in lines:
            yield line


async def _local(model: Model, environment: Mapping[str, str]) -> AsyncGenerator[Line, None]:
    for line in local_parts(model):
        yield line
        if not line[1]:
            return
    name = f"model {model.name}"
    models = ConfiguredModels(environment)
    models.configure(Settings(models={model.name: model}), lambda status: None)
    try:
        backend = models.backend("complete", model.name)
        async for line in conversation(name, backend, lambda: True, MENDS | LOCAL_MENDS, "loading"):
            yield line
    except MidstreamError as error:
        yield (name, False, str(error), (MENDS | LOCAL_MENDS).get(error.code, ""))
    finally:
        await models.close()


async def _remote(model: Model, budget: Budget, environment: Mapping[str, str]) -> AsyncGenerator[Line, None]:
    # The SDKs and websockets take a while to load, and a local model needs none of them.
    from lsp_server.model import backend
    from lsp_server.model.dial import UpgradeRefused
    from lsp_server.model.probe import approach

    name = f"model {model.name}"
    keyed = False
    async with contextlib.aclosing(approach(model, environment)) as steps:
        async for step in steps:
            keyed = keyed or step.name == "key"
            if step.error is None:
                yield (f"{name}, {step.name}", True, step.found, "")
                continue
            mend = MENDS.get(step.error.code, "")
            if step.error.code == "unreachable" or step.name == "key":
                mend = STEPS.get(step.name, mend)
            yield (f"{name}, {step.name}", False, str(step.error), mend)
            if not isinstance(step.error, UpgradeRefused):
                return
    inner = backend(model, environment)
    meter = Meter(usage_file(environment), lambda: budget)
    metered = Metered(Masking(inner), model, meter)
    # Loading the detectors of secrets is no part of the time to the first token.
    await asyncio.to_thread(masked_prompt, question(inner.style).prompt)
    try:
        async for line in conversation(name, metered, lambda: getattr(inner, "lanes", None), MENDS):
            if keyed and line[1] and line[0].endswith(", first token"):
                yield (f"{name}, auth", True, texts.KEY_TAKEN, "")
            yield line
    finally:
        await metered.close()
        await meter.close()


def local_parts(model: Model) -> list[Line]:
    """What the embedded model needs on this machine."""
    from lsp_server.local import weights
    from lsp_server.local.processor import missing_runtime

    reason = missing_runtime()
    runtime = "embedded model, runtime"
    if reason is not None:
        return [(runtime, False, reason, texts.INSTALL if find_spec("xllamacpp") is None else texts.PROVIDER)]
    try:
        found = weights.find(model.model)
    except MidstreamError as error:
        weighed = ("embedded model, weights", False, str(error), MENDS["model_missing"])
    else:
        weighed = ("embedded model, weights", True, str(found.path), "")
    return [(runtime, True, texts.RUNTIME_HERE, ""), weighed]


async def conversation(
    name: str,
    backend: Backend,
    lanes: Callable[[], bool | None],
    mends: Mapping[str, str],
    before: str = "connecting",
) -> AsyncGenerator[Line, None]:
    """A short answer, then two at once of which one is cancelled. `lanes` is asked after that.

    `before` is what the time to the first token includes.
    """
    step = "first token"
    try:
        async with asyncio.timeout(PATIENCE):
            first, total = await _answer(backend)
        if first is None:
            yield (f"{name}, {step}", False, texts.NOTHING_ANSWERED, mends["rejected"])
            return
        found = texts.FIRST_TOKEN.format(first=first, before=before, total=total)
        yield (f"{name}, {step}", True, found, "")
        step = "cancel"
        async with asyncio.timeout(PATIENCE):
            let_go = await _cancel_one_of_two(backend)
        yield (f"{name}, {step}", True, texts.CANCELLED.format(let_go=let_go), "")
        yield (f"{name}, lanes", True, LANES[lanes()], "")
    except MidstreamError as error:
        step = "auth" if isinstance(error, Unauthorized) else step
        step = "budget" if isinstance(error, BudgetExceeded) else step
        yield (f"{name}, {step}", False, str(error), mends.get(error.code, ""))
    except TimeoutError:
        yield (f"{name}, {step}", False, texts.NO_END.format(seconds=PATIENCE), mends["stalled"])


async def _answer(backend: Backend) -> tuple[float | None, float]:
    """Milliseconds to the first token, None when there is none, and to the end."""
    started = time.perf_counter()
    first = None
    async with contextlib.aclosing(backend.stream(question(backend.style))) as stream:
        async for event in stream:
            if isinstance(event, Delta) and event.text:
                first = first or (time.perf_counter() - started) * 1000
    return first, (time.perf_counter() - started) * 1000


async def _cancel_one_of_two(backend: Backend) -> float:
    """Milliseconds from the cancel of one answer until it is gone, while another one runs on to its end."""
    other = asyncio.create_task(_answer(backend))
    try:
        async with contextlib.aclosing(backend.stream(question(backend.style, 64))) as stream:
            async for event in stream:
                if isinstance(event, Delta) and event.text:
                    break
            started = time.perf_counter()
        let_go = (time.perf_counter() - started) * 1000
        await other
    finally:
        other.cancel()
        await asyncio.gather(other, return_exceptions=True)
    return let_go


def question(style: Style, max_tokens: int = 8) -> Request:
    """A request that any model can answer with a few tokens."""
    prompt: Prompt
    if style.kind == "chat":
        prompt = Chat("You complete code. Answer with code only.", "", "def add(a, b):\n    return")
    else:
        prompt = Fill("def add(a, b):\n    return", "", "plain", True, "add.py", "python")
    return Request("complete", prompt, max_tokens=max_tokens, cache_key="doctor")
