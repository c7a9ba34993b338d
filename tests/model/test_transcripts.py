"""Recorded sessions, replayed whole and cut into fragments at random: codec alone, then the whole client."""

import json
from contextlib import aclosing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from websockets.asyncio.server import ServerConnection, serve
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from lsp_server.core.prompt import Chat
from lsp_server.engine.errors import BackendError
from lsp_server.engine.ports import Delta, Finish, Request
from lsp_server.model.responses_ws import ResponsesBackend
from lsp_server.settings import Model
from lsp_server.wire.answer import Answer
from lsp_server.wire.client import Ended, ErrorEvent, TextDelta, Usage, decode
from lsp_server.wire.errors import WireError
from lsp_server.wire.server import Create
from lsp_server.wire.text import SurrogateJoiner
from tests.support.transcript import Fragments, Line, check, cuts, expected, load, replay

FILES = sorted((Path(__file__).parent / "transcripts").glob("*.jsonl"), key=lambda path: path.name)
REQUEST = Request("complete", Chat("Be brief.", "the file", " the task"), max_tokens=32)


async def played(url: str) -> tuple[str, str]:
    """The text that arrived, and how it ended: a reason, or the name of an error."""
    one = ResponsesBackend(Model(name="fast", protocol="responses-ws", model="m", url=url))
    text, end = "", ""
    try:
        async with aclosing(one.stream(REQUEST)) as events:
            async for event in events:
                match event:
                    case Delta(piece):
                        text += piece
                    case Finish(reason):
                        end = reason
    except BackendError as error:
        end = type(error).__name__
    finally:
        await one.close()
    return text, end


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_a_recorded_session_plays_as_it_did(path: Path) -> None:
    async with replay(load(path)) as server:
        assert await played(server.url) == expected(path)
        check(path, server.received)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@given(sizes=cuts())
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
async def test_B91_B92_fragments_make_no_difference(path: Path, sizes: Fragments) -> None:
    async with replay(load(path), sizes or [1]) as server:
        assert await played(server.url) == expected(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_codec_alone_reads_the_same_text(path: Path) -> None:
    joiner, text, mine = SurrogateJoiner(), "", {"m0", None}
    for line in load(path):
        if line.sent or isinstance(line.frame, int):
            continue
        try:
            event = decode(line.frame if isinstance(line.frame, str) else json.dumps(line.frame))
        except WireError:
            continue
        if isinstance(event, TextDelta) and event.lane in mine:
            text += joiner.push(event.text)
        if isinstance(event, Ended | ErrorEvent):
            break
    assert text == expected(path)[0]


def answer_lines(text: str) -> list[Line]:
    one = Answer(Create("m", lane="m0"), "resp_1", created_at=1)
    frames = [*one.started(), *one.delta(text), *one.completed(Usage())]
    return [Line(True, None), *(Line(False, json.loads(frame)) for frame in frames)]


@pytest.mark.parametrize("sizes", [(), (1,), (65536,)])
async def test_B92_an_event_of_a_megabyte_and_a_half(sizes: Fragments) -> None:
    text = "é🦊x" * (200_000 if sizes != (1,) else 100)
    async with replay(answer_lines(text), sizes) as server:
        assert await played(server.url) == (text, "stop")


@pytest.mark.parametrize("ascii_only", [True, False])
async def test_B91_a_message_cut_at_every_byte(ascii_only: bool) -> None:
    """Each message of an answer once for each of its bytes, in two fragments that part there."""
    one = Answer(Create("m", lane="m0"), "resp_1", created_at=1)
    started, delta, ended = one.started(), one.delta("é🦊x"), one.completed(Usage())

    def again(frame: str) -> bytes:
        return json.dumps(json.loads(frame), ensure_ascii=ascii_only).encode()

    async def play(socket: ServerConnection) -> None:
        await socket.recv()
        for frame in map(again, [*started, *delta]):
            for at in range(len(frame)):
                await socket.send([frame[:at], frame[at:]], text=True)
        *_, last = map(again, ended)
        await socket.send([last[:40], last[40:]], text=True)
        await socket.wait_closed()

    async with serve(play, "127.0.0.1", 0, close_timeout=1) as server:
        text, end = await played(f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/v1")
    assert (text, end) == ("é🦊x" * len(again(delta[-1])), "stop")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_B92_every_byte_offset_of_a_session(path: Path) -> None:
    """What the network delivers, cut once at each byte: the same messages come out, and so the same text."""
    frames = [line.frame for line in load(path) if not line.sent and not isinstance(line.frame, int)]
    texts = [frame if isinstance(frame, str) else json.dumps(frame) for frame in frames]
    data = b"".join(Frame(Opcode.TEXT, text.encode()).serialize(mask=False) for text in texts)
    for at in range(len(data) + 1):
        protocol = ClientProtocol(parse_uri("ws://host/"), state=State.OPEN, max_size=None)
        protocol.receive_data(data[:at])
        protocol.receive_data(data[at:])
        assert [bytes(event.data).decode() for event in protocol.events_received()] == texts


async def test_B92_a_message_over_the_limit_fails_the_request_with_a_sentence() -> None:
    lines = [Line(True, None), Line(False, '{"type": "x", "pad": "%s"}' % ("x" * (17 << 20)))]
    async with replay(lines, (1 << 20,)) as server:
        assert await played(server.url) == ("", "Interrupted")


async def test_B93_a_binary_frame_is_skipped_and_the_connection_stays_usable(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG", "lsp_server.model")

    async def serve_two(socket: ServerConnection) -> None:
        for number in range(2):
            create = json.loads(await socket.recv())
            one = Answer(Create("m", lane=create["stream_id"]), f"resp_{number}", created_at=1)
            for frame in [*one.started(), *one.delta("ok"), *one.completed(Usage())]:
                await socket.send(b"\x00\x01")
                await socket.send(frame)
        await socket.wait_closed()

    async with serve(serve_two, "127.0.0.1", 0, close_timeout=1) as server:
        url = f"ws://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/v1"
        one = ResponsesBackend(Model(name="fast", protocol="responses-ws", model="m", url=url))
        for _ in range(2):
            async with aclosing(one.stream(REQUEST)) as events:
                assert await anext(events) == Delta("ok")
                assert isinstance(await anext(events), Finish)
        await one.close()
    skipped = [record for record in caplog.records if "skipped" in record.message]
    assert [record.levelname for record in skipped] == ["DEBUG"]
