"""Input that a provider newly put into its cache is counted, because some charge more for it."""

import json
from contextlib import aclosing
from dataclasses import replace

import pytest

from lsp_server.engine.ports import Finish, Usage
from tests.model.providers import PROVIDERS
from tests.model.test_http_backend import STREAM, Recorder, served

HOSTS = {provider.name: provider for provider in PROVIDERS}


def sent(*events: object) -> bytes:
    return b"".join(
        b"event: %b\ndata: %b\n\n" % (str(event.get("type", "")).encode(), json.dumps(event).encode())
        for event in events
        if isinstance(event, dict)
    )


ANTHROPIC = sent(
    {
        "type": "message_start",
        "message": {
            "id": "m", "type": "message", "role": "assistant", "model": "c", "content": [],
            "stop_reason": None, "stop_sequence": None,
            "usage": {"input_tokens": 10, "cache_creation_input_tokens": 700, "cache_read_input_tokens": 200,
                      "output_tokens": 1},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None},
     "usage": {"output_tokens": 5}},
    {"type": "message_stop"},
)  # fmt: skip
RESPONSES = sent(
    {
        "type": "response.completed",
        "response": {
            "id": "r",
            "status": "completed",
            "usage": {
                "input_tokens": 910,
                "input_tokens_details": {"cached_tokens": 200, "cache_write_tokens": 700},
                "output_tokens": 5,
            },
        },
    }
)
CHAT = sent(
    {"id": "1", "choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]},
    {
        "id": "1",
        "choices": [],
        "usage": {
            "prompt_tokens": 910,
            "completion_tokens": 5,
            "total_tokens": 915,
            "prompt_tokens_details": {"cached_tokens": 200, "cache_write_tokens": 700},
        },
    },
)


@pytest.mark.parametrize(
    ("name", "body"), [("anthropic-http", ANTHROPIC), ("responses-http", RESPONSES), ("chat-http", CHAT)]
)
@pytest.mark.parametrize("told", [True, False])
async def test_what_was_written_to_the_cache_is_counted(name: str, body: bytes, told: bool) -> None:
    if not told:
        body = body.replace(b'"cache_creation_input_tokens": 700', b'"cache_creation_input_tokens": null')
        body = body.replace(b', "cache_write_tokens": 700', b"")
    expected = Usage(910, 200, 5, written_tokens=700)
    if not told:
        lacking = 700 if name == "anthropic-http" else 0
        expected = replace(expected, input_tokens=910 - lacking, written_tokens=0)
    async with Recorder() as server, served(server, HOSTS[name]) as one:
        server.reply(200, body, STREAM)
        async with aclosing(one.stream(HOSTS[name].request)) as events:
            *_, last = [event async for event in events]
    assert isinstance(last, Finish)
    assert last.usage == expected
