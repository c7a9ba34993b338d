"""Finding secrets in text: the detectors of detect-secrets, and what they do not know.

The package takes a tenth of a second to import, so it is loaded when the first text is scanned; `prepare`
does that ahead of time.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache, partial
from importlib import import_module
from typing import Any

from lsp_server.core.text import Span

# detect-secrets knows neither the newer token shapes nor unquoted assignments outside of config files.
TOKENS = re.compile(
    r"\bsk-(?:ant|proj|svcacct|or|live|test)[-_][\w-]{16,}|\bsk-\w{32,}"
    r"|\b(?:xai|gsk|hf|csk|pplx|npm|dop_v1|glpat|shpat)[-_]\w{16,}|\bgithub_pat_\w{20,}|\bgh[opsur]_\w{20,}"
    r"|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}|\bAGE-SECRET-KEY-1\w{20,}"
)
# A line may be part of a diff or of a comment.
_MARKS = r"^(?:[-+#;*>\s]|//)*+"
_TELLING = r"password|passwd|secret|token|api[-_]?key"
ASSIGNMENTS = (
    re.compile(_MARKS + r"(?:\w+\s+)?\w*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PWD)\w*=([^\s\"'$(<{`]{6,})$"),
    re.compile(rf"(?i){_MARKS}[\w.-]*(?:{_TELLING})[\w.-]*:\s+(?=\S*\d)([\w+/=!@#%^&*~-]{{8,}})$"),
    re.compile(r"(?i)authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic)\s+([\w.~+/=-]{8,})"),
)
_GAP = r"(?:\n[ \t]*(?:[#;*>]|//|--?(?!-))|[\s\"'+,]|\\[rn]|[A-Z][\w-]+: [^\n]*\n)*"
KEY_BLOCK = re.compile(
    rf"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----{_GAP}"
    rf"(?P<body>[A-Za-z0-9+/]{{16,}}={{0,2}}(?:{_GAP}[A-Za-z0-9+/]{{16,}}={{0,2}})*"
    rf"(?:{_GAP}[A-Za-z0-9+/]+(?:=|{_GAP}-----END|\Z)=?)?)"
)
BASE64_LINE = re.compile(r"^(?:[ \t\"'+#;*>-]|//)*([A-Za-z0-9+/]{60,76}={0,2})[\\n\"'+ \t]*$")

DETECTORS = """
artifactory:ArtifactoryDetector aws:AWSKeyDetector azure_storage_key:AzureStorageKeyDetector
basic_auth:BasicAuthDetector cloudant:CloudantDetector discord:DiscordBotTokenDetector
github_token:GitHubTokenDetector gitlab_token:GitLabTokenDetector
high_entropy_strings:Base64HighEntropyString high_entropy_strings:HexHighEntropyString
ibm_cloud_iam:IbmCloudIamDetector ibm_cos_hmac:IbmCosHmacDetector jwt:JwtTokenDetector
keyword:KeywordDetector mailchimp:MailchimpDetector npm:NpmDetector openai:OpenAIDetector
pypi_token:PypiTokenDetector sendgrid:SendGridDetector slack:SlackDetector softlayer:SoftlayerDetector
square_oauth:SquareOAuthDetector stripe:StripeDetector telegram_token:TelegramBotTokenDetector
twilio:TwilioKeyDetector
"""

PLACEHOLDERS = frozenset(("changeme", "example", "secret", "password", "passwd", "string", "token", "test"))
PIECE = 400
"""Longer lines are read in overlapping pieces of so many characters: some detectors backtrack."""


def find_secrets(text: str) -> list[Span]:
    """Where secrets stand in a text, in order and without overlaps.

    A value that was found once is found everywhere in the text, if it has at least 8 characters.
    """
    spans = [Span(match.start("body"), match.end("body")) for match in KEY_BLOCK.finditer(text)]
    values: set[str] = set()
    start = 0
    for line in text.split("\n"):
        for span in _in_line(line.rstrip("\r")):
            spans.append(Span(start + span.start, start + span.end))
            values.add(line[span.start : span.end])
        start += len(line) + 1
    for value in values:
        if len(value) >= 8:
            spans += (Span(match.start(), match.end()) for match in re.finditer(re.escape(value), text))
    return _merged(span for span in spans if text[span.start : span.end].strip())


def prepare() -> None:
    """Import the detectors, so that the first text does not wait for it."""
    _detectors()


def is_prepared() -> bool:
    """True once the detectors are imported."""
    return _detectors.cache_info().currsize > 0


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if merged and span.start < merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


@lru_cache(maxsize=8192)
def _in_line(line: str) -> tuple[Span, ...]:
    """The secrets of one line. Typing changes one line, so all the others are remembered."""
    spans = {Span(match.start(), match.end()) for match in TOKENS.finditer(line)}
    for at in range(0, max(1, len(line) - PIECE // 2), PIECE // 2):
        spans |= {Span(at + span.start, at + span.end) for span in _in_piece(line[at : at + PIECE])}
    return tuple(spans)


def _in_piece(piece: str) -> Iterator[Span]:
    if len(piece) < 8:
        return
    for pattern in (*ASSIGNMENTS, BASE64_LINE):
        yield from (Span(match.start(1), match.end(1)) for match in pattern.finditer(piece))
    for value in _detected(piece):
        yield from (Span(match.start(), match.end()) for match in re.finditer(re.escape(value), piece))


def _detected(line: str) -> Iterator[str]:
    from detect_secrets.filters import heuristic

    for kind, analyze in _detectors():
        for value in analyze(line):
            if len(value) < 4 or heuristic.is_not_alphanumeric_string(value):
                continue
            if kind == "shape" or (
                value.lower() not in PLACEHOLDERS
                and not heuristic.is_templated_secret(value)
                and not heuristic.is_sequential_string(value)
                and not (kind == "entropy" and heuristic.is_potential_uuid(value))
                and not (kind == "entropy" and heuristic.is_likely_id_string(value, line))
            ):
                yield value


@cache
def _detectors() -> tuple[tuple[str, Callable[[str], Iterable[str]]], ...]:
    """Each detector's kind and its scan of one line: a token's shape, high entropy, or a telling name."""
    found = []
    for name in DETECTORS.split():
        module, _, detector = name.partition(":")
        plugin = getattr(import_module(f"detect_secrets.plugins.{module}"), detector)()
        kind = {"high_entropy_strings": "entropy", "keyword": "name"}.get(module, "shape")
        found.append((kind, partial(_random_looking, plugin) if kind == "entropy" else plugin.analyze_string))
    return tuple(found)


def _random_looking(plugin: Any, line: str) -> list[str]:
    return [
        value
        for value in plugin.analyze_string(line)
        if plugin.entropy_limit < plugin.calculate_shannon_entropy(value)
    ]
