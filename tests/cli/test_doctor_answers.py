"""What a remote model answers, and what the doctor says about it."""

import asyncio
import json

import pytest
from websockets.asyncio.server import ServerConnection, serve

from lsp_server.model import hosting
from tests.cli.hosts import CHAT, Chatting, check, failed, report
from tests.support.command import Machine
from tests.support.model_server import TOKEN, ModelServer


async def test_every_step_over_http_is_well(machine: Machine) -> None:
    async with Chatting(CHAT) as server:
        machine.use(f"{server.url}/v1", protocol="chat-http")
        steps = await report(machine)
    assert failed(steps) == {}
    assert list(steps) == ["key", "TCP", "auth", "first token", "cancel", "lanes"]
    assert "each on a connection of its own" in steps["lanes"][1]


async def test_a_key_in_a_header_of_its_own_is_a_key(machine: Machine) -> None:
    async with Chatting(CHAT) as server:
        machine.use(f"{server.url}/v1", protocol="chat-http", key="")
        settings = machine.settings.read_text()
        header = 'headers = { "api-key" = "env:MIDSTREAM_TEST_KEY", "x-team" = "blue" }'
        machine.settings.write_text(settings.replace('key = ""', header))
        steps = await report(machine)
        assert {each.headers["api-key"] for each in server.exchanges if each.method == "POST"} == {TOKEN}
    assert steps["key"][1] == "found under env:MIDSTREAM_TEST_KEY"
    assert failed(steps) == {} and "auth" in steps


async def test_a_host_without_lanes_is_told(machine: Machine) -> None:
    async def one_after_the_other(socket: ServerConnection) -> None:
        async for _ in socket:
            for event in (
                {"type": "response.created", "response": {"id": "r1"}},
                {"type": "response.output_text.delta", "delta": " a + b"},
                {"type": "response.completed", "response": {"id": "r1", "status": "completed"}},
            ):
                await socket.send(json.dumps(event))

    async with serve(one_after_the_other, "127.0.0.1", 0, close_timeout=1) as server:
        machine.use(f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/v1", cancel="lane")
        steps = await report(machine)
    assert failed(steps) == {}
    assert steps["lanes"][1] == "the host knows none: each answer has a connection of its own"


@pytest.mark.parametrize("status", [400, 404, 405, 426])
async def test_an_upgrade_that_is_refused_leaves_the_events(machine: Machine, status: int) -> None:
    """The upgrade is what fails, and the doctor goes on with what takes its place."""
    body = b'data: {"type": "response.output_text.delta", "delta": " a + b"}\n\n'
    body += b'data: {"type": "response.completed", "response": {"id": "r1", "status": "completed"}}\n\n'
    async with Chatting(body, upgrade=status) as server:
        machine.use(f"ws://127.0.0.1:{server.port}/v1")
        steps = await report(machine)
    assert list(failed(steps)) == ["upgrade"]
    assert f"does not speak WebSocket here ({status})" in steps["upgrade"][1]
    assert 'set `protocol = "responses-http"`' in steps["upgrade"][2]
    assert list(steps)[-3:] == ["first token", "cancel", "lanes"]


@pytest.mark.parametrize(
    ("status", "step", "found", "mend"),
    [
        (401, "auth", "refused the key of model `scripted` (401)", "Check `key`"),
        (403, "auth", "refused the key of model `scripted` (403)", "may use the model"),
        (429, "upgrade", "to slow down (429)", "name a `fallback`"),
        (503, "upgrade", "cannot serve now (503)", "Try again later"),
        (307, "upgrade", "redirects to elsewhere.example; requests go", "Check `url`"),
    ],
)
async def test_what_the_door_of_a_socket_says(
    machine: Machine, status: int, step: str, found: str, mend: str
) -> None:
    async with Chatting(b"", upgrade=status) as server:
        machine.use(f"ws://127.0.0.1:{server.port}/v1")
        await check(machine, step, found, mend)


@pytest.mark.parametrize(
    ("status", "body", "step", "found", "mend"),
    [
        (401, b'{"error": {"message": "no: %b"}}' % TOKEN.encode(), "auth", "(401); check the key", "`key`"),
        (403, b"{}", "auth", "refused the key of model `scripted` (403)", "may use the model"),
        (404, b"{}", "first token", "(404); check `url` and `model`", "Check `url`, `model`"),
        (413, b"{}", "first token", "The request is too large", "Check `url`"),
        (429, b"{}", "first token", "to slow down (429)", "name a `fallback`"),
        (500, b"{}", "first token", "cannot serve now (500)", "Try again later"),
        (529, b"{}", "first token", "cannot serve now (529)", "Try again later"),
        (302, b"", "first token", "redirects to elsewhere.example", "Check `url`"),
        (200, b"<!doctype html><html>portal</html>", "first token", "answers with a web page", "Check `url`"),
        (200, b"data: [DONE]\n\n", "first token", "broke off before its end", "Try again"),
        (200, CHAT.replace(b" a + b", b""), "first token", "It answered nothing.", "Check `url`"),
    ],
)  # fmt: skip
async def test_what_a_request_is_answered(
    machine: Machine, status: int, body: bytes, step: str, found: str, mend: str
) -> None:
    async with Chatting(body, status) as server:
        machine.use(f"{server.url}/v1", protocol="chat-http")
        await check(machine, step, found, mend)


async def test_a_host_that_never_answers(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "COMPLETION_PATIENCE", 0.2)
    async with ModelServer() as server:
        machine.use(server.face.url)
        await check(machine, "first token", "did not begin to answer in time", "Try again later")


async def test_a_budget_of_zero_sends_nothing(machine: Machine) -> None:
    async with ModelServer() as server:
        server.always(" a + b")
        machine.use(server.face.url)
        with machine.settings.open("a") as file:
            file.write("[budget]\nperDay = 0\n")
        steps = await report(machine)
        assert not server.turns
    assert "is 0, so nothing is sent" in steps["budget"][1]
    assert "Raise `budget`" in steps["budget"][2]


async def test_fallbacks_and_models_of_ones_own_are_looked_at_too(machine: Machine) -> None:
    machine.use("wss://no-such-host.invalid/v1", fallback="spare")
    with machine.settings.open("a") as file:
        for name in ("spare", "unused"):
            file.write(
                f'[models.{name}]\nprotocol = "chat-http"\nurl = "https://{name}.invalid"\nmodel = "m"\n'
            )
    ran = await asyncio.to_thread(machine.midstream, "doctor")
    for name in ("scripted", "spare", "unused"):
        assert f"FAIL  model {name}, DNS: " in ran.out
    assert "embedded model" not in ran.out
