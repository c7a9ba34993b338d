"""One connection: lanes, cancelling and continuation, against a real server on loopback."""

import asyncio
from dataclasses import replace

import pytest
from websockets.asyncio.server import ServerConnection, serve

from lsp_server.engine.errors import Rejected
from lsp_server.local.session import Limits, Rules
from lsp_server.model.connection import Cancel, Options
from lsp_server.wire.answer import Answer
from lsp_server.wire.client import Usage
from lsp_server.wire.errors import ErrorFrame, previous_response_not_found
from lsp_server.wire.server import Create, parse_request
from tests.model.calls import answer, ask, call, cancelled
from tests.model.clock import connected, turns, until
from tests.support.model_server import ModelServer


async def test_an_answer_streams_to_its_end() -> None:
    async with ModelServer() as server, connected(server.url, server.headers) as connection:
        server.always("hel", "lo")
        assert await answer(connection) == "hello"
        assert await answer(connection, long=True) == "hello"


async def test_answers_on_lanes_of_one_socket_interleave() -> None:
    async with ModelServer() as server, connected(server.url, server.headers) as connection:
        tasks = [ask(connection, call(name)) for name in "abc"]
        taken = [await server.turn() for _ in tasks]
        for turn in taken:
            turn.say(turn.text.upper())
        for turn in reversed(taken):
            turn.say("!")
            turn.finish()
        assert await asyncio.gather(*tasks) == ["A!", "B!", "C!"]
        assert len({turn.create.lane for turn in taken}) == 3


@pytest.mark.parametrize("cancel", ["event", "lane", "close"])
@pytest.mark.parametrize("long", [False, True])
async def test_B51_cancelling_frees_the_caller_at_once(cancel: Cancel, long: bool) -> None:
    """Whatever the provider does: here it neither stops nor says anything more."""
    options = Options(cancel=cancel)
    async with ModelServer(Rules()) as server, connected(server.url, server.headers, options=options) as c:
        task = ask(c, long=long)
        turn = await server.turn()
        turn.say("a")
        await turns()
        task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert task.done()
        server.always("next")
        assert await answer(c, long=long) == "next"


async def test_B51_the_cancel_event_reaches_the_host_before_the_next_request() -> None:
    options = Options(cancel="event")
    async with ModelServer() as server, connected(server.url, server.headers, options=options) as connection:
        for _ in range(20):
            task = ask(connection)
            turn = await server.turn()
            await cancelled(task)
            server.next("b")
            assert await answer(connection) == "b"
            assert turn.cancelled
        assert server.most_running == 1


@pytest.mark.parametrize("cancel", ["lane", "close"])
async def test_a_cancelled_long_answer_closes_its_own_socket_and_no_other(cancel: Cancel) -> None:
    options = Options(cancel=cancel)
    async with ModelServer() as server, connected(server.url, server.headers, options=options) as connection:
        short = ask(connection)
        kept = await server.turn()
        long = ask(connection, long=True)
        dropped = await server.turn()
        await cancelled(long)
        await dropped.closed.wait()
        assert dropped.cancelled
        kept.say("still here")
        kept.finish()
        assert await short == "still here"


async def test_B127_abandoned_requests_do_not_stay_open() -> None:
    options = Options(cancel="event")
    async with ModelServer() as server, connected(server.url, server.headers, options=options) as connection:
        for _ in range(1000):
            task = ask(connection)
            await server.turn()
            await cancelled(task)
        await until(lambda: server.running == 0)
        assert server.most_running == 1
        assert server.face.clients == 1


async def test_B52_late_deltas_of_an_abandoned_answer_reach_nobody_and_are_counted() -> None:
    async with ModelServer() as server, connected(server.url, server.headers) as connection:
        first = ask(connection, call("A"))
        old = await server.turn()
        old.say("A1")
        await turns()
        await cancelled(first)
        second = ask(connection, call("B"))
        new = await server.turn()
        for _ in range(3):
            old.say("A")
            new.say("B")
        old.finish()
        new.finish()
        assert await second == "BBB"
        await until(lambda: connection.wasted_tokens)
        assert connection.wasted_tokens == 4


async def test_lanes_are_recycled_far_below_the_limit_of_names() -> None:
    rules = Rules(Limits(lane_names=32, active=16))
    async with ModelServer(rules) as server, connected(server.url, server.headers) as connection:
        server.always("x")
        for _ in range(100):
            assert await answer(connection) == "x"
        assert len({turn.create.lane for turn in server.turns}) <= 12
        assert server.face.clients == 2


async def test_a_socket_full_of_abandoned_answers_is_replaced() -> None:
    async with ModelServer() as server, connected(server.url, server.headers) as connection:
        for _ in range(12):
            task = ask(connection)
            await server.turn()
            await cancelled(task)
        server.always("free")
        assert await answer(connection) == "free"


async def test_warm_up_and_continuation() -> None:
    async with ModelServer() as server, connected(server.url, server.headers) as connection:
        server.always("ok")
        for context in ("context of a", "context of b"):
            await connection.warm(call(context, provides=context))
        await connection.warm(call("context of a", provides="context of a"))
        assert await answer(connection, call(" rest", continues="context of a")) == "ok"
        assert await answer(connection, call("alone", continues="never warmed")) == "ok"
        assert [turn.text for turn in server.turns] == [
            "context of a",
            "context of b",
            "context of a rest",
            "alone",
        ]


async def test_an_evicted_parent_means_the_request_in_full() -> None:
    async with ModelServer() as server, connected(server.url, server.headers) as connection:
        await connection.warm(call("context", provides="context"))
        for _ in range(2):
            task = ask(connection, call("rest", continues="context"))
            turn = await server.turn()
            if parent := turn.create.previous_response_id:
                turn.refuse(previous_response_not_found(parent, turn.create.lane))
                turn = await server.turn()
            assert turn.create.previous_response_id is None
            turn.say("ok")
            turn.finish()
            assert await task == "ok"
        whole = [turn.create.previous_response_id is None for turn in server.turns]
        assert whole == [True, False, True, True]


@pytest.mark.parametrize("cancel", ["lane", "close", "event"])
async def test_a_long_answer_continues_what_was_read_ahead_for_it(cancel: Cancel) -> None:
    options = Options(cancel=cancel)
    async with ModelServer() as server, connected(server.url, server.headers, options=options) as connection:
        server.always("ok")
        assert await answer(connection, call("short")) == "ok"
        for _ in range(2):
            await connection.warm(call("code", provides="code"), long=True)
        assert await answer(connection, call(" wish", continues="code"), long=True) == "ok"
        assert [turn.text for turn in server.turns] == ["short", "code", "code wish"]
        alone = cancel != "event"
        assert all((turn.create.lane is None) == alone for turn in server.turns if "code" in turn.text)


async def test_only_the_newest_response_of_a_socket_of_its_own_is_continued() -> None:
    async with ModelServer() as server, connected(server.url, server.headers) as connection:
        server.always("ok")
        await connection.warm(call("code", provides="code"), long=True)
        for _ in range(2):
            assert await answer(connection, call(" wish", continues="code"), long=True) == "ok"
        assert [turn.text for turn in server.turns] == ["code", "code wish", " wish"]


async def test_what_is_read_ahead_ends_with_its_caller_and_the_answer_is_asked_for_whole() -> None:
    async with ModelServer() as server, connected(server.url, server.headers) as connection:
        server.holds_warm_ups = True
        ahead = asyncio.create_task(connection.warm(call("code", provides="code"), long=True))
        turn = await server.turn()
        ahead.cancel()
        await asyncio.wait([ahead])
        task = ask(connection, call("code wish", continues="code"), long=True)
        whole = await server.turn()
        assert whole.create.previous_response_id is None
        whole.say("ok")
        whole.finish()
        assert await task == "ok"
        await asyncio.wait_for(turn.closed.wait(), 10)


async def test_a_host_that_takes_fewer_lanes_than_ours_gets_a_fresh_socket_when_they_are_used_up() -> None:
    rules = Rules(Limits(lane_names=4))
    async with ModelServer(rules) as server, connected(server.url, server.headers) as connection:
        server.always("x")
        for _ in range(12):
            assert await answer(connection) == "x"
        assert len({turn.create.lane for turn in server.turns}) == 4


async def test_a_host_that_knows_no_lanes_gets_one_request_a_socket() -> None:
    taken: list[Create] = []

    async def strict(socket: ServerConnection) -> None:
        async for frame in socket:
            create = parse_request(frame)
            assert isinstance(create, Create)
            taken.append(create)
            if create.lane is not None:
                refusal = ErrorFrame("unknown_parameter", "Unknown parameter: 'stream_id'.", "stream_id")
                await socket.send(refusal.encode())
                continue
            one = Answer(create, "resp_1", created_at=1)
            for frame in [*one.started(), *one.delta("ok"), *one.completed(Usage())]:
                await socket.send(frame)

    async with (
        serve(strict, "127.0.0.1", 0, close_timeout=1) as server,
        connected(f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/", {}) as connection,
    ):
        assert await answer(connection) == "ok"
        assert await asyncio.gather(ask(connection), ask(connection)) == ["ok", "ok"]
        await connection.warm(call("context", provides="context"))
        assert [create.lane for create in taken] == ["m0", None, None, None]
        assert all(create.generate for create in taken)


async def test_answers_that_are_mixed_and_not_named_are_asked_for_again_one_by_one() -> None:
    async def mix(socket: ServerConnection) -> None:
        creates = [parse_request(await socket.recv())]
        if (first := creates[0]) and isinstance(first, Create) and first.lane is not None:
            creates.append(parse_request(await socket.recv()))
        answers = [
            Answer(replace(create, lane=None), f"resp_{number}", created_at=1)
            for number, create in enumerate(creates)
            if isinstance(create, Create)
        ]
        texts = [create.messages[0].text for create in creates if isinstance(create, Create)]
        for one in answers:
            await send(socket, one.started())
        for letters in zip(*texts, strict=True):
            for one, letter in zip(answers, letters, strict=True):
                await send(socket, one.delta(letter))
        for one in answers:
            await send(socket, one.completed(Usage()))

    async def send(socket: ServerConnection, frames: list[str]) -> None:
        for frame in frames:
            await socket.send(frame)

    async with (
        serve(mix, "127.0.0.1", 0, close_timeout=1) as server,
        connected(f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/", {}) as connection,
    ):
        both = ask(connection, call("first")), ask(connection, call("other"))
        assert await asyncio.gather(*both) == ["first", "other"]


async def test_a_missing_parent_that_was_not_ours_is_an_error() -> None:
    async with ModelServer() as server, connected(server.url, server.headers) as connection:
        task = ask(connection)
        turn = await server.turn()
        turn.refuse(previous_response_not_found("r", turn.create.lane))
        with pytest.raises(Rejected):
            await task


@pytest.mark.parametrize("cancel", ["event", "close"])
async def test_a_connection_can_be_opened_ahead_of_need(cancel: Cancel) -> None:
    options = Options(cancel=cancel)
    async with ModelServer() as server, connected(server.url, server.headers, options=options) as connection:
        await connection.warm(None)
        await until(lambda: server.face.clients == 1)
        server.always("x")
        assert await answer(connection) == "x"
