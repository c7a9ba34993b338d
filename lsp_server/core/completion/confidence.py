"""Whether a model is sure enough of its answer to interrupt somebody with it."""

from collections.abc import Sequence
from math import exp

FIRST = 6
THRESHOLD = 0.6


def confident(logprobs: Sequence[float]) -> bool:
    """True when the first 6 tokens have a geometric mean probability of at least 0.6.

    `logprobs` are natural logarithms, one per token; without any there is nothing to doubt.
    """
    first = logprobs[:FIRST]
    return not first or exp(sum(first) / len(first)) >= THRESHOLD
