"""Everything that a model will see: deterministic, inside a token budget, cut at stable lines."""

from lsp_server.core.prompt.completion import completion_prompt
from lsp_server.core.prompt.edit import Problem, Target, edit_prompt, prompt_tokens
from lsp_server.core.prompt.explain import explain_prompt
from lsp_server.core.prompt.shapes import Chat, Fill, Layout, Prompt, Snippet, Style
from lsp_server.core.prompt.snippets import with_comments

__all__ = [
    "Chat",
    "Fill",
    "Layout",
    "Problem",
    "Prompt",
    "Snippet",
    "Style",
    "Target",
    "completion_prompt",
    "edit_prompt",
    "explain_prompt",
    "prompt_tokens",
    "with_comments",
]
