"""A model behind the Responses WebSocket, from the engine's request to the engine's events."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import pytest

from lsp_server.core.prompt import Chat, Fill, Style
from lsp_server.engine.errors import BackendError, RateLimited, Rejected, Unauthorized
from lsp_server.engine.ports import Delta, Event, Finish, Request, Usage
from lsp_server.model import Endpoint, backend
from lsp_server.model.responses_ws import ResponsesBackend
from lsp_server.settings import Model
from lsp_server.wire.client import Usage as WireUsage
from lsp_server.wire.errors import ErrorFrame, previous_response_not_found
from tests.model.clock import FakeClock, until
from tests.support.model_server import TOKEN, ModelServer

FILL = Fill("def f(", "):\n", "fim", True, "a.py", "python")
CHAT = Chat("Be brief.", "the file", " the task")
REMOTE = Model(name="fast", protocol="responses-ws", model="m", key="env:KEY")
LOCAL = Model(name="local", protocol="local", model="tiny")


def completion(**changes: object) -> Request:
    return replace(
        Request("complete", FILL, max_tokens=32, stop=("\n",), cache_key="file:///home/me/a.py"), **changes
    )  # type: ignore[arg-type]


@asynccontextmanager
async def served(
    server: ModelServer, model: Model, clock: FakeClock | None = None
) -> AsyncIterator[ResponsesBackend]:
    async def local() -> Endpoint:
        return Endpoint(server.url, server.headers)

    is_local = model.protocol == "local"
    one = ResponsesBackend(
        model if is_local else replace(model, url=server.face.url.replace("ws:", "http:")),
        {"KEY": TOKEN},
        local=local if is_local else None,
        clock=clock,
    )
    try:
        yield one
    finally:
        await one.close()


async def collect(one: ResponsesBackend, request: Request) -> list[Event]:
    async with aclosing(one.stream(request)) as events:
        return [event async for event in events]


async def test_a_fill_travels_in_the_standard_prompt_field_with_probabilities() -> None:
    async with ModelServer() as server, served(server, LOCAL) as one:
        task = collect(one, completion(logprobs=True))

        running = asyncio.create_task(task)
        turn = await server.turn()
        turn.say("x", logprob=-0.25)
        turn.finish(usage=WireUsage(10, 4, 0, 1), timings={"prompt_ms": 3.0})
        assert await running == [
            Delta("x", (-0.25,)),
            Finish("stop", Usage(10, 4, 1), {"prompt_ms": 3.0}),
        ]
        raw = turn.create.raw
        assert raw["prompt"] == {"id": "fim", "variables": {"prefix": "def f(", "suffix": "):\n"}}
        assert raw["stop"] == ["\n"]
        assert raw["include"] == ["message.output_text.logprobs"]
        assert "me" not in raw["prompt_cache_key"]


async def test_a_chat_for_the_local_host_is_one_turn() -> None:
    async with ModelServer() as server, served(server, LOCAL) as one:
        server.always("ok")
        await collect(one, Request("edit", CHAT, max_tokens=9))
        assert server.turns[0].create.raw["input"] == "the file the task"


async def test_a_warm_up_leaves_the_file_with_a_remote_host() -> None:
    async with ModelServer() as server, served(server, REMOTE) as one:
        server.always("ok")
        await one.warm(completion(prompt=CHAT))
        await one.warm(completion(prompt=CHAT))
        await collect(one, completion(prompt=CHAT))
        await collect(one, completion(prompt=replace(CHAT, context="another file")))
        warm, continued, full = (turn.create.raw for turn in server.turns)
        assert warm["input"] == [{"role": "user", "content": "the file"}]
        assert continued["input"] == " the task"
        assert [message["content"] for message in full["input"]] == ["another file", " the task"]
        assert "previous_response_id" not in full


async def test_an_edit_that_was_prepared_sends_only_what_the_user_asks() -> None:
    chat = Chat("rules", "the file", "the code", "the wish")
    async with ModelServer() as server, served(server, REMOTE) as one:
        server.always("ok")
        await one.warm(Request("edit", replace(chat, wish="any"), max_tokens=9))
        await collect(one, Request("edit", chat, max_tokens=9))
        await collect(one, Request("edit", replace(chat, request="other code"), max_tokens=9))
        ahead, continued, whole = (turn.create.raw for turn in server.turns)
        assert ahead["generate"] is False
        assert [message["content"] for message in ahead["input"]] == ["the file", "the code"]
        assert continued["input"] == "the wish" and continued["instructions"] == "rules"
        assert [message["content"] for message in whole["input"]] == ["the file", "other code", "the wish"]
        assert "previous_response_id" not in whole


async def test_an_evicted_file_is_sent_again() -> None:

    async with ModelServer() as server, served(server, REMOTE) as one:
        await one.warm(completion(prompt=CHAT))
        task = asyncio.create_task(collect(one, completion(prompt=CHAT)))
        turn = await server.turn()
        turn.refuse(previous_response_not_found("r", None))
        again = await server.turn()
        assert len(again.create.raw["input"]) == 2
        again.finish()
        await task


async def test_a_warm_up_of_the_local_host_reads_the_prompt_ahead() -> None:
    async with ModelServer() as server, served(server, LOCAL) as one:
        await one.warm(completion())
        assert server.turns[0].create.generate is False
        assert server.turns[0].create.prompt_variables["prefix"] == "def f("


async def test_a_warm_up_that_fails_is_silent() -> None:
    one = ResponsesBackend(replace(REMOTE, key="env:ABSENT"), {})
    await one.warm(completion())
    await one.close()


async def test_a_stop_text_ends_an_answer_of_a_host_that_has_none() -> None:
    async with ModelServer() as server, served(server, REMOTE) as one:
        task = asyncio.create_task(collect(one, completion(prompt=CHAT)))
        turn = await server.turn()
        turn.say("a", "b\nc", "d")
        assert await task == [Delta("a"), Delta("b"), Finish("stop", Usage(output_tokens=2, estimated=True))]
        assert "stop" not in turn.create.raw
        turn.finish()


@pytest.mark.parametrize(("reason", "finish"), [("length", "length"), ("filter", "filter")])
async def test_why_an_answer_ended(reason: str, finish: str) -> None:

    async with ModelServer() as server, served(server, LOCAL) as one:
        task = asyncio.create_task(collect(one, completion()))
        (await server.turn()).finish(reason)  # type: ignore[arg-type]
        assert await task == [Finish(finish, Usage())]  # type: ignore[arg-type]


async def test_a_field_that_the_host_refuses_is_left_out_from_then_on() -> None:

    async with ModelServer() as server, served(server, replace(REMOTE, tier="fast")) as one:
        task = asyncio.create_task(collect(one, completion(prompt=CHAT)))
        turn = await server.turn()
        assert turn.create.raw["service_tier"] == "fast"
        turn.refuse(ErrorFrame("unknown_parameter", "Unsupported parameter: 'service_tier'.", "service_tier"))
        (await server.turn()).finish()
        await task
        server.always("x")
        await collect(one, completion(prompt=CHAT))
        assert ["service_tier" in turn.create.raw for turn in server.turns] == [True, False, False]


@pytest.mark.parametrize("cancel", ["event", "lane", "close"])
async def test_B51_a_closed_stream_frees_its_reader(cancel: str) -> None:
    model = replace(REMOTE, cancel=cancel)  # type: ignore[arg-type]
    async with ModelServer() as server, served(server, model) as one:
        async with aclosing(one.stream(completion(prompt=CHAT))) as events:
            first = asyncio.ensure_future(anext(events))
            turn = await server.turn()
            turn.say("a")
            assert await first == Delta("a")
        if cancel != "lane":
            await turn.closed.wait()
        server.always("b")
        assert (await collect(one, completion(prompt=CHAT)))[0] == Delta("b")


async def test_without_a_key_nothing_is_connected() -> None:
    one = ResponsesBackend(REMOTE, {})
    with pytest.raises(Unauthorized, match="KEY"):
        await collect(one, completion())
    await one.close()


async def test_B95_a_rate_limited_model_is_left_in_peace() -> None:
    clock = FakeClock()
    async with ModelServer() as server, served(server, REMOTE, clock) as one:
        limited = (
            '{"type": "error", "status": 429, "stream_id": "%s", "headers": {"Retry-After": "%s"},'
            ' "error": {"code": "rate_limit_exceeded", "message": "Slow down."}}'
        )

        for word in ("0", "2", "soon"):
            sent = len(server.turns)
            for _ in range(50):
                task = asyncio.create_task(collect(one, completion(prompt=CHAT)))
                await until(lambda: task.done() or len(server.turns) > sent)  # noqa: B023
                while len(server.turns) > sent:
                    turn = server.turns[sent]
                    turn.frame(limited % (turn.create.lane, word))
                    sent += 1
                with pytest.raises(RateLimited):
                    await task
                await clock.advance(0.2)
        assert len(server.turns) <= 10
        await clock.advance(60)
        server.always("back")
        assert (await collect(one, completion(prompt=CHAT)))[0] == Delta("back")


async def test_B115_neither_key_nor_code_is_logged_at_any_level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    async with ModelServer() as server, served(server, REMOTE) as one:
        server.always("the answer")
        await one.warm(completion(prompt=CHAT))
        await collect(one, completion(prompt=CHAT))
        ours = [
            record for record in caplog.records if record.name.startswith(("lsp_server", "websockets.client"))
        ]
        logged = "\n".join(record.getMessage() for record in ours)
        assert not any(word in logged for word in (TOKEN, "the file", "the task", "the answer"))


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("", "wss://api.openai.com/v1/responses"),
        ("https://api.x.ai/v1", "wss://api.x.ai/v1/responses"),
        ("wss://ai-gateway.vercel.sh/v1/responses", "wss://ai-gateway.vercel.sh/v1/responses"),
        ("http://127.0.0.1:8000/v1/", "ws://127.0.0.1:8000/v1/responses"),
        ("https://a.example/openai/v1?api-version=1", "wss://a.example/openai/v1/responses?api-version=1"),
    ],
)
async def test_the_address_comes_from_the_settings(url: str, address: str) -> None:
    model = replace(REMOTE, url=url, headers={"api-key": "env:KEY", "X-Team": "a"})
    endpoint = await ResponsesBackend(model, {"KEY": "k"})._configured()
    assert endpoint == Endpoint(address, {"Authorization": "Bearer k", "api-key": "k", "X-Team": "a"})


@pytest.mark.parametrize(
    ("changes", "style"),
    [
        ({}, Style("chat", 1024, 384)),
        ({"style": "fim", "prefix_tokens": 99, "suffix_tokens": 0}, Style("fim", 99, 0)),
    ],
)
async def test_the_style_of_the_prompts(changes: dict[str, object], style: Style) -> None:
    assert ResponsesBackend(replace(REMOTE, **changes)).style == style  # type: ignore[arg-type]


def test_a_local_model_needs_its_host() -> None:
    with pytest.raises(ValueError, match="local host"):
        backend(LOCAL)


async def test_an_unknown_model_is_a_sentence() -> None:

    async with ModelServer() as server, served(server, REMOTE) as one:
        task = asyncio.create_task(collect(one, completion(prompt=CHAT)))
        turn = await server.turn()
        turn.refuse(ErrorFrame("model_not_found", "The model `m` does not exist.", "model", status=404))
        with pytest.raises(Rejected, match="does not exist") as failure:
            await task
        assert isinstance(failure.value, BackendError)
