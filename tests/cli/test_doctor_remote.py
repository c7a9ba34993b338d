"""Every step of a connection to a remote model, failing against a real counterpart."""

import asyncio

import pytest
import trustme

from lsp_server.model import probe
from tests.cli.hosts import (
    CHAT,
    STEPS,
    Chatting,
    behind_tls,
    certified,
    check,
    failed,
    hang_up,
    report,
    speaking,
    tunnel_to,
)
from tests.support.command import Machine
from tests.support.model_server import TOKEN


async def test_every_step_of_a_socket_is_well(machine: Machine, authority: trustme.CA, ca_file: str) -> None:
    async with behind_tls(authority) as port:
        machine.use(f"wss://localhost:{port}/v1", caFile=ca_file)
        steps = await report(machine)
    assert failed(steps) == {}
    assert list(steps) == [step for step in STEPS if step not in ("proxy", "budget")]
    assert "the certificate is trusted, valid until" in steps["TLS"][1]
    assert steps["lanes"][1] == "two answers at once on one connection"


async def test_no_key(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.use("wss://no-such-host.invalid/v1", key="env:MIDSTREAM_ABSENT")
    await check(machine, "key", "MIDSTREAM_ABSENT is not set", "Set the variable")
    machine.use("https://no-such-host.invalid/v1", key="keyring:absent", protocol="chat-http")
    monkeypatch.setattr("keyring.get_password", lambda service, name: None)
    await check(machine, "key", "The key store has no key named absent", "store the key")


async def test_no_such_name(machine: Machine) -> None:
    for protocol in ("responses-ws", "chat-http"):
        machine.use("https://no-such-host.invalid/v1", protocol=protocol)
        await check(machine, "DNS", "The name no-such-host.invalid cannot be found", "Check the host's name")


async def test_nothing_listens(machine: Machine) -> None:
    async with speaking(hang_up) as port:
        pass
    machine.use(f"wss://127.0.0.1:{port}/v1")
    await check(machine, "TCP", f"Nothing listens at 127.0.0.1:{port};", "that its host is running")


async def test_B97_a_certificate_for_another_name(
    machine: Machine, authority: trustme.CA, ca_file: str
) -> None:
    async with behind_tls(authority, "other.example") as port:
        machine.use(f"wss://localhost:{port}/v1", caFile=ca_file)
        await check(machine, "TLS", "The certificate of localhost", "Check the scheme and host")
        machine.use(f"https://localhost:{port}/v1", caFile=ca_file, protocol="anthropic-http")
        await check(machine, "TLS", "Hostname mismatch", "Check the scheme and host")


async def test_B97_a_certificate_of_nobody_known(machine: Machine, authority: trustme.CA) -> None:
    async with behind_tls(authority) as port:
        machine.use(f"wss://localhost:{port}/v1")
        await check(machine, "TLS", "name its certificate authority in `caFile`", "`caFile`")


async def test_a_certificate_file_that_is_none(machine: Machine, authority: trustme.CA) -> None:
    async with behind_tls(authority) as port:
        machine.use(f"wss://localhost:{port}/v1", caFile=str(machine.home / "absent.pem"))
        await check(machine, "TLS", "absent.pem cannot be used", "`caFile`")


async def test_a_host_without_tls(machine: Machine) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(5)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()

    async with speaking(plain) as port:
        machine.use(f"wss://127.0.0.1:{port}/v1")
        await check(machine, "TLS", f"No secure connection to 127.0.0.1:{port}", "Check the scheme and host")


@pytest.mark.parametrize("status", [403, 407, 502])
async def test_a_proxy_that_refuses(machine: Machine, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 %d No\r\n\r\n" % status)
        await writer.drain()

    async with speaking(refuse) as port:
        machine.use("wss://model.example/v1", proxy=f"http://127.0.0.1:{port}")
        wants = " It wants a name and password." if status == 407 else ""
        said = f"The proxy 127.0.0.1:{port} did not connect to model.example:443: {status} No.{wants}"
        await check(machine, "proxy", said, "Check `proxy`")
        machine.use("https://model.example/v1", protocol="chat-http")
        monkeypatch.setenv("HTTPS_PROXY", f"http://someone:{TOKEN}@127.0.0.1:{port}")
        await check(machine, "proxy", said, "HTTPS_PROXY")


async def test_a_proxy_that_is_not_there(machine: Machine) -> None:
    async with speaking(hang_up) as port:
        pass
    machine.use("wss://model.example/v1", proxy=f"http://127.0.0.1:{port}")
    await check(machine, "TCP", f"Nothing listens at 127.0.0.1:{port};", "that its host is running")
    machine.use("wss://model.example/v1", proxy="http://no-such-proxy.invalid:3128")
    await check(machine, "DNS", "The name no-such-proxy.invalid:3128 cannot be found", "the proxy's")


async def test_through_a_proxy_to_the_end(machine: Machine, authority: trustme.CA, ca_file: str) -> None:
    """Only the proxy knows where the host is, as in a company's network."""
    async with behind_tls(authority, "model.example") as behind, speaking(tunnel_to(behind)) as port:
        machine.use("wss://model.example/v1", caFile=ca_file, proxy=f"http://127.0.0.1:{port}")
        steps = await report(machine)
    assert failed(steps) == {}
    assert list(steps) == [step for step in STEPS if step not in ("DNS", "budget")]
    assert steps["proxy"][1].startswith(f"127.0.0.1:{port} connects to model.example:443")


@pytest.mark.parametrize("bypassed", [False, True])
async def test_http_through_a_proxy_of_the_environment(
    machine: Machine, authority: trustme.CA, ca_file: str, bypassed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "model.example" if bypassed else "elsewhere.example")
    async with (
        Chatting(CHAT, tls=certified(authority, "model.example")) as server,
        speaking(tunnel_to(server.port)) as port,
    ):
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{port}")
        machine.use("https://model.example/v1", caFile=ca_file, protocol="chat-http")
        steps = await report(machine)
    if bypassed:
        assert list(failed(steps)) == ["DNS"]
        assert not server.exchanges
    else:
        assert failed(steps) == {}
        assert list(steps) == ["key", "TCP", "proxy", "TLS", "auth", "first token", "cancel", "lanes"]


async def test_a_host_that_says_nothing_at_the_door(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "OPEN_TIMEOUT", 0.2)
    silent = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await silent.wait()

    async with speaking(wait) as port:
        machine.use(f"wss://127.0.0.1:{port}/v1")
        await check(machine, "TLS", "did not answer in time", "Check the scheme")
        machine.use(f"ws://127.0.0.1:{port}/v1")
        await check(machine, "upgrade", "did not answer in time", "its host is running")
        silent.set()
