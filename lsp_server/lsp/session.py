"""One connection to one client: what was agreed, and the settings that follow from it."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol

from lsprotocol import types

from lsp_server.core.text import Encoding
from lsp_server.engine import logs
from lsp_server.engine.assistant import Assistant
from lsp_server.engine.ports import Models, Since, Status, Task
from lsp_server.engine.workspace import Workspace
from lsp_server.lsp.dispatch import Server
from lsp_server.lsp.editor import LspEditor, spawn
from lsp_server.lsp.leads import Leads
from lsp_server.lsp.plain import plain
from lsp_server.settings import Problem, Settings, read
from lsp_server.texts import edits as texts


class ConfigurableModels(Models, Protocol):
    """The models of this process; the composition root builds them."""

    def configure(
        self, settings: Settings, tell: Callable[[Status], None], warn: Callable[[str], None]
    ) -> None:
        """Use these settings from now on; models whose settings did not change keep their connections."""

    def warm(self) -> None:
        """Connect to the completion model in the background."""

    def accepted(self, model: str, task: Task, lead_ms: float, since: Since = "request") -> None:
        """The user took what a model gave, so many milliseconds after its request or its diagnostic."""

    async def close(self) -> None:
        """End every connection."""

    def asks(self, ask: Callable[[str, int], Coroutine[Any, Any, bool]]) -> None:
        """How to ask the user before weights of a name and a size in bytes are downloaded."""

    def usage(self) -> Coroutine[Any, Any, dict[str, Any]]:
        """What the models have cost so far."""

    def doctor(self) -> Coroutine[Any, Any, dict[str, Any]]:
        """Check everything on the way to the first ghost text."""


class Session:
    """Everything that one connection holds."""

    def __init__(self, server: Server, models: ConfigurableModels, environment: Mapping[str, str]) -> None:
        self.server = server
        self.models = models
        self.workspace = Workspace(Encoding.UTF16)
        self.editor = LspEditor(server, self.workspace)
        self.settings = Settings()
        self.leads = Leads()
        self.assistant = Assistant(lambda: self.settings, self.workspace, models, self.editor)
        models.asks(self._may_download)
        self.tasks: set[asyncio.Task[Any]] = set()
        self.roots: list[str] = []
        self._environment = environment
        self._options: Any = None
        self._from_workspace: Any = None
        self._asks_configuration = False
        self._told: set[str] = set()

    def connect(self, params: types.InitializeParams) -> None:
        """`initialize`: learn what the client can do, and read the settings."""
        self.editor.connect(params)
        self._options = plain(params.initialization_options)
        workspace = params.capabilities.workspace
        self._asks_configuration = bool(workspace and workspace.configuration)
        self.roots = [folder.uri for folder in params.workspace_folders or []] or (
            [params.root_uri] if params.root_uri else []
        )
        self.configure()

    def ready(self) -> None:
        """`initialized`: say what is wrong with the settings, ask for the workspace's, warm the model."""
        self.workspace.encoding = self.editor.encoding
        self.configure()
        spawn(self.tasks, self.pull_configuration(), "configuration")
        self.models.warm()

    def configure(self, workspace_settings: Any = None) -> None:
        """Read every source again; `workspace_settings` is what the client sent, when it sent something."""
        if workspace_settings is not None:
            self._from_workspace = workspace_settings
        self.settings, problems = read(self._environment, self._options, self._from_workspace)
        self.models.configure(
            self.settings, self.editor.status, lambda sentence: self.editor.show("warning", sentence)
        )
        logs.configure(self.settings.log, lambda: logs.keys_in(self.settings, self._environment))
        self._tell(problems)

    async def pull_configuration(self) -> None:
        """Ask the client for its `midstream` section; a client that cannot say has none."""
        if not self._asks_configuration:
            return
        try:
            answers = await self.server.workspace_configuration_async(
                types.ConfigurationParams([types.ConfigurationItem(section="midstream")])
            )
        except Exception:
            return
        if answers:
            self.configure(plain(answers[0]) or {})

    async def close(self) -> None:
        """`shutdown`: nothing runs afterwards."""
        await self.assistant.shutdown()
        await self.models.close()
        await self.editor.close()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _may_download(self, name: str, size: int) -> bool:
        """Ask the user once; no answer is no."""
        question = texts.DOWNLOAD.format(model=name, size=size / 1e6)
        return await self.editor.ask(question, "Download", texts.NOT_NOW) == "Download"

    def _tell(self, problems: list[Problem]) -> None:
        """All that is wrong with the settings in one message, and each thing once a session."""
        new = [str(problem) for problem in problems if str(problem) not in self._told]
        if not new or self.server.protocol.writer is None or not self.server_is_initialized():
            return
        self._told.update(new)
        self.editor.show("warning", texts.SETTINGS.format(problems=" ".join(new)))

    def server_is_initialized(self) -> bool:
        """True once `initialize` was answered: before that nothing may be sent."""
        return hasattr(self.server.protocol, "server_capabilities")
