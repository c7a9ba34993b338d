"""The server under pytest-lsp, an independent client, with what real editors announce."""

import asyncio
import itertools
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client

from tests.support.lsp_process import options_for
from tests.support.model_server import TOKEN, ModelServer

URI = "file:///w/a.py"


@pytest_asyncio.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest_asyncio.fixture(
    params=itertools.product(["visual-studio-code", "neovim"], ["stdio", "tcp"]), ids="-".join
)
async def client(
    request: pytest.FixtureRequest, model: ModelServer, tmp_path: Path
) -> AsyncIterator[LanguageClient]:
    name, transport = request.param
    environment = {
        "PATH": "/usr/bin",
        "MIDSTREAM_TEST_KEY": TOKEN,
        "MIDSTREAM_CONFIG": str(tmp_path / "none"),
        "MIDSTREAM_USAGE_FILE": str(tmp_path / "usage"),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    connect = over_tcp if transport == "tcp" else over_stdio
    async with connect([sys.executable, "-m", "lsp_server", "serve"], environment) as editor:
        capabilities = client_capabilities(name)
        assert capabilities.text_document is not None
        capabilities.text_document.inline_completion = types.InlineCompletionClientCapabilities()
        await editor.initialize_session(
            types.InitializeParams(
                capabilities=capabilities,
                workspace_folders=None,
                initialization_options=options_for(model),
                process_id=None,
            )
        )
        yield editor
        await editor.shutdown_session()


@asynccontextmanager
async def over_stdio(command: list[str], environment: dict[str, str]) -> AsyncIterator[LanguageClient]:
    editor: LanguageClient = make_test_lsp_client()
    await editor.start_io(*command, env=environment)
    yield editor
    await editor.stop()  # type: ignore[no-untyped-call]


@asynccontextmanager
async def over_tcp(command: list[str], environment: dict[str, str]) -> AsyncIterator[LanguageClient]:
    process = await asyncio.create_subprocess_exec(
        *command, "--tcp", "0", env=environment, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr
    port = int((await process.stderr.readline()).rpartition(b":")[2])
    editor: LanguageClient = make_test_lsp_client()
    await editor.start_tcp("127.0.0.1", port)
    yield editor
    await editor.stop()  # type: ignore[no-untyped-call]
    assert await process.stderr.read() == b""
    assert await process.wait() == 0


def opened(client: LanguageClient, text: str) -> None:
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(URI, "python", 1, text))
    )


def asked(line: int, character: int) -> types.InlineCompletionParams:
    return types.InlineCompletionParams(
        text_document=types.TextDocumentIdentifier(URI),
        position=types.Position(line, character),
        context=types.InlineCompletionContext(types.InlineCompletionTriggerKind.Invoked),
    )


async def test_ghost_text(client: LanguageClient, model: ModelServer) -> None:
    model.always("a + b")
    opened(client, "def add(a, b):\n    return \n")
    answer: Any = await client.text_document_inline_completion_async(asked(1, 11))
    assert [item.insert_text for item in answer.items] == ["a + b"]


async def test_a_key_against_the_suggestion_ends_it_at_the_model(
    client: LanguageClient, model: ModelServer
) -> None:
    opened(client, "x = \n")
    answer = asyncio.ensure_future(client.text_document_inline_completion_async(asked(0, 4)))
    turn = await model.turn()
    where = types.Range(types.Position(0, 4), types.Position(0, 4))
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            text_document=types.VersionedTextDocumentIdentifier(uri=URI, version=2),
            content_changes=[types.TextDocumentContentChangePartial(range=where, text="7")],
        )
    )
    assert await answer is None
    await turn.closed.wait()
    assert turn.cancelled


async def test_the_menu_and_the_status(client: LanguageClient) -> None:
    opened(client, "def f():\n    return 1\n")
    where = types.Range(types.Position(1, 4), types.Position(1, 4))
    actions: Any = await client.text_document_code_action_async(
        types.CodeActionParams(types.TextDocumentIdentifier(URI), where, types.CodeActionContext([]))
    )
    assert "Add types to `f`" in [action.title for action in actions]
    status: Any = await client.workspace_execute_command_async(types.ExecuteCommandParams("midstream.status"))
    assert (status["state"] if isinstance(status, dict) else status.state) == "ready"
