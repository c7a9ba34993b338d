"""What a long session leaves behind, and what holds everybody up."""

import asyncio
import gc
import subprocess
import sys
from pathlib import Path

from lsp_server.core.hunks import Hunk, locate
from lsp_server.core.text import Span
from tests.lsp.desk import URI, Desk, desk
from tests.support.lsp_client import INLINE
from tests.support.operations import steps
from tests.support.scripted_model import ScriptedModel
from tests.support.virtual_time import turns

DOCUMENTS = 5_000
ROOT = Path(__file__).parents[2]


def held(client: Desk) -> tuple[int, int, int, int]:
    """Documents, desks of the completer, generations, and tasks."""
    session = client.door.session
    assistant = session.assistant
    return (
        len(session.workspace.uris()),
        len(assistant.completer._desks),
        len(list(assistant.generations)),
        len(asyncio.all_tasks()),
    )


def resident() -> int:
    """Bytes of memory in use after a collection, 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def visit(client: Desk, number: int, text: str) -> None:
    """Open a document, change it, ask for a completion, cancel it and close the document."""
    uri = f"file:///w/{number}.py"
    document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": document})
    client.texts[uri] = (1, "x = 1\n")
    client.replace(uri, 0, 0, "y")
    client.write({"id": f"v{number}", "method": INLINE, "params": client.asked(uri, 3)})
    client.notify("$/cancelRequest", {"id": f"v{number}"})
    client.close(uri)


async def rest(client: Desk) -> None:
    """Until the server has read everything; what came is forgotten."""
    await client.command("midstream.status")
    await turns(20)
    client.messages.clear()
    client.model.calls.clear()


def test_B122_closed_documents_leave_nothing_behind() -> None:
    """In a process of its own: what other tests have left in this one is not the server's."""
    program = "import asyncio; from tests.lsp import test_resources; asyncio.run(test_resources.visits())"
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


async def visits() -> None:
    """Open and close thousands of documents, and compare what is held before and after."""
    text = "x = 1 # something\n" * (20_000 // 18)
    async with desk() as client:
        await visit_all(client, 1_000, text)
        before, memory = held(client), resident()
        await visit_all(client, DOCUMENTS, text)
        assert held(client) == before
        assert resident() - memory < 20_000_000


async def visit_all(client: Desk, count: int, text: str) -> None:
    """Visit so many documents, with a rest after each hundred."""
    for number in range(count):
        visit(client, number, text)
        if number % 100 == 99:
            await rest(client)


def test_B125_a_block_that_is_nowhere_costs_in_proportion_to_the_file() -> None:
    block = Hunk("".join(f"    value = compute({n}, missing)\n" for n in range(40)), "x\n")

    def cost(lines: int) -> int:
        text = "".join(f"    value = compute({number % 40}, other)\n" for number in range(lines))
        return steps(lambda: locate(text, block, None))

    assert cost(4_000) < 12 * cost(400)


async def test_B88_asking_in_a_large_document_costs_what_it_costs_in_a_small_one() -> None:
    small, large = await asking(400), await asking(40_000)
    assert large < 3 * small


async def asking(lines: int) -> int:
    """What a prompt costs in a document of so many lines that was just opened."""
    source = "def f():\n    return 1\n\n\n" * (lines // 4)
    async with desk(source + "x = <|>\n", model=ScriptedModel([["1"]])) as client:
        assert await client.ask(URI, client.source.at)[1]
        assistant, place = client.door.session.assistant, Span(client.source.at, client.source.at)
        return steps(lambda: assistant.show_prompt(URI, place, ""))
