"""The model side: one module for each protocol family, each with an implementation of `Backend`.

Modules are chosen by the `protocol` of a model's settings and imported only then, because the vendors'
SDKs cost up to two seconds.
"""

from collections.abc import Awaitable, Callable, Mapping

from lsp_server.core.prompt import Style
from lsp_server.engine.ports import Backend
from lsp_server.model.dial import Address, Endpoint
from lsp_server.settings import Model

__all__ = ["Address", "Endpoint", "backend"]


def backend(
    model: Model,
    environment: Mapping[str, str] | None = None,
    *,
    local: Callable[[], Awaitable[Address]] | None = None,
    style: Style | None = None,
) -> Backend:
    """The backend of one model of the settings; nothing is connected before the first request.

    Keys are looked up in `environment`, by default the process's. `local` gives the address and the
    token of the local host, which it may start first. `style` is how the weights of a local model want
    their prompts; the settings override it.
    """
    if model.protocol == "local" and local is None:
        raise ValueError(f"model {model.name} needs the address of the local host")
    match model.protocol:
        case "local" | "responses-ws":
            from lsp_server.model.responses_ws import ResponsesBackend

            return ResponsesBackend(model, environment, local=local, style=style)
    raise NotImplementedError(model.protocol)
