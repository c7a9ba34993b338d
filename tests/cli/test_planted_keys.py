"""Keys planted wherever a user can put one show up nowhere: no log, message, report, prompt or crash dump."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.model.test_http_backend import Recorder
from tests.support.command import Machine
from tests.support.http_server import Exchange
from tests.support.lsp_process import running_server

IN_ENVIRONMENT = "plumed walrus under seventeen moons"
IN_KEY_STORE = "brisk lantern beside a quiet harbour"
WRITTEN_OUT = "sk-proj-4f9a7c21e8b35d60a1c4f7e2b9d80355"
"""No reference but the key itself, where the settings want a reference."""

PLANTED = (IN_ENVIRONMENT, IN_KEY_STORE, WRITTEN_OUT)
ENVIRONMENT: Mapping[str, str | None] = {
    "PLANTED": IN_ENVIRONMENT,
    "MIDSTREAM_TEST_STORED": IN_KEY_STORE,
    "PYTHON_KEYRING_BACKEND": "tests.support.key_store.KeyStore",
    "PATH": "/bin",
}


class Quoting(Recorder):
    """Refuses every key, and repeats it in its answer as some hosts do."""

    def accept(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)
        said = exchange.headers.get("authorization", "") + exchange.headers.get("api-key", "")
        exchange.answer(401, json.dumps({"error": {"message": f"Incorrect key: {said}"}}).encode())


def check(*shown: str) -> None:
    """No key, and no piece of one that is long enough to help."""
    for text in shown:
        found = [key for key in PLANTED if any(key[at : at + 12] in text for at in range(len(key) - 11))]
        assert not found, text


def models(url: str) -> dict[str, Any]:
    """A key in each place, good and bad ones."""
    host = {"protocol": "chat-http", "url": f"{url}/v1", "model": "m"}
    return {
        "named": {**host, "key": "env:PLANTED"},
        "stored": {**host, "key": "keyring:spark", "headers": {"api-key": "env:PLANTED"}},
        "written": {**host, "key": WRITTEN_OUT},
        "header": {**host, "headers": {"Authorization": f"Bearer {WRITTEN_OUT}"}},
        "mistaken": {**host, "key": f"env:{WRITTEN_OUT}"},
        "misplaced": {**host, "headers": {"api-key": f"keyring:{WRITTEN_OUT}"}},
        "address": {**host, "url": f"https://me:{WRITTEN_OUT}@host.invalid/v1"},
    }


def toml(url: str) -> str:
    lines = ['tasks = { complete = "stored", edit = "named", explain = "written", escalate = "header" }']
    for name, model in models(url).items():
        headers = model.pop("headers", {})
        lines += [f"[models.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in model.items())]
        inline = ", ".join(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in headers.items())
        lines.append(f"headers = {{ {inline} }}")
    return "\n".join([*lines, ""])


COMMANDS = (
    ("config", "show"),
    ("config", "show", "--json"),
    ("config", "check"),
    ("doctor",),
    ("doctor", "--json"),
    ("usage",),
    ("usage", "--json"),
    ("complete", "{file}:1:5", "--show-prompt"),
    ("complete", "{file}:1:5", "--json"),
    ("edit", "{file}:1", "say hello"),
    ("bench", "named", "stored", "--html", "{file}.html"),
)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
async def test_B115_no_command_shows_a_key(machine: Machine, words: tuple[str, ...]) -> None:
    file = machine.home / "app.py"
    file.write_text(f"x = \nKEY = '{WRITTEN_OUT}'\n")
    async with Quoting() as server:
        machine.settings.write_text(toml(server.url))
        arguments = [word.format(file=file) for word in words]
        ran = await asyncio.to_thread(machine.midstream, *arguments, environment=ENVIRONMENT)
        assert "usage: " not in ran.err, ran.err
        written = [path for path in machine.home.rglob("*") if path.is_file()]
        kept = {path: path.read_bytes().decode("latin-1") for path in written}
        del kept[machine.settings], kept[file]
        check(ran.out, ran.err, *kept.values())


@pytest.mark.parametrize("reference", ["env:PLANTED", "keyring:spark"])
def test_B115_a_crash_dump_holds_no_key(machine: Machine, reference: str) -> None:
    machine.settings.write_text('[models.x]\nprotocol = "chat-http"\nmodel = "m"\nkey = "env:PLANTED"\n')
    prelude = (
        "from lsp_server.settings import resolve_key\n"
        "from lsp_server.cli import usage\n"
        "def run(arguments):\n"
        f"    key = resolve_key({reference!r})\n"
        f"    raise RuntimeError('planted: ' + key + ' and {WRITTEN_OUT}')\n"
        "usage.run = run"
    )
    ran = machine.midstream("usage", prelude=prelude, environment=ENVIRONMENT)
    dump = (machine.cache / "crash.log").read_text()
    assert ran.status == 1 and "RuntimeError: planted: [key]" in dump
    check(ran.out, ran.err, dump)


CRASHING = f"""
import logging, sys
from lsp_server.engine.assistant import Assistant
from lsp_server.cli import main
from lsp_server.settings import resolve_key

def crash(self, *arguments):
    keys = resolve_key("keyring:spark"), resolve_key("env:PLANTED"), {WRITTEN_OUT!r}
    logging.getLogger("lsp_server").error("planted: %s", keys)
    raise RuntimeError(f"planted: {{keys}}")

Assistant.show_prompt = crash
sys.exit(main(["serve"]))
"""


@pytest.mark.parametrize("level", ["debug", "trace"])
async def test_B115_no_session_shows_a_key(tmp_path: Path, level: str) -> None:
    """Refused keys, keys in what the client sends, and an error nobody expected, with everything logged."""
    log, uri = tmp_path / "midstream.log", (tmp_path / "app.py").as_uri()
    environment = {
        **{name: value for name, value in ENVIRONMENT.items() if value},
        "MIDSTREAM_CONFIG": str(tmp_path / "config.toml"),
        "MIDSTREAM_USAGE_FILE": str(tmp_path / "usage.sqlite3"),
        "MIDSTREAM_CACHE": str(tmp_path / "cache"),
    }
    async with (
        Quoting() as server,
        running_server(environment=environment, program=CRASHING) as client,
    ):
        options = {
            "models": models(server.url),
            "tasks": {"complete": "stored", "edit": "named", "explain": "written", "escalate": "header"},
            "complete": {"debounce": 0},
            "log": {"level": level, "file": str(log)},
        }
        client.configuration = {"models": {"x": {"key": WRITTEN_OUT}}}
        await client.initialize(options)
        opened = client.open(uri, "x = <|>\n")
        shown = [await client.ask(uri, opened.at)[1]]
        where = client.range(uri, opened.at, opened.at)["start"]
        argument = {"uri": uri, "position": where, "instruction": "2", "wait": True}
        for command in ("edit", "explain", "escalate", "usage", "status", "doctor", "showPrompt"):
            try:
                shown.append(await client.command(f"midstream.{command}", argument))
            except RuntimeError as error:
                shown.append(str(error))
        assert await client.quit() == 0
        assert {exchange.headers.get("authorization") for exchange in server.exchanges} >= {
            f"Bearer {IN_KEY_STORE}",
            f"Bearer {IN_ENVIRONMENT}",
        }, "the keys were really used"
    logged = log.read_text()
    assert "planted: ('[key]', '[key]', '[key]')" in logged
    assert ("DEBUG pygls" in logged) == (level == "trace")
    check(json.dumps(shown), json.dumps(client.messages), client.stderr, logged)
