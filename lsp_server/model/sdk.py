"""The errors of the vendors' SDKs, which are shaped alike, as the engine's errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import httpx2

from lsp_server.engine.errors import Unreachable
from lsp_server.model.failures import Where
from lsp_server.model.http import error_in_stream, error_of, translated, translation
from lsp_server.texts import models as texts


@contextmanager
def translated_sdk(where: Where, sdk: ModuleType) -> Iterator[None]:
    """Turns what the `openai` or the `anthropic` module raises into BackendErrors, and into Lost."""
    try:
        with translated(where):
            yield
    except sdk.APIStatusError as error:
        response: httpx2.Response = error.response
        if response.status_code >= 300:
            raise error_of(where, response.status_code, response.content, response.headers) from None
        # An error event inside a stream that began well.
        raise error_in_stream(where, _inner(error.body)) from None
    except sdk.APIConnectionError as error:
        if isinstance(error.__cause__, httpx2.HTTPError):
            raise translation(where, error.__cause__) from None
        raise Unreachable(
            texts.NO_CONNECTION.format(host=where.host, reason=where.quote(str(error)))
        ) from None
    except sdk.APIError as error:
        raise error_in_stream(where, _inner(error.body) or error.message) from None


def _inner(body: object) -> object:
    return body.get("error", body) if isinstance(body, dict) else body
