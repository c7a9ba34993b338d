"""What a request costs.

Money is counted in whole billionths of the currency's unit, so that sums are exact.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from urllib.parse import urlsplit

from lsp_server.core.prompt import Chat, Prompt
from lsp_server.core.prompt.budget import tokens
from lsp_server.engine.ports import Request, Usage
from lsp_server.settings import Model, Prices

NANO = 1_000_000_000
"""Billionths in one unit of money."""

DATE = "2026-11-30"
SOURCE = "model_prices_and_context_window_backup.json of litellm 1.108.7 (MIT)"
CURRENCY = "USD"

# Vendor, model, then US dollars per million tokens: input, input found in the cache, input newly put into
# the cache, output; then what fast costs more.
# A date or `-latest` after a model's name does not change its price.
TABLE = """
openai gpt-6.1-sol 2 0.1 2.5 10 2
openai gpt-6-astra 10 1 12.5 50 2
openai gpt-6-sol 2 0.2 2.5 10 2
openai gpt-6-luna 0.1 0.01 0.125 0.5 2
openai gpt-5.6 4 0.4 5 20 2
openai gpt-5.6-sol 4 0.4 5 20 2
openai gpt-5.6-terra 2 0.2 2.5 12 2
openai gpt-5.6-luna 0.2 0.02 0.25 1.2 2
openai gpt-5.5 5 0.5 5 30 2.5
openai gpt-5.4 2.5 0.25 2.5 15 2
openai gpt-5.4-mini 0.75 0.075 0.75 4.5 2
openai gpt-5.4-nano 0.2 0.02 0.2 1.25 1
openai gpt-5.3-codex 1.75 0.175 1.75 14 2
openai gpt-5.2 1.75 0.175 1.75 14 2
openai gpt-5.2-codex 1.75 0.175 1.75 14 1
openai gpt-5.1 1.25 0.125 1.25 10 2
openai gpt-5.1-codex 1.25 0.125 1.25 10 1
openai gpt-5.1-codex-max 1.25 0.125 1.25 10 1
openai gpt-5.1-codex-mini 0.25 0.025 0.25 2 1
openai gpt-5 1.25 0.125 1.25 10 2
openai gpt-5-mini 0.25 0.025 0.25 2 1.8
openai gpt-4.1 2 0.5 2 8 1.75
openai gpt-4.1-mini 0.4 0.1 0.4 1.6 1.75
openai gpt-4.1-nano 0.1 0.025 0.1 0.4 2
anthropic claude-opus-5-5 4 0.2 5 20 2
anthropic claude-opus-5 5 0.5 6.25 25 2
anthropic claude-opus-4-8 5 0.5 6.25 25 2
anthropic claude-opus-4-7 5 0.5 6.25 25 1
anthropic claude-opus-4-6 5 0.5 6.25 25 1
anthropic claude-opus-4-5 5 0.5 6.25 25 1
anthropic claude-fable-5-1 10 0.25 12.5 50 1
anthropic claude-fable-5 10 1 12.5 50 1
anthropic claude-mythos-5-1 10 0.25 12.5 50 1
anthropic claude-mythos-5 10 1 12.5 50 1
anthropic claude-sonnet-5-5 2 0.1 2.5 10 1
anthropic claude-sonnet-5 2 0.2 2.5 10 1
anthropic claude-sonnet-4-6 3 0.3 3.75 15 1
anthropic claude-sonnet-4-5 3 0.3 3.75 15 1
anthropic claude-haiku-5-5 0.1 0.01 0.125 0.5 1
anthropic claude-haiku-4-5 1 0.1 1.25 5 1
gemini gemini-3.8-flash 0.75 0.075 0.75 3.75 1.8
gemini gemini-3.7-flash 0.75 0.075 0.75 3.75 1.8
gemini gemini-3.6-flash 0.75 0.075 0.75 3.75 1.8
gemini gemini-3.5-flash 1.5 0.15 1.5 9 1.8
gemini gemini-3.5-flash-lite 0.3 0.03 0.3 2.5 1.8
gemini gemini-3.1-flash-lite 0.25 0.025 0.25 1.5 1.8
gemini gemini-3.1-pro 2 0.2 2 12 1.8
gemini gemini-3-flash 0.5 0.05 0.5 3 1.8
gemini gemini-2.5-flash 0.3 0.03 0.3 2.5 1.8
gemini gemini-2.5-flash-lite 0.1 0.01 0.1 0.4 1.8
groq openai/gpt-oss-120b 0.15 0.075 0.15 0.6 1
groq openai/gpt-oss-20b 0.075 0.0375 0.075 0.3 1
groq qwen/qwen3.8-27b 0.8 0.8 0.8 4 1
cerebras gpt-oss-120b 0.35 0.35 0.35 0.75 1
cerebras qwen-3.8-27b 0.99 0.99 0.99 1.49 1
cerebras gemma-4-31b 0.99 0.99 0.99 1.49 1
cerebras qwen-3-32b 0.4 0.4 0.4 0.8 1
cerebras llama-3.3-70b 0.85 0.85 0.85 1.2 1
sambanova gpt-oss-120b 0.22 0.22 0.22 0.59 1
sambanova DeepSeek-V3.2 3 3 3 4.5 1
sambanova DeepSeek-V3.1 3 3 3 4.5 1
sambanova MiniMax-M2.7 0.6 0.6 0.6 2.4 1
sambanova Meta-Llama-3.3-70B-Instruct 0.6 0.6 0.6 1.2 1
mistral codestral 0.3 0.03 0.3 0.9 1
mistral mistral-code-fim 0.3 0.03 0.3 0.9 1
mistral devstral-medium 0.4 0.04 0.4 2 1
mistral devstral 0.4 0.04 0.4 2 1
mistral mistral-medium 1.5 0.15 1.5 7.5 1
mistral mistral-small 0.15 0.015 0.15 0.6 1
deepseek deepseek-v4-flash 0.3 0.006 0.3 1.2 1
deepseek deepseek-v4-pro 1.32 0.044 1.32 3.96 1
deepseek deepseek-chat 0.28 0.028 0.28 0.42 1
inception mercury-2.5 0.2 0.02 0.2 0.75 1
inception mercury-2 0.25 0.025 0.25 0.75 1
inception mercury-edit-2 0.25 0.025 0.25 0.75 1
xai grok-4.7 2 0.5 2 6 1
xai grok-4.6 2 0.5 2 6 1
xai grok-4.5 2 0.3 2 6 1
xai grok-4.3 1.25 0.2 1.25 2.5 1
xai grok-code-fast-1 1 0.2 1 2 1
"""

HOSTS = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "gemini",
    "api.groq.com": "groq",
    "api.cerebras.ai": "cerebras",
    "api.sambanova.ai": "sambanova",
    "api.mistral.ai": "mistral",
    "codestral.mistral.ai": "mistral",
    "api.deepseek.com": "deepseek",
    "api.inceptionlabs.ai": "inception",
    "api.x.ai": "xai",
}
FREE = Prices()
SAME_PRICE = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{4,8}|latest|preview)$")


def prices_of(model: Model) -> Prices | None:
    """The user's prices, else the table's; free on this machine; None where nobody said."""
    if model.prices is not None:
        return model.prices
    host = urlsplit(model.url).hostname or ""
    if model.protocol == "local" or host in ("localhost", "::1") or host.startswith("127."):
        return FREE
    if model.url:
        vendor = HOSTS.get(host, "")
    else:
        vendor = "anthropic" if model.protocol == "anthropic-http" else "openai"
    table = _table()
    exact = table.get((vendor, model.model))
    return exact or table.get((vendor, SAME_PRICE.sub("", model.model)))


def is_fast(model: Model) -> bool:
    """True where the model is asked to be fast at a higher price."""
    return model.speed == "fast" or model.tier in ("fast", "priority", "ultrafast")


def cost(prices: Prices, usage: Usage, *, fast: bool) -> int:
    """Billionths of the currency's unit."""
    cached = prices.input if prices.cached is None else prices.cached
    written = prices.input if prices.written is None else prices.written
    fresh = usage.input_tokens - usage.cached_tokens - usage.written_tokens
    money = fresh * prices.input + usage.cached_tokens * cached + usage.written_tokens * written
    money += usage.output_tokens * prices.output
    return round(money * (prices.fast if fast else 1) * NANO / 1_000_000)


def highest_cost(prices: Prices, bound: Usage, *, fast: bool) -> int:
    """The most that so many tokens can cost: none or all of the input put into the provider's cache."""
    written = replace(bound, written_tokens=bound.input_tokens)
    return max(cost(prices, bound, fast=fast), cost(prices, written, fast=fast))


def expected(request: Request) -> Usage:
    """What the request will use, estimated: its whole prompt, and no output."""
    return Usage(input_tokens=sum(tokens(part) for part in parts(request.prompt)), estimated=True)


def at_most(request: Request) -> Usage:
    """What the request can use: code is hardly ever cut finer than two bytes a token."""
    bound = expected(request).input_tokens * 3 // 2 + 64
    return Usage(input_tokens=bound, output_tokens=request.max_tokens, estimated=True)


def parts(prompt: Prompt) -> tuple[str, ...]:
    """The texts of a prompt that are sent."""
    if isinstance(prompt, Chat):
        return prompt.instructions, prompt.context, prompt.request, prompt.wish
    return prompt.prefix, prompt.suffix, *(snippet.text for snippet in prompt.snippets)


@cache
def _table() -> Mapping[tuple[str, str], Prices]:
    found = {}
    for line in TABLE.strip().splitlines():
        vendor, model, *numbers = line.split()
        price, cached, written, output, fast = map(float, numbers)
        found[vendor, model] = Prices(price, cached, output, fast, written, DATE, SOURCE)
    return found
