"""A network that fails between us and a real server, in each way it can."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from websockets.asyncio.server import ServerConnection, serve

from lsp_server.engine.errors import BackendError, Interrupted, Stalled, Unreachable
from lsp_server.model.connection import Connection, Options
from lsp_server.wire.answer import Answer
from lsp_server.wire.client import Usage
from lsp_server.wire.server import Create, parse_request
from tests.model.calls import answer, ask
from tests.model.clock import FakeClock, connected, turns, until
from tests.support.fault_proxy import FaultProxy

STEADY = Options(cancel="event", max_age=1e9)


class Streaming:
    """A server whose answers are one delta, then whatever the test lets through."""

    def __init__(self) -> None:
        self.requests = 0
        self.go = asyncio.Event()

    async def serve(self, socket: ServerConnection) -> None:
        async for frame in socket:
            create = parse_request(frame)
            assert isinstance(create, Create)
            self.requests += 1
            one = Answer(create, f"resp_{self.requests}", created_at=1)
            for frame in [*one.started(), *one.delta("begun ")]:
                await socket.send(frame)
            await self.go.wait()
            for frame in [*one.delta("and done"), *one.completed(Usage())]:
                await socket.send(frame)


@asynccontextmanager
async def between(clock: FakeClock | None = None) -> AsyncIterator[tuple[Streaming, FaultProxy, Connection]]:
    streaming = Streaming()
    async with (
        serve(streaming.serve, "127.0.0.1", 0, close_timeout=1) as server,
        FaultProxy(next(iter(server.sockets)).getsockname()[1]) as proxy,
        connected(f"ws://127.0.0.1:{proxy.port}/", {}, clock=clock, options=STEADY) as connection,
    ):
        yield streaming, proxy, connection


async def test_nothing_wrong() -> None:
    async with between() as (streaming, _, connection):
        streaming.go.set()
        assert await answer(connection) == "begun and done"


async def test_refused_and_back() -> None:
    clock = FakeClock()
    async with between(clock) as (streaming, proxy, connection):
        streaming.go.set()
        await proxy.refuse()
        with pytest.raises(Unreachable, match="Nothing listens"):
            await answer(connection)
        await proxy.listen()
        task = ask(connection)
        await turns()
        await clock.advance(1)
        assert await task == "begun and done"


async def test_a_reset_inside_the_stream() -> None:
    async with between() as (streaming, proxy, connection):
        task = ask(connection)
        await begun(connection)
        proxy.reset()
        with pytest.raises(Interrupted):
            await task
        streaming.go.set()
        assert await answer(connection) == "begun and done"
        assert streaming.requests == 2


async def test_a_stall_inside_the_stream_is_noticed_by_the_missing_pong() -> None:
    clock = FakeClock()
    async with between(clock) as (streaming, proxy, connection):
        task = ask(connection)
        await begun(connection)
        proxy.stall()
        await clock.advance(11)
        with pytest.raises(Stalled):
            await task
        proxy.resume()
        streaming.go.set()
        assert await answer(connection) == "begun and done"


async def test_a_stall_before_the_stream_leads_to_one_new_connection_and_one_resend() -> None:
    clock = FakeClock()
    async with between(clock) as (streaming, proxy, connection):
        streaming.go.set()
        assert await answer(connection) == "begun and done"
        proxy.stall()
        task = ask(connection)
        await turns()
        await clock.advance(5.5)
        proxy.resume()
        assert await task == "begun and done"
        assert proxy.accepted == 2


@pytest.mark.parametrize("count", [0, 1, 60, 130, 200, 700, 900])
async def test_a_connection_cut_at_any_byte(count: int) -> None:
    """Before the upgrade, inside it, inside a frame: an error with a sentence, and nothing hangs."""
    clock = FakeClock()
    async with between(clock) as (streaming, proxy, connection):
        proxy.cut_after(count + 1)
        with pytest.raises(BackendError) as failure:
            task = ask(connection)
            await turns()
            while not task.done():
                await clock.advance(0.5)
            await task
        assert str(failure.value)
        streaming.go.set()


async def begun(connection: Connection) -> None:
    def arrived() -> bool:
        socket = connection._shared
        return socket is not None and any(lane.deltas for lane in socket._in_flight.values())

    await until(arrived)


async def test_B88_a_burst_does_not_keep_pongs_and_other_work_waiting() -> None:
    """Pings in the middle of thousands of deltas are answered in their place, and the loop turns on."""
    pongs = 0

    async def burst(socket: ServerConnection) -> None:
        nonlocal pongs
        create = parse_request(await socket.recv())
        assert isinstance(create, Create)
        one = Answer(create, "resp_1", created_at=1)
        for frame in one.started():
            await socket.send(frame)
        for _ in range(10):
            for _ in range(300):
                await socket.send(one.delta("x")[-1])
            await (await socket.ping())
            pongs += 1
        for frame in one.completed(Usage()):
            await socket.send(frame)
        await socket.wait_closed()

    async with (
        serve(burst, "127.0.0.1", 0, close_timeout=1) as server,
        connected(f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/", {}) as connection,
    ):
        task = ask(connection)
        seen, longest = 0, 0
        while not task.done():
            await asyncio.sleep(0)
            socket = connection._shared
            lanes = list(socket._in_flight.values()) if socket is not None else []
            now = lanes[0].deltas if lanes else seen
            seen, longest = now, max(longest, now - seen)
        assert await task == "x" * 3000
        assert pongs == 10
        assert longest <= 1500
