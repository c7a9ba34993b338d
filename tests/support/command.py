"""The `midstream` command as a user calls it, on a machine that is in the state a test wants."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.model_server import TOKEN

ROOT = Path(__file__).parents[2]
START = "import sys\nfrom lsp_server.cli import main\nsys.exit(main())"
KEY = "MIDSTREAM_TEST_KEY"


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended and what it wrote."""

    status: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Machine:
    """A home folder, and settings that know one scripted model once `use` was called."""

    home: Path

    @property
    def settings(self) -> Path:
        """The user's settings file."""
        return self.home / "config.toml"

    @property
    def cache(self) -> Path:
        """The cache folder of the product."""
        return self.home / "cache"

    @property
    def environment(self) -> dict[str, str]:
        """What a process here finds in its environment."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MIDSTREAM_")}
        return {
            **kept,
            "HOME": str(self.home),
            "MIDSTREAM_CONFIG": str(self.settings),
            "MIDSTREAM_CACHE": str(self.cache),
            "MIDSTREAM_USAGE_FILE": str(self.home / "usage.sqlite3"),
            KEY: TOKEN,
        }

    def use(self, url: str, *, complete: bool = True, **more: str) -> None:
        """Send every task to the model server at `url`; `more` are further lines of the model."""
        model = {"protocol": "responses-ws", "url": url, "model": "scripted", "key": f"env:{KEY}"}
        lines = [
            f"{name} = {json.dumps(value)}" for name, value in {**model, "cancel": "event", **more}.items()
        ]
        tasks = [f'{task} = "scripted"' for task in ("complete", "edit", "explain", "escalate")]
        text = [
            "[models.scripted]",
            *lines,
            "[tasks]",
            *tasks,
            "[complete]",
            f"enabled = {json.dumps(complete)}",
        ]
        self.settings.write_text("\n".join([*text, "debounce = 0", ""]))

    def midstream(
        self, *arguments: str, prelude: str = "", environment: Mapping[str, str | None] | None = None
    ) -> Ran:
        """Run the command to its end; `prelude` is Python that runs first, None takes a variable away.

        Whatever goes wrong, a user never sees a trace.
        """
        variables: dict[str, str | None] = {**self.environment, **(environment or {})}
        run = subprocess.run(
            [sys.executable, "-c", f"{prelude}\n{START}", *arguments],
            cwd=ROOT,
            env={name: value for name, value in variables.items() if value is not None},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=100,
        )
        ran = Ran(run.returncode, run.stdout.decode(), run.stderr.decode())
        assert "Traceback" not in ran.out + ran.err, ran.out + ran.err
        return ran
