"""Everything that a model will see: deterministic, inside a token budget, cut at stable lines."""

from lsp_server.core.prompt.shapes import Chat, Fill, Layout, Prompt, Style

__all__ = ["Chat", "Fill", "Layout", "Prompt", "Style"]
