"""The same request through the vendor's SDK and through our client: the recorded bodies are equal.

Where they differ, `ALLOWED` says why.
"""

import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from lsp_server.core.prompt import Chat, Fill, Snippet
from lsp_server.engine.ports import Request
from lsp_server.model import dialect_of, over_http
from lsp_server.model.fim_http import FimDialect
from lsp_server.model.hosting import cache_key, style_of
from lsp_server.model.responses import body as responses_body
from lsp_server.settings import Model
from tests.model.providers import CHAT, ENVIRONMENT, FILL
from tests.model.test_http_backend import Recorder

KEY = ENVIRONMENT["KEY"]
REQUEST = replace(CHAT, stop=("END",), logprobs=True)
MODEL = Model(
    name="fast", model="m", key="env:KEY", effort="low", verbosity="low", tier="fast", temperature=0.5
)
MESSAGES: Any = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "the file the task"},
]

ALLOWED: dict[str, set[str]] = {
    # The SDK has dropped it, older models still take it, and it is sent only when the settings name it.
    "anthropic-http": {"temperature"},
}


async def sdk_responses(url: str) -> None:
    async with AsyncOpenAI(api_key=KEY, base_url=url, max_retries=0) as client:
        await client.responses.create(
            model="m",
            store=False,
            stream=True,
            instructions="Be brief.",
            input=[{"role": "user", "content": "the file"}, {"role": "user", "content": " the task"}],
            max_output_tokens=32,
            include=["message.output_text.logprobs"],
            reasoning={"effort": "low"},
            service_tier="fast",
            text={"verbosity": "low"},
            temperature=0.5,
            prompt_cache_key=cache_key(REQUEST) or "",
        )


async def sdk_chat(url: str) -> None:
    async with AsyncOpenAI(api_key=KEY, base_url=url, max_retries=0) as client:
        await client.chat.completions.create(
            model="m",
            messages=MESSAGES,
            stream=True,
            stream_options={"include_usage": True},
            max_tokens=32,
            stop=["END"],
            logprobs=True,
            reasoning_effort="low",
            service_tier="fast",
            temperature=0.5,
            prompt_cache_key=cache_key(REQUEST) or "",
        )


async def sdk_anthropic(url: str) -> None:
    async with AsyncAnthropic(api_key=KEY, base_url=url.removesuffix("/v1"), max_retries=0) as client:
        await client.messages.create(
            model="m",
            max_tokens=32,
            system=[{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
            messages=[
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "the file", "cache_control": {"type": "ephemeral"}},
                        {"type": "text", "text": " the task"},
                    ],
                }
            ],
            stream=True,
            stop_sequences=["END"],
            output_config={"effort": "low"},
            service_tier="auto",
            speed="fast",
        )


async def sdk_completions(url: str) -> None:
    async with AsyncOpenAI(api_key=KEY, base_url=url, max_retries=0) as client:
        await client.completions.create(
            model="m",
            prompt="def f(",
            suffix="):\n",
            max_tokens=32,
            stop=["END"],
            logprobs=1,
            temperature=0.5,
            stream=True,
            stream_options={"include_usage": True},
        )


@pytest.mark.parametrize(
    ("protocol", "sdk", "request_"),
    [
        ("responses-http", sdk_responses, REQUEST),
        ("chat-http", sdk_chat, REQUEST),
        ("anthropic-http", sdk_anthropic, REQUEST),
        ("fim-http", sdk_completions, replace(REQUEST, prompt=FILL.prompt)),
    ],
)
async def test_bodies_are_equal_field_by_field(
    protocol: str, sdk: Callable[[str], Awaitable[None]], request_: Request
) -> None:
    async with Recorder() as server:
        url = f"{server.url}/v1"
        changes: dict[str, Any] = {"tier": "auto", "speed": "fast"} if protocol == "anthropic-http" else {}
        one = over_http(replace(MODEL, protocol=protocol, url=url, **changes), ENVIRONMENT)
        for _ in range(2):
            server.reply(200, b"data: {}\n\n", {"Content-Type": "text/event-stream"})
        with pytest.raises(Exception, match="broke off"):
            async with aclosing(one.stream(request_)) as events:
                await anext(events)
        await sdk(url)
        await one.close()
        ours, theirs = server.exchanges
        assert (ours.method, ours.path) == (theirs.method, theirs.path)
        assert ours.headers["authorization"] == theirs.headers["authorization"]
        assert ours.headers.get("anthropic-version") == theirs.headers.get("anthropic-version")
        kept = {name: value for name, value in ours.json.items() if name not in ALLOWED.get(protocol, ())}
        assert kept == theirs.json


@pytest.mark.parametrize(
    ("model", "speed", "beta", "sent"),
    [
        ("claude-opus-5", "fast", "fast-mode-2026-02-01", "fast"),
        ("claude-opus-5-20260701", "fast", "fast-mode-2026-02-01", "fast"),
        ("claude-opus-4-8", "fast", "fast-mode-2026-02-01", "fast"),
        ("claude-opus-5-5", "fast", None, "fast"),
        ("claude-fable-5-2", "fast", None, "fast"),
        ("claude-opus-5", "standard", None, "standard"),
        ("claude-opus-5", "", None, None),
        ("claude-haiku-4-5", "fast", None, None),
        ("claude-of-tomorrow", "fast", None, "fast"),
    ],
)
async def test_fast_mode_and_its_header_only_where_needed(
    model: str, speed: Any, beta: str | None, sent: str | None
) -> None:
    exchange = await sent_by(replace(MODEL, protocol="anthropic-http", model=model, speed=speed))
    assert exchange.headers.get("anthropic-beta") == beta
    assert exchange.json.get("speed") == sent


async def test_a_beta_of_the_settings_stays_beside_the_one_of_fast_mode() -> None:
    model = replace(
        MODEL,
        protocol="anthropic-http",
        model="claude-opus-5",
        speed="fast",
        headers={"Anthropic-Beta": "context-1m"},
    )
    assert (await sent_by(model)).headers["anthropic-beta"] == "context-1m,fast-mode-2026-02-01"


async def test_no_reply_is_begun_for_the_model() -> None:
    exchange = await sent_by(replace(MODEL, protocol="anthropic-http"))
    assert [message["role"] for message in exchange.json["messages"]] == ["user"]


async def test_what_a_host_rejects_is_not_sent_and_extra_fields_are() -> None:
    model = replace(MODEL, protocol="chat-http", omit=("temperature",), extra={"top_k": 1, "stop": None})
    body = (await sent_by(model)).json
    assert "temperature" not in body
    assert "stop" not in body
    assert body["top_k"] == 1


async def test_edits_of_a_host_that_answers_in_one_piece() -> None:
    chat = Request("edit", Chat("Change it.", "the file", "the code"), max_tokens=32)
    async with Recorder() as server:
        model = Model(
            name="fast",
            protocol="fim-http",
            fim="mercury",
            model="m",
            url=server.url,
            edit_url=f"{server.url}/v1/edit/completions",
        )
        one = over_http(model, {})
        body = {"choices": [{"message": {"content": "new code"}, "finish_reason": "stop"}]}
        server.reply(200, json.dumps(body).encode(), {"Content-Type": "application/json"})
        async with aclosing(one.stream(chat)) as events:
            taken = [event async for event in events]
        await one.close()
        assert [getattr(event, "text", None) for event in taken] == ["new code", None]
        exchange = server.exchanges[0]
        assert exchange.path == "/v1/edit/completions"
        assert "stream" not in exchange.json
        (message,) = exchange.json["messages"]
        assert "<|code_to_edit|>\nthe code\n<|/code_to_edit|>" in message["content"]


SNIPPETS = (Snippet("w/shop.py", "def total(items):\n"),)
AS_COMMENT = "# From w/shop.py:\n# def total(items):\n\ndef f("


@pytest.mark.parametrize(
    ("fim", "field", "value", "shown"),
    [
        ("llama-cpp", "input_extra", [{"filename": "w/shop.py", "text": "def total(items):\n"}], True),
        ("mistral", "prompt", AS_COMMENT, True),
        ("deepseek", "prompt", AS_COMMENT, True),
        ("mercury", "prompt", AS_COMMENT, True),
        ("completions", "prompt", AS_COMMENT, False),
        ("ollama", "prompt", AS_COMMENT, False),
    ],
)
def test_snippets_are_extras_or_comments(fim: Any, field: str, value: Any, shown: bool) -> None:
    """`shown`: models of such a host get snippets unless the settings say otherwise."""
    model = Model(name="fast", protocol="fim-http", fim=fim, url="http://127.0.0.1:1")
    dialect, style = dialect_of(model)
    assert isinstance(dialect, FimDialect) and isinstance(FILL.prompt, Fill)
    assert dialect.body(replace(FILL.prompt, snippets=SNIPPETS), FILL)[field] == value
    assert (style_of(model, style).context_tokens is None) is shown
    assert style_of(replace(model, context_tokens=300), style).context_tokens == 300


def test_snippets_on_the_responses_protocol_are_comments() -> None:
    assert isinstance(FILL.prompt, Fill)
    request = replace(FILL, prompt=replace(FILL.prompt, snippets=SNIPPETS))
    fields = responses_body(Model(name="local"), request, continued=False)
    assert fields["prompt"]["variables"] == {"prefix": AS_COMMENT, "suffix": "):\n"}
    blanks = replace(FILL, prompt=replace(FILL.prompt, blanks=" "))
    assert (
        responses_body(Model(name="local"), blanks, continued=False)["prompt"]["variables"]["blanks"] == " "
    )


async def test_slots_of_llama_cpp_keep_documents_apart() -> None:
    class WithSlots(Recorder):
        def accept(self, exchange: Any) -> None:
            if exchange.path == "/props":
                exchange.answer(200, b'{"total_slots": 2}')
            else:
                super().accept(exchange)

    async with WithSlots() as server:
        one = over_http(Model(name="fast", protocol="fim-http", fim="llama-cpp", url=server.url), {})
        for key in ("a", "b", "a", "c", "b"):
            server.reply(200, b'data: {"content": "", "stop": true}\n\n')
            async with aclosing(one.stream(replace(FILL, cache_key=key))) as events:
                assert [event async for event in events]
        await one.close()
        assert [exchange.json["id_slot"] for exchange in server.exchanges] == [0, 1, 0, 1, 0]
        assert all(exchange.json["cache_prompt"] for exchange in server.exchanges)


async def sent_by(model: Model) -> Any:
    """The request that a model of these settings causes."""
    async with Recorder() as server:
        one = over_http(replace(model, url=f"{server.url}/v1"), ENVIRONMENT)
        server.reply(500, b"{}")
        with pytest.raises(Exception, match="500"):
            async with aclosing(one.stream(REQUEST)) as events:
                await anext(events)
        await one.close()
        return server.exchanges[0]
