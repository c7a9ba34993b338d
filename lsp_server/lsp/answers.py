"""Answers of handlers: those that are there, and those that come later without a task of their own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Later:
    """An answer that is not there yet: `shape` of what `future` will hold. A cancel cancels the future."""

    future: "asyncio.Future[Any]"
    shape: Callable[[Any], Any]


def done(result: Any) -> "Future[Any]":
    """A future that holds a result."""
    future: Future[Any] = Future()
    future.set_result(result)
    return future


def failed(error: Exception) -> "Future[Any]":
    """A future that holds a failure."""
    future: Future[Any] = Future()
    future.set_exception(error)
    return future


def shaped(future: "asyncio.Future[Any]", shape: Callable[[Any], Any]) -> Any:
    """A finished future with the shape of its result in place of the result."""
    if future.cancelled() or future.exception() is not None:
        return future
    try:
        return done(shape(future.result()))
    except Exception as error:
        return failed(error)
