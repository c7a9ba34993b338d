"""Which files may leave this machine: ignore files as git reads them, and secret files by their name."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SECRET_FILES = """\
.env
.env.*
*.env
.envrc
!.env.example
!.env.sample
!.env.template
!.env.dist
id_rsa
id_dsa
id_ecdsa
id_ed25519
id_*_sk
*.pem
*.key
*.p8
*.p12
*.pfx
*.ppk
*.jks
*.keystore
*.kdbx
*.gpg
.npmrc
.pypirc
.netrc
_netrc
.pgpass
.my.cnf
.htpasswd
.git-credentials
.dockercfg
.vault-token
credentials.json
client_secret*.json
service-account*.json
secrets.yml
secrets.yaml
secrets.json
secrets.toml
*.tfvars
*.tfstate
.ssh/
.gnupg/
.aws/
**/.docker/config.json
**/.kube/config
**/.config/gcloud/
"""


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """One ignore file as it was read. `directory` is absolute, with forward slashes and none at its end."""

    directory: str
    name: str
    text: str


def may_leave(
    path: str, files: Sequence[IgnoreFile], own: Sequence[str] = (), *, fold: bool = False
) -> str | None:
    """Why this file must stay on the machine, as a sentence; None when it may leave.

    Each kind of ignore file decides for itself, so that one can only add to what another ignores. `own`
    are the user's patterns; they alone can let out a file that is held back for its name. `fold` is
    for file systems that do not tell upper from lower case.
    """
    name = path.rpartition("/")[2]
    mine = _check("\n".join(own), path.lstrip("/"), fold)
    if mine is True:
        return f"{name} is listed in context.ignore, so nothing of it is sent."
    if mine is None and _check(SECRET_FILES, path.lstrip("/").lower(), False):
        return f"{name} looks like a file of secrets, so nothing of it is sent."
    for kind in dict.fromkeys(file.name for file in files):
        if _ignored(path, [file for file in files if file.name == kind], fold):
            return f"{name} is listed in {kind}, so nothing of it is sent."
    return None


def path_of(uri: str) -> str:
    """The path inside a URI of any scheme, with forward slashes; a Windows drive letter in lower case."""
    scheme, colon, rest = uri.partition(":")
    if not colon or len(scheme) < 2:
        scheme, rest = "", uri
    if scheme:
        rest = unquote(re.split(r"[?#]", rest, maxsplit=1)[0])
    rest = rest.replace("\\", "/")
    if rest.startswith("///"):
        rest = rest[2:]
    drive = re.match(r"/?([A-Za-z]):(?=/)", rest)
    return f"/{drive.group(1).lower()}:{rest[drive.end() :]}" if drive else rest


def _ignored(path: str, files: Iterable[IgnoreFile], fold: bool) -> bool:
    """As git decides: what is in an ignored directory is ignored, else the nearest file has the last word."""
    inside = [file for file in files if path.startswith(file.directory + "/")]
    nearest_first = sorted(inside, key=lambda file: -len(file.directory))
    return any(_says_nearest(part, nearest_first, fold) for part in _parts(path))


def _parts(path: str) -> Iterator[str]:
    """The directories above a path from the top, each with a slash at its end, then the path."""
    for match in re.finditer("/", path[1:]):
        yield path[: match.end() + 1]
    yield path


def _says_nearest(path: str, nearest_first: Iterable[IgnoreFile], fold: bool) -> bool:
    for file in nearest_first:
        prefix = file.directory + "/"
        if path.startswith(prefix) and len(prefix) < len(path):
            said = _check(file.text, path[len(prefix) :], fold)
            if said is not None:
                return said
    return False


def _check(patterns: str, path: str, fold: bool) -> bool | None:
    """True for ignored, False for let in again, None where no pattern speaks of this path."""
    if not patterns:
        return None
    if fold:
        patterns, path = patterns.lower(), path.lower()
    return _spec(patterns).check_file(path).include


@lru_cache(maxsize=256)
def _spec(patterns: str) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(filter(_is_pattern, patterns.splitlines()))


def _is_pattern(line: str) -> bool:
    """False for what git cannot read either: one broken line must not cost the others."""
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
