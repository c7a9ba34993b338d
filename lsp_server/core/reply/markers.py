"""What a model says to its host or to itself: control tokens, reasoning, and "no edit"."""

import re

MIDDLE_TOKENS = ("<|fim_middle|>", "<fim_middle>", "<｜fim▁end｜>")
CONTROL_TOKENS = (
    *MIDDLE_TOKENS,
    *("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_pad|>", "<fim_prefix>", "<fim_suffix>", "<fim_pad>"),
    *("<|repo_name|>", "<|file_sep|>", "<|file_separator|>", "<repo_name>", "<file_sep>", "<reponame>"),
    *("<|endoftext|>", "<|end_of_text|>", "<|begin_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|end|>"),
    *("<|im_start|>", "<|im_end|>", "<|start_header_id|>", "<|end_header_id|>", "<|user|>", "<|assistant|>"),
    *(
        "<｜fim▁begin｜>",
        "<｜fim▁hole｜>",
        "<｜begin▁of▁sentence｜>",
        "<｜end▁of▁sentence｜>",
        "<|EOT|>",
        "<EOT>",
    ),
    *("<start_of_turn>", "<end_of_turn>", "<|system|>", "<|cursor|>"),
)
_REASONING = re.compile(r"\s*<(think|thinking|thought|reasoning|reflection)>")
_REASONING_HEADS = tuple(f"<{name}>" for name in ("think", "thinking", "thought", "reasoning", "reflection"))


class ControlTokens:
    """Ends the text at the first control token, even one cut by a chunk; `ended` says that it did.

    A "middle" token in front of the text is only dropped. Tokens that `original` contains are code.
    """

    def __init__(self, original: str = "") -> None:
        self._tokens = tuple(token for token in CONTROL_TOKENS if token not in original)
        self._pattern = re.compile("|".join(map(re.escape, self._tokens)))
        self._held = ""
        self._begun = False
        self.ended = False

    def push(self, text: str) -> str:
        """The text that cannot become part of a token."""
        if self.ended:
            return ""
        text = self._held + text
        while match := self._pattern.search(text):
            before = text[: match.start()]
            if match[0] not in MIDDLE_TOKENS or self._begun or before.strip():
                self.ended, self._held = True, ""
                return before
            text = text[match.end() :]
        kept = len(text) - held_length(text, self._tokens)
        self._held = text[kept:]
        # Blanks wait for the text they belong to, because a token after them would drop them too.
        self._begun = self._begun or bool(text[:kept].strip())
        if not self._begun:
            self._held = text
            return ""
        return text[:kept]

    def finish(self) -> str:
        """The head of a token that never came."""
        text, self._held = self._held, ""
        return text


class Reasoning:
    """Drops a tagged block of reasoning at the start of a reply, and the line ends after it.

    A block that never ends swallows the reply.
    """

    def __init__(self, original: str = "") -> None:
        """`original` is the code to rewrite: where it starts with such a tag, the tag is code."""
        self._text = ""
        self._end: str | None = None
        self._passing = _REASONING.match(original) is not None
        self._after = False

    def push(self, text: str) -> str:
        """The text outside the block."""
        if self._passing:
            return text
        self._text += text
        while True:
            if self._end is None:
                if match := _REASONING.match(self._text):
                    self._end = f"</{match[1]}>"
                    self._text = self._text[match.end() :]
                    continue
                return "" if self._undecided() else self._pass()
            _, end, rest = self._text.partition(self._end)
            if not end:
                self._text = self._text[-len(self._end) :]
                return ""
            self._end, self._text, self._after = None, rest, True

    def finish(self) -> str:
        """What was held back and is no block."""
        return "" if self._passing or self._end is not None else self._pass()

    def _undecided(self) -> bool:
        bare = self._text.lstrip()
        return not bare or any(head.startswith(bare) for head in _REASONING_HEADS)

    def _pass(self) -> str:
        self._passing = True
        return re.sub(r"\A(?:[ \t]*\r?\n)+", "", self._text) if self._after else self._text


class Sentinel:
    """Swallows a reply that consists of the configured "no edit" text alone; `found` says so."""

    def __init__(self, sentinel: str = "") -> None:
        self._sentinel = sentinel.strip()
        self._held = ""
        self._passing = not self._sentinel
        self.found = False

    def push(self, text: str) -> str:
        """The text, unless it can still become the sentinel."""
        if self._passing:
            return text
        self._held += text
        bare = self._held.strip()
        if self._sentinel.startswith(bare):
            return ""
        self._passing = True
        return self._held

    def finish(self) -> str:
        """What was held back and is not the sentinel."""
        self.found = not self._passing and self._held.strip() == self._sentinel
        return "" if self._passing or self.found else self._held


def held_length(text: str, tokens: tuple[str, ...]) -> int:
    """How many characters at the end of `text` may be the start of one of `tokens`, which begin with `<`."""
    start = text.rfind("<")
    tail = text[start:]
    return len(tail) if start >= 0 and any(token.startswith(tail) for token in tokens) else 0
