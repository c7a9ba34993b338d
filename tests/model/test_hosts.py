"""What single hosts do differently."""

import pytest

from lsp_server.model.fim_hosts import HOSTS
from lsp_server.model.hosts import fast_needs_header, fim_style_of, quirks_of, takes_speed


@pytest.mark.parametrize(
    ("url", "omitted", "limit"),
    [
        ("https://api.openai.com/v1", None, "max_completion_tokens"),
        ("https://team.openai.azure.com/openai/v1", None, "max_completion_tokens"),
        ("https://api.cerebras.ai/v1", "prompt_cache_key", "max_completion_tokens"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "logprobs", "max_tokens"),
        ("http://127.0.0.1:8000/v1", None, "max_tokens"),
        ("https://notapi.cerebras.ai.example/v1", None, "max_tokens"),
    ],
)
def test_fields_that_a_host_rejects(url: str, omitted: str | None, limit: str) -> None:
    quirks = quirks_of(url)
    assert (omitted in quirks.omit) if omitted else not quirks.omit
    assert quirks.limit == limit


@pytest.mark.parametrize(
    ("url", "style"),
    [
        ("https://codestral.mistral.ai/v1", "mistral"),
        ("https://api.deepseek.com/beta", "deepseek"),
        ("https://api.inceptionlabs.ai/v1", "mercury"),
        ("http://127.0.0.1:11434", "ollama"),
        ("http://gpu.team.example:8000/v1", "completions"),
        ("", "completions"),
    ],
)
def test_the_dialect_that_an_address_gives_away(url: str, style: str) -> None:
    assert fim_style_of(url) == style


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
def test_a_message_that_says_nothing_is_read_as_nothing(host: object) -> None:
    read = host.read({})  # type: ignore[attr-defined]
    assert (read.text, read.reason, read.usage) == ("", None, None)


def test_fast_mode_by_model() -> None:
    assert takes_speed("claude-opus-5")
    assert not takes_speed("claude-haiku-5")
    assert fast_needs_header("claude-opus-4-8-20260301")
    assert not fast_needs_header("claude-opus-5-5-20261001")
    assert not fast_needs_header("gpt-x")
