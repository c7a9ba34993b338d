"""Which model answers which request: the one that `tasks` names, else the next along its fallbacks.

A model that fails rests and comes back by itself; the user is told once when another takes over.
"""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from lsp_server.core.prompt import Chat, Fill, Style, prompt_tokens
from lsp_server.engine.errors import BackendError, MidstreamError, Rejected
from lsp_server.engine.health import Health
from lsp_server.engine.ports import Backend, Delta, Event, Quota, Request, Task
from lsp_server.settings import Settings
from lsp_server.texts import models as texts

QUIET = 600.0
"""Seconds after a limit was used up in which the user does not hear again that it is."""


class Router:
    """Holds the health of every model. `backend_of` gives the backend of a model's name."""

    def __init__(
        self,
        settings: Callable[[], Settings],
        backend_of: Callable[[str], Backend],
        tell: Callable[[str], None] = lambda sentence: None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._tell = tell
        self.backend_of = backend_of
        self.clock = clock
        self._health: dict[str, Health] = {}
        self._taken_over: set[str] = set()

    def backend(self, task: Task, name: str = "") -> "Routed":
        """The backend for one request of a task, starting with the model that is well now.

        Its style belongs to that model, so ask anew for each request. With `name` the model is the user's
        choice. Raises Rejected for a name that is not configured.
        """
        chain = self.chain(name or self.name_of(task))
        now = self.clock()
        rested = [model for model in chain if not self.health(model).rests(now)]
        first = rested[0] if rested else chain[0]
        return Routed(self, tuple(chain[chain.index(first) :]))

    def name_of(self, task: Task) -> str:
        """The configured name of the model for a task."""
        return str(getattr(self._settings().tasks, task))

    def chain(self, name: str) -> list[str]:
        """A model and its fallbacks in order. Raises Rejected for a name that is not configured."""
        models = self._settings().models
        if name not in models:
            known = ", ".join(sorted(models))
            raise Rejected(texts.NO_SUCH_MODEL.format(name=name, known=known))
        chain: list[str] = []
        while name in models and name not in chain:
            chain.append(name)
            name = models[name].fallback
        return chain

    def health(self, name: str) -> Health:
        """How a model has been answering."""
        return self._health.get(name, Health())

    def asked(self, name: str) -> float:
        """A request goes to a model; gives the time."""
        now = self.clock()
        self._health[name] = self.health(name).asked(now)
        return now

    def answered(self, name: str, asked: float) -> None:
        """The first token came."""
        self._health[name] = self.health(name).answered(self.clock() - asked)
        self._taken_over.discard(name)

    def told(self, name: str, quota: Quota) -> None:
        """A model's host told how much it still takes. The user hears when another model takes over."""
        before, now = self.health(name), self.clock()
        self._health[name] = before.told(quota, now)
        fallback = self._fallback(name)
        if quota.remaining == 0 and fallback and before.spent_until + QUIET <= now:
            self._tell(
                texts.QUOTA_USED.format(name=name, fallback=fallback, seconds=max(1, round(quota.reset)))
            )

    def failed(self, name: str, error: BackendError, asked: float) -> None:
        """A model failed; when another takes over, the user hears it once until the model is well again."""
        self._health[name] = self.health(name).failed(error, asked, self.clock())
        fallback = self._fallback(name)
        if fallback and not isinstance(error, Rejected) and name not in self._taken_over:
            self._taken_over.add(name)
            self._tell(texts.FALLS_BACK.format(error=error, name=name, fallback=fallback))

    def _fallback(self, name: str) -> str:
        model = self._settings().models.get(name)
        return "" if model is None else model.fallback


@dataclass(frozen=True, slots=True)
class Routed:
    """One request's way along a chain of models; the first one's style shapes the prompt."""

    router: Router
    chain: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.chain[0]

    @property
    def style(self) -> Style:
        return self.router.backend_of(self.chain[0]).style

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        """The answer of the first model that gives one; nothing is asked twice once text has come."""
        trouble: MidstreamError | None = None
        for name in self.chain:
            health = self.router.health(name)
            if health.error is not None and health.refuses and health.rests(self.router.clock()):
                trouble = trouble or health.error.with_traceback(None)
                continue
            backend = self.router.backend_of(name)
            if name != self.name and not self._fits(request, backend):
                continue
            asked, started = self.router.asked(name), False
            try:
                async with aclosing(backend.stream(fitted(request, backend.style))) as events:
                    async for event in events:
                        if not started:
                            started = True
                            self.router.answered(name, asked)
                        if isinstance(event, Delta) and event.quota is not None:
                            self.router.told(name, event.quota)
                        yield event
                    return
            except BackendError as error:
                self.router.failed(name, error, asked)
                if started or isinstance(error, Rejected):
                    raise
                trouble = trouble or error
        raise trouble or Rejected(texts.NO_MODEL)

    async def warm(self, request: Request) -> None:
        if not self.router.health(self.name).rests(self.router.clock()):
            await self.router.backend_of(self.name).warm(request)

    async def close(self) -> None:
        """The backends belong to whoever made them."""

    def _fits(self, request: Request, backend: Backend) -> bool:
        """A chat prompt fits every model; a prompt laid out for one model's completions only its like."""
        if isinstance(request.prompt, Chat):
            return True
        return replace(backend.style, context_tokens=None) == replace(self.style, context_tokens=None)


def fitted(request: Request, style: Style) -> Request:
    """A request laid out for another model, without what it tells of other code where that is too much.

    A larger model's prompt would fill the context of a small one, which then could not answer at all.
    """
    prompt = request.prompt
    if isinstance(prompt, Fill):
        return replace(request, prompt=replace(prompt, snippets=())) if style.context_tokens == 0 else request
    if prompt_tokens(prompt) <= style.budget:
        return request
    return replace(request, prompt=replace(prompt, context=""))
