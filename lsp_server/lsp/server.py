"""Every LSP method that Midstream serves, in one table of contents.

Only what the answer to `initialize` needs is imported before it is sent; the rest follows while the client
reads it.
"""

import asyncio
import importlib
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from lsp_server import __version__
from lsp_server.lsp import protocol
from lsp_server.lsp.dispatch import Server
from lsp_server.lsp.plain import plain
from lsp_server.settings import read

if TYPE_CHECKING:
    from lsp_server.lsp.session import ConfigurableModels, Session

CODE_ACTIONS = types.CodeActionOptions(
    code_action_kinds=[
        types.CodeActionKind.RefactorRewrite,
        types.CodeActionKind.QuickFix,
        types.CodeActionKind.Source,
    ]
)
COMPLETION_LIST = types.CompletionOptions(trigger_characters=list(".:([{,=> "), resolve_provider=False)


FIRST_NEEDED = ("lsp_server.lsp.handlers", "lsp_server.lsp.commands", "pathspec")
"""What the first document, the first key and the first edit load."""


class Door:
    """One connection. Its session is built as soon as `initialize` was answered, or needed before that.

    `models` makes the models of this process. `ended` is set once the client says exit.
    """

    def __init__(self, models: Callable[[], "ConfigurableModels"], environment: Mapping[str, str]) -> None:
        self.server = Server(__version__)
        self.ended = asyncio.Event()
        self.environment = environment
        self.params: types.InitializeParams | None = None
        self._models = models

    @cached_property
    def session(self) -> "Session":
        from lsp_server.lsp.session import Session

        session = Session(self.server, self._models(), self.environment)
        if self.params is not None:
            session.connect(self.params)
        return session

    def prepare(self) -> None:
        """Load everything that a keystroke needs, so that the first one does not wait for it."""
        from lsp_server.lsp.rehearsal import rehearse

        for name in FIRST_NEEDED:
            importlib.import_module(name)
        self.server.protocol.readers = importlib.import_module("lsp_server.lsp.readers").READERS
        rehearse(self.server.protocol)
        self.session  # noqa: B018  # It is built when it is first looked at.

    async def close(self) -> None:
        """Nothing runs afterwards."""
        if "session" in self.__dict__:
            await self.session.close()


def build(models: Callable[[], "ConfigurableModels"], environment: Mapping[str, str]) -> Door:
    """A server with everything registered, ready to be given a transport."""
    door = Door(models, environment)
    feature = door.server.feature
    feature(types.INITIALIZE)(lambda params: initialize(door, params))
    feature(types.INITIALIZED)(lambda params: door.session.ready())
    feature(types.SHUTDOWN)(lambda params: door.close())
    feature(types.EXIT)(lambda *params: door.ended.set())
    for name, options in (
        (types.TEXT_DOCUMENT_DID_OPEN, None),
        (types.TEXT_DOCUMENT_DID_CHANGE, None),
        (types.TEXT_DOCUMENT_DID_CLOSE, None),
        (types.WORKSPACE_DID_CHANGE_CONFIGURATION, None),
        (types.TEXT_DOCUMENT_INLINE_COMPLETION, types.InlineCompletionOptions()),
        (types.TEXT_DOCUMENT_CODE_ACTION, CODE_ACTIONS),
    ):
        feature(name, options)(handler_of(door, name))
    for name in protocol.COMMANDS:
        door.server.command(name)(command_of(door, name))
    return door


def handler_of(door: Door, method: str) -> Callable[[Any], Any]:
    """The handler of a method, imported when the first message comes."""

    def handle(params: Any) -> Any:
        from lsp_server.lsp.handlers import HANDLERS

        return HANDLERS[method](door.session, params)

    return handle


def command_of(door: Door, name: str) -> Callable[..., Any]:
    """The handler of a command, imported when it is first run."""

    def handle(*arguments: Any) -> Any:
        from lsp_server.lsp.commands import run

        return run(door.session, name, arguments)

    return handle


def initialize(door: Door, params: types.InitializeParams) -> None:
    door.params = params
    settings, _ = read(door.environment, plain(params.initialization_options))
    if wants_list(settings.complete.via_completion, params.capabilities):
        name = types.TEXT_DOCUMENT_COMPLETION
        door.server.feature(name, COMPLETION_LIST)(handler_of(door, name))
    asyncio.get_running_loop().call_soon(door.prepare)


def wants_list(choice: Any, capabilities: types.ClientCapabilities) -> bool:
    """True where suggestions go into the completion list: as set, else where there is no ghost text."""
    if choice != "auto":
        return bool(choice)
    document = capabilities.text_document
    return not (document and document.inline_completion) and bool(document and document.completion)
