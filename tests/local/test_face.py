"""Who is let in, and what the face says of itself."""

import asyncio
import json

import pytest
from websockets.exceptions import InvalidStatus

from lsp_server.local.face import Face
from tests.local.words import TOKEN, Script, client


@pytest.mark.parametrize(
    ("headers", "path", "status"),
    [
        ({"Authorization": "Bearer wrong"}, "responses", 401),
        ({"Authorization": ""}, "responses", 401),
        ({"Origin": "http://127.0.0.1"}, "responses", 403),
        ({"Host": "evil.example:PORT"}, "responses", 403),
        ({"Host": "127.0.0.1"}, "responses", 403),
        ({}, "chat/completions", 404),
    ],
)
async def test_strangers_are_turned_away(headers: dict[str, str], path: str, status: int) -> None:
    async with Face(Script(), token=TOKEN) as opened:
        wanted = {"Authorization": f"Bearer {TOKEN}"} | headers
        lines = {key: value.replace("PORT", str(opened.port)) for key, value in wanted.items()}
        assert await _handshake(opened, path, lines) == status


async def test_localhost_is_this_machine_too() -> None:
    async with Face(Script(), token=TOKEN) as opened:
        headers = {"Authorization": f"Bearer {TOKEN}", "Host": f"localhost:{opened.port}"}
        assert await _handshake(opened, "responses?beta=1", headers) == 101


async def _handshake(opened: Face, path: str, headers: dict[str, str]) -> int:
    """The status of a handshake written by hand, for websockets would not send a foreign Host."""
    reader, writer = await asyncio.open_connection("127.0.0.1", opened.port)
    fields = {
        "Host": f"127.0.0.1:{opened.port}",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    } | headers
    lines = [f"GET /v1/{path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    writer.write("\r\n".join(lines).encode())
    status = int((await reader.readline()).split()[1])
    writer.close()
    await writer.wait_closed()
    return status


async def test_status_is_json_behind_the_token() -> None:
    async with Face(Script(), token=TOKEN, status=lambda: {"pid": 7}) as opened:
        reader, writer = await asyncio.open_connection("127.0.0.1", opened.port)
        fields = f"Host: 127.0.0.1:{opened.port}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        writer.write(f"GET /v1/status HTTP/1.1\r\n{fields}".encode())
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        await writer.wait_closed()
    assert b"200 OK" in head and b"application/json" in head
    assert json.loads(body) == {"pid": 7}


async def test_clients_are_counted_and_the_owner_is_told() -> None:
    told: list[int] = []
    async with Face(Script(), token=TOKEN, changed=lambda: told.append(opened.clients)) as opened:
        async with client(opened), client(opened):
            pass
        with pytest.raises(InvalidStatus):
            async with client(opened, Authorization="Bearer wrong"):
                pass
        while opened.clients:
            await asyncio.sleep(0)
    assert told == [1, 2, 1, 0]
