"""Which model answers, while some of them are in trouble."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_server.core.prompt import Chat, Fill, Prompt, Snippet, Style
from lsp_server.engine.assistant import Assistant
from lsp_server.engine.errors import (
    BackendError,
    Interrupted,
    MidstreamError,
    Overloaded,
    RateLimited,
    Rejected,
    Stalled,
    Unauthorized,
    Unreachable,
)
from lsp_server.engine.health import WINDOW, WINDOW_REQUESTS, Health
from lsp_server.engine.ports import Delta, Event, Finish, Request
from lsp_server.engine.router import Router
from lsp_server.settings import Model, Settings, Tasks
from tests.engine.stage import Stage
from tests.support.scripted_model import ScriptedModel
from tests.support.virtual_time import VirtualTimeLoop, run_virtual

CHAT = Chat("", "", "do it")
FILL = Fill("x = ", "", "fim", True, "a.py", "python")


class Troubled(ScriptedModel):
    """Raises `error` while there is one, after saying `head`; else answers `ok`."""

    def __init__(self, name: str, error: BackendError | None = None, style: Style | None = None) -> None:
        super().__init__(name=name, style=style)
        self.error = error
        self.head = ""
        self.asked: list[float] = []
        self.seen: list[Prompt] = []

    async def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        self.seen.append(request.prompt)
        self.asked.append(asyncio.get_running_loop().time())
        if self.head:
            yield Delta(self.head)
        if self.error is not None:
            raise self.error
        yield Delta("ok")
        yield Finish("stop")


class Routes:
    """Three models in a row, `fast` -> `spare` -> `local`, in virtual time."""

    def __init__(self, error: BackendError | None = None, *, fallback: bool = True) -> None:
        self.fast, self.spare = Troubled("fast", error), Troubled("spare")
        self.local = Troubled("local", style=Style("plain"))
        chain = ("spare", "local", "") if fallback else ("", "", "")
        models = {
            model.name: Model(name=model.name, model="m", fallback=after)
            for model, after in zip((self.fast, self.spare, self.local), chain, strict=True)
        }
        self.settings = Settings(models=models, tasks=Tasks("fast", "fast", "fast", "fast"))
        self.told: list[str] = []
        self.now = 0.0
        backends = {model.name: model for model in (self.fast, self.spare, self.local)}
        self.router = Router(
            lambda: self.settings, backends.__getitem__, self.told.append, clock=lambda: self.now
        )

    async def ask(self, prompt: Prompt = CHAT, after: float = 0.0) -> str:
        """What comes of one request: text, or the code of its error."""
        self.now += after
        text = ""
        try:
            async with aclosing(self.router.backend("edit").stream(Request("edit", prompt, 9))) as stream:
                async for event in stream:
                    text += event.text if isinstance(event, Delta) else "."
        except MidstreamError as error:
            text += f"!{error.code}"
        return text

    @property
    def asked(self) -> tuple[int, int, int]:
        return len(self.fast.asked), len(self.spare.asked), len(self.local.asked)


@pytest.mark.parametrize(
    "error",
    [
        RateLimited("slow down", retry_after=3),
        Overloaded("busy"),
        Unreachable("no route"),
        Stalled("nothing came"),
        Interrupted("cut off"),
        Unauthorized("wrong key"),
    ],
)
async def test_a_model_in_trouble_is_stood_in_for_and_comes_back(error: BackendError) -> None:
    routes = Routes(error)
    assert await routes.ask() == "ok."
    assert routes.router.backend("edit").name == "spare"
    assert await routes.ask(after=0.5) == "ok."
    assert routes.asked == (1, 2, 0)
    assert await routes.ask(after=4) == "ok."
    assert routes.asked == (2, 3, 0)
    routes.fast.error = None
    assert await routes.ask(after=30) == "ok."
    assert routes.asked == (3, 3, 0)
    assert routes.router.backend("edit").name == "fast"
    assert routes.told == [f"{error} Until fast answers again, spare takes over."]


async def test_each_trouble_is_told_once() -> None:
    routes = Routes(Stalled("nothing came"))
    for _ in range(3):
        await routes.ask(after=31)
    routes.fast.error = None
    await routes.ask(after=31)
    routes.fast.error = Unreachable("no route")
    await routes.ask()
    assert len(routes.told) == 2


async def test_nothing_is_asked_twice_once_text_has_come() -> None:
    routes = Routes(Interrupted("cut off"))
    routes.fast.head = "half "
    assert await routes.ask() == "half !interrupted"
    assert routes.asked == (1, 0, 0)
    assert await routes.ask() == "ok."


async def test_what_is_wrong_with_a_request_is_not_tried_elsewhere() -> None:
    routes = Routes(Rejected("too long"))
    assert await routes.ask() == "!rejected"
    assert routes.router.backend("edit").name == "fast"
    assert (routes.asked, routes.told) == ((1, 0, 0), [])


async def test_a_completion_prompt_only_goes_to_a_model_of_its_style() -> None:
    routes = Routes(Stalled("nothing came"))
    routes.spare.error = Stalled("nothing came")
    assert await routes.ask(FILL) == "!stalled"
    assert routes.asked == (1, 1, 0)
    backend = routes.router.backend("edit")
    assert (backend.name, backend.style) == ("local", Style("plain"))
    assert await routes.ask(FILL) == "ok."


async def test_a_small_model_that_takes_over_gets_the_code_alone() -> None:
    routes = Routes(Stalled("nothing came"))
    routes.local.style = Style("plain", budget=100)
    long = Chat("Be brief.", "From b.py:\n" + "x = 1\n" * 100, "do it")
    sent: list[Prompt] = []
    for model in (routes.spare, routes.local):
        model.seen = sent
        model.error = Stalled("nothing came")
    await routes.ask(long)
    assert sent == [long, Chat("Be brief.", "", "do it")]


async def test_a_model_that_wants_no_context_takes_over_without_it() -> None:
    routes = Routes(Stalled("nothing came"))
    routes.fast.style, routes.spare.style = Style("fim"), Style("fim", context_tokens=0)
    prompt = replace(FILL, snippets=(Snippet("w/b.py", "y = 1\n"),))
    assert await routes.ask(prompt) == "ok."
    assert routes.fast.seen == [prompt] and routes.spare.seen == [FILL]


async def test_without_a_fallback_only_a_refusing_model_is_left_alone() -> None:
    routes = Routes(Unreachable("no route"), fallback=False)
    assert [await routes.ask() for _ in range(3)] == ["!unreachable"] * 3
    assert routes.asked == (3, 0, 0)
    routes = Routes(RateLimited("slow down", retry_after=5), fallback=False)
    assert [await routes.ask() for _ in range(3)] == ["!rate_limited"] * 3
    assert (routes.asked, routes.told) == ((1, 0, 0), [])


async def test_a_named_model_is_the_users_choice() -> None:
    routes = Routes()
    assert routes.router.backend("edit", "spare").name == "spare"
    with pytest.raises(Rejected, match="There is no model 'gone'"):
        routes.router.backend("edit", "gone")


async def test_a_resting_model_is_not_warmed() -> None:
    routes = Routes(RateLimited("slow down", retry_after=5), fallback=False)
    await routes.router.backend("edit").warm(Request("edit", CHAT, 1))
    await routes.ask()
    await routes.router.backend("edit").warm(Request("edit", CHAT, 1))
    assert len(routes.fast.warmed) == 1


async def test_letting_go_is_no_trouble() -> None:
    routes = Routes()
    async with aclosing(routes.router.backend("edit").stream(Request("edit", CHAT, 9))) as stream:
        await anext(stream)
    assert routes.router.health("fast").error is None
    assert routes.router.health("fast").latency == 0.0


@pytest.mark.parametrize("retry_after", [0, 2, None])
def test_B95_keystrokes_do_not_hammer_a_model_that_says_enough(retry_after: float | None) -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        model = Troubled("local", RateLimited("The provider says: slow down.", retry_after=retry_after))
        stage = Stage("x = <|>\n")
        router = Router(lambda: stage.settings, lambda name: model, clock=loop.time)
        stage.assistant = Assistant(lambda: stage.settings, stage.workspace, router, stage.editor)

        async def key(number: int) -> Any:
            stage.type("y", 4)
            items = await stage.assistant.completer.request(stage.ask(5))
            loop.now += 0.2
            return items

        assert [await key(number) for number in range(50)] == [[]] * 50
        assert len(model.asked) > 1
        for first, last in zip(model.asked, model.asked[WINDOW_REQUESTS:], strict=False):
            assert last - first >= WINDOW
        if retry_after:
            assert all(retry_after <= later - sooner for sooner, later in pairwise(model.asked))
        assert [kind for kind, _ in stage.editor.shown] == ["warning"]
        model.error = None
        offered = [items for number in range(160) if (items := await key(number))]
        assert offered[0][0].text == "ok"
        assert len(offered) > 100
        await stage.assistant.shutdown()

    run_virtual(scenario())


@given(st.lists(st.tuples(st.floats(0, 20), st.sampled_from([None, 0.0, 1.0, 60.0])), max_size=60))
def test_no_ten_seconds_see_more_than_three_requests(steps: list[tuple[float, float | None]]) -> None:
    health, now, asked = Health(), 0.0, list[float]()
    for wait, retry_after in steps:
        now += wait
        if not health.rests(now):
            health = health.asked(now)
            asked.append(now)
            health = health.failed(RateLimited("slow down", retry_after=retry_after), now, now)
    for first, last in zip(asked, asked[WINDOW_REQUESTS:], strict=False):
        assert last - first >= WINDOW


def test_the_rest_doubles_up_to_half_a_minute() -> None:
    health, now, waits = Health(), 0.0, list[float]()
    for _ in range(7):
        health = health.failed(Stalled("nothing came"), now, now)
        waits.append(health.rest_until - now)
        now = health.rest_until
    assert waits == [1, 2, 4, 8, 16, 30, 30]
    assert health.answered(0.1).failed(Stalled("nothing came"), now, now).rest_until == now + 1
