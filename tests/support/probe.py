"""The test as a language server: it sends edits and keeps what the client did, in the order of the wire."""

import json
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from lsp_server.core.document import Change, Document
from lsp_server.core.text import Encoding, Position, Range
from tests.support.fake_peer import FakePeer

Json = dict[str, Any]
Edit = tuple[tuple[int, int], tuple[int, int], str]
INCREMENTAL, FULL = 2, 1


class Probe:
    """One client and one document. `events` holds what came since the last `start`.

    An event is `("changed", version, ((range, text), ...))` or `("reply", number, verdict)`; versions are
    counted from the first one seen, without gaps, so that clients can be compared.
    """

    def __init__(
        self,
        send: Callable[[Json], None],
        pump: Callable[[], Json | None],
        sync: int,
        encoding: Encoding = Encoding.UTF16,
    ) -> None:
        self._send, self._pump, self._sync, self.encoding = send, pump, sync, encoding
        self._ids = count(1)
        self._edits: dict[int, int] = {}
        self.events: list[tuple[object, ...]] = []
        self.document = Document.open("", "", 0, "")
        self.open_count = 0
        self._versions: list[int] = []
        self.serves_patches = False

    def start(self) -> None:
        """Wait for the client to open a document, and begin its record."""
        seen = self.open_count
        self.wait(lambda: self.open_count > seen)

    def forget(self) -> None:
        """Begin the record here, with the version that is known now."""
        self.events = []
        self._edits = {}
        self._versions = [self.document.version]

    def apply(self, *edits: Edit, version: int | None) -> int:
        """Send one edit and do not wait; the number of the edit in the record.

        A client that serves `midstream/applyPatch` gets it so, and then always with a version.
        """
        number = len(self._edits)
        token = next(self._ids)
        self._edits[token] = number
        if self.serves_patches:
            self._send_patch(token, edits, self.document.version if version is None else version)
            return number
        changes = [{"range": _range_json(start, end), "newText": text} for start, end, text in edits]
        document = {"uri": self.document.uri, "version": version}
        edit = {"documentChanges": [{"textDocument": document, "edits": changes}]}
        params = {"label": "probe", "edit": edit}
        self._send({"jsonrpc": "2.0", "id": token, "method": "workspace/applyEdit", "params": params})
        return number

    def _send_patch(self, token: int, edits: Sequence[Edit], version: int) -> None:
        ((start, end, text),) = edits
        params = {
            "generation": "probe",
            "uri": self.document.uri,
            "version": version,
            "range": _range_json(start, end),
            "newText": text,
            "first": self._edits[token] == 0,
        }
        self._send({"jsonrpc": "2.0", "id": token, "method": "midstream/applyPatch", "params": params})

    def wait(self, condition: Callable[[], object], seconds: float = 20.0) -> None:
        """Take messages until the condition holds."""
        end = time.monotonic() + seconds
        while not condition():
            message = self._pump()
            if message is not None:
                self.receive(message)
            assert time.monotonic() < end, f"waited too long; seen: {self.events}"

    def wait_for_reply(self, number: int) -> None:
        """Wait for the answer to one edit."""
        self.wait(lambda: any(event[:2] == ("reply", number) for event in self.events))

    def wait_for_text(self, text: str) -> None:
        """Wait until the client has reported this text."""
        self.wait(lambda: self.document.text == text)

    def receive(self, message: Json) -> None:
        """Take one message of the client."""
        method, params = message.get("method"), message.get("params") or {}
        match method:
            case None:
                self._take_reply(message)
            case "initialize":
                capabilities = {"positionEncoding": "utf-16", "textDocumentSync": self._sync}
                announced = params["capabilities"].get("experimental") or {}
                self.serves_patches = announced.get("midstream", {}).get("applyPatch", False)
                self._answer(message, {"capabilities": capabilities})
            case "textDocument/didOpen":
                item = params["textDocument"]
                self.document = Document.open(item["uri"], item["languageId"], item["version"], item["text"])
                self.open_count += 1
                self.forget()
            case "textDocument/didChange" if params["textDocument"]["uri"] == self.document.uri:
                self._take_change(params)
            case _ if "id" in message:
                self._answer(message, None)

    def _take_reply(self, message: Json) -> None:
        number = self._edits.get(message["id"])
        if number is not None:
            verdict = "error"
            if "error" not in message:
                verdict = "applied" if message["result"]["applied"] else "refused"
            self.events.append(("reply", number, verdict))

    def _take_change(self, params: Json) -> None:
        version = params["textDocument"]["version"]
        changes = [_change(item) for item in params["contentChanges"]]
        self.document, _ = self.document.apply(changes, version, self.encoding)
        if version not in self._versions:
            self._versions.append(version)
        shown = tuple((_show(change.range), change.text) for change in changes)
        self.events.append(("changed", self._versions.index(version), shown))

    def _answer(self, message: Json, result: object) -> None:
        self._send({"jsonrpc": "2.0", "id": message["id"], "result": result})


class Wire:
    """The probe's end of `probe_server`: listens on loopback for one client."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._messages: queue.Queue[Json] = queue.Queue()
        self._socket: socket.socket | None = None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def command(self) -> list[str]:
        """What an editor runs as its language server."""
        script = Path(__file__).with_name("probe_server.py")
        return [sys.executable, str(script), str(self._listener.getsockname()[1])]

    def send(self, message: Json) -> None:
        """Write one message to the client."""
        body = json.dumps(message).encode()
        assert self._socket is not None
        self._socket.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def pump(self) -> Json | None:
        """The next message of the client, or None when there is none for a while."""
        try:
            return self._messages.get(timeout=0.1)
        except queue.Empty:
            return None

    def close(self) -> None:
        """Hang up."""
        self._listener.close()
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
        self._reader.join(5)

    def _read(self) -> None:
        try:
            self._socket, _ = self._listener.accept()
            with self._socket, self._socket.makefile("rb") as stream:
                while header := stream.readline():
                    length = int(header.split(b":")[1])
                    while stream.readline() != b"\r\n":
                        pass
                    self._messages.put(json.loads(stream.read(length)))
        except OSError:
            return


def probe_of_fake(peer: FakePeer, sync: int) -> Probe:
    """A probe whose client is the fake one; waiting makes the fake do its next step."""

    def pump() -> Json | None:
        while not peer.messages:
            assert peer.step(), "the fake client has nothing more to do"
        return peer.messages.popleft()

    return Probe(peer.receive, pump, sync, peer.encoding)


def _change(item: Json) -> Change:
    range_ = item.get("range")
    if range_ is None:
        return Change(None, item["text"])
    return Change(Range(Position(**range_["start"]), Position(**range_["end"])), item["text"])


def _show(range_: Range | None) -> str:
    if range_ is None:
        return "all"
    start, end = range_.start, range_.end
    return f"{start.line}:{start.character}-{end.line}:{end.character}"


def _range_json(start: tuple[int, int], end: tuple[int, int]) -> Json:
    return {
        "start": {"line": start[0], "character": start[1]},
        "end": {"line": end[0], "character": end[1]},
    }
