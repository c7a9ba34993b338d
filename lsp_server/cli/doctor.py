"""`midstream doctor`: everything on the way to the first ghost text, one line each."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from lsp_server import __version__
from lsp_server.cli import checkup
from lsp_server.settings import Settings, load_user
from lsp_server.settings.values import DEFAULT_MODEL
from lsp_server.texts import doctor as texts


@dataclass(frozen=True, slots=True)
class Finding:
    """One check. `mend` says what to do when it failed."""

    name: str
    ok: bool
    found: str
    mend: str = ""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser("doctor", help=texts.DOCTOR)
    parser.add_argument("--json", action="store_true", help=texts.DOCTOR_JSON)


def run(arguments: argparse.Namespace) -> int:
    return asyncio.run(doctor(as_json=arguments.json))


async def doctor(*, as_json: bool) -> int:
    settings, problems = load_user(os.environ)
    findings = [Finding("settings", False, str(problem), texts.MEND_SETTINGS) for problem in problems]
    if not as_json:
        print(f"Midstream {__version__}")
        for finding in findings:
            tell(finding)
    async for finding in examine(settings, os.environ):
        findings.append(finding)
        if not as_json:
            tell(finding)
    failed = [finding for finding in findings if not finding.ok]
    if as_json:
        print(
            json.dumps(
                {"ok": not failed, "checks": [asdict(finding) for finding in findings]}, ensure_ascii=False
            )
        )
    elif failed:
        print(texts.SOME_FAILED.format(failed=len(failed), findings=len(findings)))
    else:
        print(texts.ALL_WELL)
    return 1 if failed else 0


async def examine(settings: Settings, environment: Mapping[str, str]) -> AsyncIterator[Finding]:
    """Every check, cheapest first; a failed one does not stop the others."""
    yield python_version()
    yield installation()
    yield writable_home(environment)
    yield grammars()
    if (proxies := proxy_variables(environment)) is not None:
        yield proxies
    for name in models_to_check(settings):
        model = settings.models.get(name)
        if model is None:
            yield Finding(
                f"model {name}", False, texts.NOT_CONFIGURED, texts.MEND_NOT_CONFIGURED.format(name=name)
            )
        else:
            async for line in checkup.examine_model(model, settings.budget, environment):
                yield Finding(*line)


def models_to_check(settings: Settings) -> list[str]:
    """Those that the user configured, those that tasks and actions name, and their fallbacks."""
    tasks = ("complete", "edit", "explain", "escalate")
    named = [str(getattr(settings.tasks, task)) for task in tasks]
    named += [action.model for action in settings.edit.actions if action.model]
    named += [name for name, model in settings.models.items() if model != DEFAULT_MODEL]
    named += [model.fallback for name, model in settings.models.items() if name in named and model.fallback]
    return sorted(set(named))


def python_version() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding(
        "python",
        sys.version_info >= (3, 11),
        texts.PYTHON.format(version=version, program=sys.executable),
        texts.MEND_PYTHON,
    )


def installation() -> Finding:
    """Which copy runs; a second one elsewhere on PATH is a common surprise."""
    here = Path(sys.executable).parent
    others = [
        str(path)
        for folder in os.environ.get("PATH", "").split(os.pathsep)
        if folder and Path(folder).resolve() != here.resolve()
        for path in (Path(folder) / "midstream", Path(folder) / "midstream.exe")
        if path.is_file()
    ]
    return Finding(
        "installation",
        not others,
        texts.INSTALLED.format(version=__version__, folder=Path(__file__).parent.parent)
        + (texts.ANOTHER.format(places=", ".join(others)) if others else ""),
        texts.MEND_TWO,
    )


def writable_home(environment: Mapping[str, str]) -> Finding:
    """Weights, locks and the model host's files need a folder that may be written to."""
    from lsp_server.local.places import cache_dir

    folder = cache_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        homeless = "" if environment.get("HOME") or os.name == "nt" else f"{texts.HOME_OR} "
        return Finding(
            "cache folder",
            False,
            texts.NOT_WRITABLE.format(folder=folder, reason=error.strerror),
            texts.MEND_NOT_WRITABLE.format(homeless=homeless),
        )
    return Finding("cache folder", True, str(folder))


def grammars() -> Finding:
    """A language without its grammar works by lines."""
    from lsp_server.core.syntax.languages import missing_grammars

    missing = missing_grammars()
    return Finding(
        "grammars",
        not missing,
        texts.GRAMMARS_HERE
        if not missing
        else "; ".join(f"{name}: {why}" for name, why in sorted(missing.items())),
        texts.MEND_GRAMMARS,
    )


def proxy_variables(environment: Mapping[str, str]) -> Finding | None:
    """Which proxies the environment names; None when there are none."""
    names = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
    found = [each for name in names for each in (name, name.lower()) if environment.get(each)]
    if not found:
        return None
    return Finding("proxy", True, texts.PROXIES.format(names=", ".join(found)))


def tell(finding: Finding) -> None:
    """One line for the user, with what to do below a failure."""
    print(f"  {'ok  ' if finding.ok else 'FAIL'}  {finding.name}: {finding.found}", flush=True)
    if not finding.ok and finding.mend:
        print(f"        {finding.mend}", flush=True)
