"""Puts the configured models together: adapters, the embedded model's host, masking, meter and router."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict
from typing import Any

from lsp_server.core.prompt import Fill
from lsp_server.engine.errors import ModelMissing
from lsp_server.engine.masking import Masking
from lsp_server.engine.meter import Meter, Metered, usage_file
from lsp_server.engine.ports import Backend, Request, Since, Status, Task
from lsp_server.engine.router import Router
from lsp_server.engine.usage import as_data
from lsp_server.settings import Model, Settings
from lsp_server.texts import embedded as texts

Asker = Callable[[str, int], Coroutine[Any, Any, bool]]
"""Takes the name of a model and the bytes to download; resolves to whether the user agrees."""


class ConfiguredModels:
    """The models of one process. A model is built when it is first used and kept while its settings stay."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._settings = Settings()
        self._backends: dict[str, tuple[Model, Backend]] = {}
        self._tell: Callable[[Status], None] = lambda status: None
        self._warn: Callable[[str], None] = lambda sentence: None
        self._ask: Asker | None = None
        self._asked: set[str] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self.meter = Meter(
            usage_file(environment), lambda: self._settings.budget, lambda sentence: self._warn(sentence)
        )
        self._router = Router(lambda: self._settings, self._backend_of, lambda sentence: self._warn(sentence))

    def configure(
        self, settings: Settings, tell: Callable[[Status], None], warn: Callable[[str], None] | None = None
    ) -> None:
        """Use these settings from now on; models whose settings did not change keep their connections."""
        self._settings, self._tell = settings, tell
        self._warn = warn or self._warn
        for name, (model, backend) in list(self._backends.items()):
            if settings.models.get(name) != model:
                del self._backends[name]
                self._spawn(backend.close(), f"close {name}")

    def asks(self, ask: Asker) -> None:
        """How to ask the user before weights are downloaded; without it they are just reported missing."""
        self._ask = ask

    def backend(self, task: Task, name: str = "") -> Backend:
        """The model for a task, or the one named. Raises Rejected for an unknown name."""
        return self._router.backend(task, name)

    def name_of(self, task: Task) -> str:
        return self._router.name_of(task)

    def warm(self) -> None:
        """Connect to the completion model ahead of need; the embedded one only when its weights are here."""
        model = self._settings.models.get(self.name_of("complete"))
        if model is None or (model.protocol == "local" and not weights_are_here(model)):
            return
        request = Request("complete", Fill("", "", "plain", True, "", ""), max_tokens=1)
        self._spawn(self.backend("complete").warm(request), "warm")

    def accepted(self, model: str, task: Task, lead_ms: float, since: Since = "request") -> None:
        """The user took what a model gave, so many milliseconds after its request or its diagnostic."""
        self.meter.accepted(model, task, lead_ms, since)

    async def usage(self) -> dict[str, Any]:
        """What the models have cost so far."""
        return as_data(await self.meter.report())

    async def doctor(self) -> dict[str, Any]:
        """The checks of `midstream doctor`, as data."""
        from lsp_server.cli.doctor import examine

        checks = [asdict(finding) async for finding in examine(self._settings, self._environment)]
        return {"ok": all(check["ok"] for check in checks), "checks": checks}

    async def close(self) -> None:
        """End every connection, and write what the meter has not written yet."""
        backends = [backend for _, backend in self._backends.values()]
        self._backends.clear()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, *(backend.close() for backend in backends), return_exceptions=True)
        await self.meter.close()

    def _backend_of(self, name: str) -> Backend:
        if name not in self._backends:
            model = self._settings.models[name]
            self._backends[name] = (model, self._build(model))
        return self._backends[name][1]

    def _build(self, model: Model) -> Backend:
        from lsp_server.model import backend

        if model.protocol != "local":
            return Metered(Masking(backend(model, self._environment)), model, self.meter)
        from lsp_server.local import weights

        entry = weights.entry_of(model.model)
        local = backend(
            model,
            self._environment,
            local=lambda: self._local_address(model),
            style=None if entry is None else entry.style,
        )
        return Metered(local, model, self.meter)

    async def _local_address(self, model: Model) -> Any:
        """Where the host listens: fetches the weights when the user agrees, and starts the host."""
        from lsp_server.local.launcher import ensure_host

        if not weights_are_here(model):
            await self._fetch(model)
        return await ensure_host(model.model)

    async def _fetch(self, model: Model) -> None:
        """Fetch the weights, once the user has agreed. Raises ModelMissing with what to do instead."""
        from lsp_server.local import weights

        entry = weights.entry_of(model.model)
        agreed = entry is not None and self._ask is not None and entry.name not in self._asked
        if entry is not None and agreed and self._ask is not None:
            self._asked.add(entry.name)
            agreed = await self._ask(entry.name, entry.size)
        if entry is None or not agreed:
            weights.find(model.model)
            raise ModelMissing(texts.NOT_HERE.format(name=model.model))

        def report(progress: weights.Progress) -> None:
            self._tell(Status("downloading", model=model.name, percent=progress.percent))

        await weights.pull_in_thread(entry, report)
        self._tell(Status("ready", model=model.name))

    def _spawn(self, coroutine: Any, name: str) -> None:
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def weights_are_here(model: Model) -> bool:
    """True when the embedded model can start without a download."""
    from lsp_server.local import weights

    return weights.is_present(model.model)
