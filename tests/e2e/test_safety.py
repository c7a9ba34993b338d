"""What must never happen, through the server as an editor starts it."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.support.lsp_client import CAPABILITIES
from tests.support.lsp_process import options_for, running_server
from tests.support.model_server import TOKEN, ModelServer

CANARY = "CANARY-sk-0123456789abcdefghijkl"
URI = "file:///w/app.py"
WIDE = "測" * 4000


def private(folder: Path) -> dict[str, str]:
    """The user's own files are out of reach."""
    return {
        "MIDSTREAM_CONFIG": str(folder / "config.toml"),
        "MIDSTREAM_USAGE_FILE": str(folder / "usage.sqlite3"),
    }


async def test_B112_B113_what_is_ignored_or_secret_is_in_no_payload(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("secret/**\n")
    uris = [(tmp_path / name).as_uri() for name in ("secret/k.py", ".env", ".env.local", "id_rsa", "x.pem")]
    async with ModelServer() as model, running_server(environment=private(tmp_path)) as client:
        model.always("x = 2")
        await client.initialize(options_for(model))
        for uri in uris:
            client.open(uri, f"KEY = '{CANARY}'\n")
        app = (tmp_path / "app.py").as_uri()
        opened = client.open(app, "x = <|>\n")
        for uri in uris:
            assert await client.ask(uri, len(client.text(uri)))[1] is None
        assert await client.ask(app, opened.at)[1]
        where = client.range(app, 0, 0)["start"]
        await client.command("midstream.edit", uri=app, position=where, instruction="2", wait=True)
        assert model.turns and all(CANARY not in turn.text for turn in model.turns)
        (tmp_path / ".gitignore").write_text("secret/**\napp.py\n")
        asked = sum(turn.create.generate for turn in model.turns)
        assert await client.ask(app, opened.at)[1] is None
        assert sum(turn.create.generate for turn in model.turns) == asked, "a rule that changed holds at once"
        assert await client.quit() == 0


@pytest.mark.parametrize("level", ["warning", "trace"])
async def test_B115_the_key_is_nowhere_but_in_the_environment(tmp_path: Path, level: str) -> None:
    log = tmp_path / "midstream.log"
    async with (
        ModelServer() as model,
        running_server(environment={**private(tmp_path), "MIDSTREAM_TEST_KEY": CANARY}) as client,
    ):
        options = options_for(model, log={"level": level, "file": str(log)})
        capabilities = {**CAPABILITIES, "workspace": {"configuration": True, "applyEdit": True}}
        client.configuration = {"models": {"x": {"key": CANARY}}}
        await client.initialize(options, capabilities)
        opened = client.open(URI, "x = <|>\n")
        assert await client.ask(URI, opened.at)[1] is None, "the key is refused"
        assert await client.message("window/showMessage")
        client.write_raw(b"Content-Length: 9\r\n\r\nnot json!")
        assert client.process
        if sys.platform == "linux":
            command = Path(f"/proc/{client.process.pid}/cmdline").read_bytes()
            assert CANARY.encode() not in command
        assert await client.quit() == 0
    assert CANARY not in client.stderr
    assert CANARY not in str(client.messages) and TOKEN not in client.stderr
    assert CANARY not in log.read_text()


async def test_B134_a_refused_key_is_told_once_and_the_status_keeps_it(tmp_path: Path) -> None:
    environment = {**private(tmp_path), "MIDSTREAM_TEST_KEY": "wrong"}
    async with ModelServer() as model, running_server(environment=environment) as client:
        await client.initialize(options_for(model))
        opened = client.open(URI, "x = <|>\n")
        for _ in range(3):
            assert await client.ask(URI, opened.at)[1] is None
        status = await client.command("midstream.status")
        assert status["state"] == "error" and status["command"] == "midstream.doctor"
        assert client.told == [status["message"]]
        assert await client.quit() == 0


async def test_B134_a_missing_key_is_named(tmp_path: Path) -> None:
    async with ModelServer() as model, running_server(environment=private(tmp_path)) as client:
        options = options_for(model)
        options["models"]["test"]["key"] = "env:NO_SUCH_KEY_ANYWHERE"
        await client.initialize(options)
        opened = client.open(URI, "x = <|>\n")
        assert await client.ask(URI, opened.at)[1] is None
        assert "NO_SUCH_KEY_ANYWHERE" in (await client.message("window/showMessage"))["params"]["message"]
        assert await client.quit() == 0


async def test_a_dropped_connection_is_a_sentence_and_the_next_request_works(tmp_path: Path) -> None:
    async with ModelServer() as model, running_server(environment=private(tmp_path)) as client:
        await client.initialize(options_for(model))
        opened = client.open(URI, "<|>def f():\n    return 1\n")
        where = client.range(URI, opened.at, opened.at)["start"]
        argument = {"uri": URI, "position": where, "instruction": "2", "wait": True}
        _, answer = client.start("midstream.edit", argument)
        turn = await model.turn()
        turn.say("def f():\n")
        turn.hang_up()
        result = await answer
        assert result["outcome"] == "failed" and result["message"].endswith(".")
        assert client.text(URI) == opened.text
        assert (await client.command("midstream.status"))["state"] == "error"
        model.always("def f():\n    return 2\n")
        assert (await client.command("midstream.edit", argument))["outcome"] == "done"
        assert (await client.command("midstream.status"))["state"] == "ready"
        assert await client.quit() == 0


async def test_a_port_that_refuses_is_a_sentence(tmp_path: Path) -> None:
    async with ModelServer() as model, running_server(environment=private(tmp_path)) as client:
        options = options_for(model)
        await model.face.__aexit__(None, None, None)
        await client.initialize(options)
        opened = client.open(URI, "x = <|>\n")
        assert await client.ask(URI, opened.at)[1] is None
        told = (await client.message("window/showMessage"))["params"]["message"]
        assert "127.0.0.1" in told
        await model.face.__aenter__()
        assert await client.quit() == 0


async def test_B124_two_servers_do_not_disturb_each_other(tmp_path: Path) -> None:
    environment = private(tmp_path)
    async with ModelServer() as model, running_server(environment=environment) as first:
        model.always("1")
        await first.initialize(options_for(model))
        async with running_server(environment=environment) as second:
            await second.initialize(options_for(model))
            opened = [client.open(URI, "x = <|>\n") for client in (first, second)]
            answers = [client.ask(URI, opened[0].at)[1] for client in (first, second)]
            assert all(await asyncio.gather(*answers))
            assert second.process
            second.process.kill()
            await second.process.wait()
        first.replace(URI, 0, 0, "y = 1\n")
        assert await first.ask(URI, opened[0].at + 6)[1]
        assert await first.quit() == 0


STRAY = """
import os, subprocess, sys, warnings
from lsp_server.cli import serve
from lsp_server.lsp import server

initialize = server.initialize

def noisy(door, params):
    print("a stray print")
    warnings.warn("a stray warning")
    sys.stdout.write("more")
    subprocess.run([sys.executable, "-c", "import os; os.write(1, b'from a child')"], check=True)
    os.write(1, b"straight to the descriptor")
    return initialize(door, params)

server.initialize = noisy
sys.argv[1:] = ["serve"]
from lsp_server.cli import main
sys.exit(main())
"""


async def test_B131_only_messages_are_on_stdout(tmp_path: Path) -> None:
    async with (
        ModelServer() as model,
        running_server(environment=private(tmp_path), program=STRAY) as client,
    ):
        model.always("1")
        await client.initialize(options_for(model))
        opened = client.open(URI, "x = <|>\n")
        assert await client.ask(URI, opened.at)[1]
        assert await client.quit() == 0
    assert "a stray print" in client.stderr and "from a child" in client.stderr


async def test_B128_the_server_starts_no_children_and_leaves_none_defunct(tmp_path: Path) -> None:
    async with ModelServer() as model, running_server(environment=private(tmp_path)) as client:
        model.always("1")
        await client.initialize(options_for(model))
        client.open(URI, "x = <|>\n")
        assert client.process
        listed = Path(f"/proc/{client.process.pid}/task/{client.process.pid}/children")
        for number in range(200):
            client.replace(URI, 0, 0, f"a{number} = 0\n")
            assert await client.ask(URI, len(client.text(URI)) - 1)[1]
            if listed.exists():
                assert listed.read_text().split() == []
        assert await client.quit() == 0


@pytest.mark.parametrize("budget", range(80, 84))
@pytest.mark.parametrize("source", [f"{WIDE}\nx = <|>", f"{WIDE} = <|>", f"x = <|> # {WIDE}"])
async def test_B22_what_is_sent_is_whole_characters_of_the_document(
    tmp_path: Path, budget: int, source: str
) -> None:
    async with ModelServer() as model, running_server(environment=private(tmp_path)) as client:
        options = options_for(model)
        options["models"]["test"] |= {"style": "fim", "prefixTokens": budget, "suffixTokens": budget}
        await client.initialize(options)
        opened = client.open(URI, source)
        model.always("1")
        assert await client.ask(URI, opened.at)[1]
        [turn] = [turn for turn in model.turns if turn.create.generate]
        prefix, suffix = (turn.create.prompt_variables[name] for name in ("prefix", "suffix"))
        assert "\ufffd" not in prefix + suffix
        assert opened.text[: opened.at].endswith(prefix) and opened.text[opened.at :].startswith(suffix)
        assert prefix.endswith(" = ") and (not opened.text[opened.at :] or suffix)
        assert await client.quit() == 0
