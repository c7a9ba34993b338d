"""A connection that is lost, refused, silent or old: what the user is told, and how it comes back."""

import asyncio
import json

import pytest

from lsp_server.engine.errors import BackendError, Interrupted, Stalled, Unauthorized, Unreachable
from lsp_server.model.connection import Connection, Options
from lsp_server.model.dial import Endpoint
from lsp_server.wire.errors import connection_limit_reached
from tests.model.calls import answer, ask, cancelled
from tests.model.clock import FakeClock, connected, connecting, turns, until
from tests.support.fault_proxy import FaultProxy
from tests.support.model_server import ModelServer


@pytest.mark.parametrize("code", [1000, 1001, 1006, 1011, 1012, 1013])
async def test_B89_a_close_in_the_middle_of_an_answer_is_no_end(code: int) -> None:
    async with ModelServer() as server, connected(server.url, server.headers) as connection:
        task = ask(connection)
        turn = await server.turn()
        turn.say("foo(")
        turn.hang_up(code)
        with pytest.raises(BackendError):
            await task
        server.always("ok")
        assert await answer(connection) == "ok"


@pytest.mark.parametrize("code", [1000, 1006, 1012])
async def test_a_request_lost_before_its_first_text_is_sent_once_more(code: int) -> None:
    async with ModelServer() as server, connected(server.url, server.headers) as connection:
        server.next("warm")
        await answer(connection)
        task = ask(connection)
        (await server.turn()).hang_up(code)
        again = await server.turn()
        again.say("ok")
        again.finish()
        assert await task == "ok"
        task = ask(connection)
        for _ in range(2):
            (await server.turn()).hang_up(code)
        with pytest.raises(BackendError):
            await task


@pytest.mark.parametrize("code", [1008, 1009])
async def test_a_close_by_policy_or_size_is_not_answered_by_sending_again(code: int) -> None:
    async with ModelServer() as server, connected(server.url, server.headers) as connection:
        task = ask(connection)
        (await server.turn()).hang_up(code)
        with pytest.raises(BackendError) as failure:
            await task
        assert str(code) in str(failure.value)
        assert len(server.turns) == 1


EXPIRED = json.dumps(
    {"type": "error", "error": {"type": "x", "code": "session_expired", "message": "Your session expired."}}
)


@pytest.mark.parametrize("frame", [EXPIRED, connection_limit_reached().encode()])
@pytest.mark.parametrize("in_flight", [True, False])
async def test_B85_an_ended_session_is_left_for_a_fresh_one(
    frame: str, in_flight: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The provider leaves the old connection open; nothing is ever written to it again."""
    caplog.set_level("INFO", "lsp_server.model")
    options = Options(cancel="event")
    async with ModelServer() as server, connected(server.url, server.headers, options=options) as connection:
        task = ask(connection)
        turn = await server.turn()
        if not in_flight:
            turn.finish()
            await task
            task = ask(connection)
            turn = await server.turn()
            await cancelled(task)
            turn.finish()
            await until(lambda: connection._shared is not None and connection._shared.idle)
            await broadcast(server, frame)
            await until(lambda: connection._shared is None)
        else:
            turn.frame(frame)
            again = await server.turn()
            again.say("ok")
            again.finish()
            assert await task == "ok"
        server.always("ok")
        assert await answer(connection) == "ok"
        assert len([record for record in caplog.records if record.levelname == "INFO"]) == 1


async def broadcast(server: ModelServer, frame: str) -> None:
    """An event that belongs to no request, on the connection that carried one."""
    for socket in server.face.sockets:
        await socket.send(frame)


async def test_rotation_prepares_the_fresh_socket_first() -> None:
    clock = FakeClock()
    options = Options(cancel="event", max_age=3300)
    async with (
        ModelServer() as server,
        connected(server.url, server.headers, clock=clock, options=options) as connection,
    ):
        server.next("b")
        assert await answer(connection) == "b"
        await clock.advance(3299)
        task = ask(connection)
        old = await server.turn()
        old.say("a")
        await turns()
        await clock.advance(1)
        await until(lambda: server.face.clients == 2)
        server.next("c")
        assert await answer(connection) == "c"
        old.say("z")
        old.finish()
        assert await task == "az"
        await until(lambda: server.face.clients == 1)


async def test_an_unused_socket_just_ends() -> None:
    clock = FakeClock()
    options = Options(cancel="event", max_age=3300)
    async with (
        ModelServer() as server,
        connected(server.url, server.headers, clock=clock, options=options) as connection,
    ):
        server.always("ok")
        await answer(connection)
        await clock.advance(3300)
        await until(lambda: server.face.clients == 0)
        assert await answer(connection) == "ok"


async def test_B86_after_sleep_the_dead_connection_is_replaced_and_the_request_sent_once() -> None:
    clock = FakeClock()
    async with (
        ModelServer() as server,
        FaultProxy(server.port) as proxy,
        connected(
            f"ws://127.0.0.1:{proxy.port}/v1/responses",
            server.headers,
            clock=clock,
            options=Options(max_age=1e9),
        ) as connection,
    ):
        server.always("ok")
        await until_host_is_proxy(server)
        assert await answer(connection) == "ok"
        await until(lambda: connection._idle)
        proxy.swallow()
        await clock.advance(8 * 3600)
        for _ in range(3):
            await cancelled(ask(connection))
        task = ask(connection)
        await turns()
        await clock.advance(4.9)
        assert not task.done()
        proxy.heal()
        await clock.advance(0.2)
        assert await task == "ok"
        assert [turn.text for turn in server.turns] == ["x", "x"]
        assert proxy.accepted <= 5


async def until_host_is_proxy(server: ModelServer) -> None:
    """The face checks the Host header; behind a proxy its own port is another one."""
    server.face._own_names = lambda: _Anything()  # type: ignore[method-assign,assignment,return-value]


class _Anything:
    def __contains__(self, name: object) -> bool:
        return True


async def test_pongs_alone_do_not_make_a_first_token() -> None:
    clock = FakeClock()
    async with (
        ModelServer() as server,
        connected(server.url, server.headers, clock=clock) as connection,
    ):
        task = ask(connection)
        turn = await server.turn()
        for _ in range(9):
            await clock.advance(1)
            await pong(connection)
        assert not task.done()
        await clock.advance(1)
        with pytest.raises(Stalled):
            await task
        assert len(server.turns) == 1
        turn.finish()


async def pong(connection: Connection) -> None:
    socket = connection._shared
    assert socket is not None
    await (await socket._connection.ping())
    await turns()


async def test_a_pause_in_an_answer_ends_it_at_last() -> None:
    clock = FakeClock()
    async with ModelServer() as server, connected(server.url, server.headers, clock=clock) as connection:
        task = ask(connection)
        turn = await server.turn()
        turn.say("a")
        await turns(50)
        for _ in range(39):
            await clock.advance(1)
            await pong(connection)
            if task.done():
                break
        with pytest.raises(Stalled):
            await task
        turn.finish()


async def test_B98_attempts_follow_the_back_off() -> None:
    clock, attempts, works = FakeClock(), [], False
    async with ModelServer() as server:

        async def endpoint() -> Endpoint:
            attempts.append(clock.time() - 1000)
            if not works:
                raise Unreachable("The name cannot be found.")
            return Endpoint(server.url, server.headers)

        async with connecting(endpoint, clock=clock) as connection:
            server.always("ok")
            failures = 0
            task: asyncio.Task[str] | None = None
            for _ in range(600):
                if task is not None and task.done():
                    failures += task.exception() is not None
                elif task is not None:
                    await cancelled(task)
                task = ask(connection)
                await clock.advance(0.1)
            works = True
            assert [round(moment) for moment in attempts] == [0, 1, 3, 7, 15, 31]
            assert task is not None
            await cancelled(task)
            task = ask(connection)
            await clock.advance(1.2)
            assert await task == "ok"


async def test_B98_a_request_fails_at_once_while_the_next_attempt_is_far() -> None:
    clock = FakeClock()

    async def endpoint() -> Endpoint:
        raise Unreachable("No route.")

    async with connecting(endpoint, clock=clock) as connection:
        for seconds in (0, 1, 2, 4, 8):
            await clock.advance(seconds)
            with pytest.raises(Unreachable):
                await answer(connection)
        with pytest.raises(Unreachable):
            await answer(connection)


@pytest.mark.parametrize(
    ("path", "token", "error"),
    [("/v1/responses", "wrong", Unauthorized), ("/v1/elsewhere", None, BackendError)],
)
async def test_permanent_failures_are_not_hammered(path: str, token: str | None, error: type) -> None:
    clock, attempts = FakeClock(), 0
    async with ModelServer() as server:

        async def endpoint() -> Endpoint:
            nonlocal attempts
            attempts += 1
            headers = {"Authorization": f"Bearer {token}"} if token else server.headers
            return Endpoint(f"ws://127.0.0.1:{server.port}{path}", headers)

        async with connecting(endpoint, clock=clock) as connection:
            for _ in range(50):
                with pytest.raises(error):
                    await answer(connection)
                await clock.advance(1)
            assert attempts == 1


async def test_closing_ends_what_still_streams() -> None:
    async with ModelServer() as server, connected(server.url, server.headers) as connection:
        task = ask(connection)
        await server.turn()
        await connection.close()
        with pytest.raises(Interrupted):
            await task
        with pytest.raises(Unreachable):
            await answer(connection)
