"""The fake client as a language client: JSON-RPC messages as dictionaries, in and out.

peer = FakePeer("vscode")
peer.start(); peer.open("file:///a.py", "x = 1\n")
server.receive(peer.messages.popleft())      # the wire is the test's
peer.receive(message_of_the_server)
peer.step()
"""

from collections import deque
from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any

from lsp_server.core.text import Encoding, Position, Range
from tests.support.fake_client import FakeClient
from tests.support.fake_modes import Changed, Closed, EditRequest, Message, Opened, Reply, TextEdit

Json = dict[str, Any]


class FakePeer(FakeClient):
    """`messages` is what the server reads next, in order; `notes` are the server's notifications.

    Requests that are not about edits are answered at once, by `answers[method](params)` or with null.
    """

    def __init__(self, mode: str, encoding: Encoding = Encoding.UTF16) -> None:
        super().__init__(mode, encoding)
        self.messages: deque[Json] = deque()
        self.notes: list[Json] = []
        self.results: dict[int, Json] = {}
        self.answers: dict[str, Callable[[Any], object]] = {
            "workspace/configuration": lambda params: [None] * len(params["items"])
        }
        self.schedule: Random | None = None
        self._ids = count(1)

    def start(self, **options: Any) -> None:
        """Say `initialize` and `initialized`; `options` are further `InitializeParams`."""
        workspace: Json = {"applyEdit": True, "workspaceEdit": {"documentChanges": self.mode.versioned}}
        capabilities: Json = {
            "general": {"positionEncodings": [self.encoding.value]},
            "workspace": workspace,
            "textDocument": {"inlineCompletion": {}},
        }
        if self.mode.groups_undo:
            capabilities["experimental"] = {
                "midstream": {"applyPatch": True, "status": True, "ended": True, "retrigger": True}
            }
        defaults: Json = {"processId": None, "rootUri": None, "capabilities": capabilities}
        self.request("initialize", defaults | options)
        self.notify("initialized", {})

    def request(self, method: str, params: object) -> int:
        """Ask the server; what was held back goes out first. The answer comes to `results` under the id."""
        self.flush()
        self._drain()
        number = next(self._ids)
        self.messages.append({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def notify(self, method: str, params: object) -> None:
        """Tell the server."""
        self._drain()
        self.messages.append({"jsonrpc": "2.0", "method": method, "params": params})

    def receive(self, message: Json) -> None:
        """Take a message of the server. Edits wait for `step`."""
        method, params = message.get("method"), message.get("params")
        if method is None:
            self.results[message["id"]] = message
        elif "id" not in message:
            self.notes.append(message)
        elif method == "workspace/applyEdit" and params is not None:
            self.incoming.append(_edit_request(message["id"], params["edit"]))
        elif method == "midstream/applyPatch" and params is not None:
            edit = TextEdit(_range(params["range"]), params["newText"])
            self.incoming.append(
                EditRequest(message["id"], params["uri"], params["version"], (edit,), params["first"])
            )
        else:
            answer = self.answers.get(method, lambda _: None)(params)
            self.messages.append({"jsonrpc": "2.0", "id": message["id"], "result": answer})

    def step(self) -> bool:
        """The client's next own action, then its messages; False when there was nothing to do.

        With a `schedule`, chance says what comes next: reading, working or the timer.
        """
        if self.schedule is None:
            acted = self.work() or bool(self.outgoing) or self.flush()
        else:
            actions = [self.take, self.run]
            self.schedule.shuffle(actions)
            # A timer that is due may still be late, so it comes up less often than the rest.
            actions.insert(self.schedule.choice((0, 2, 2, 2)), self.flush)
            acted = any(action() for action in actions) or bool(self.outgoing)
        self._drain()
        return acted

    def is_late(self) -> bool:
        return self.mode.two_steps and self.schedule is not None and self.schedule.random() < 0.3

    def wake(self) -> None:
        """Put the client's messages on the wire in their order."""
        self._drain()

    def _drain(self) -> None:
        while self.outgoing:
            self.messages.append({"jsonrpc": "2.0", **_as_json(self.outgoing.popleft())})


def _edit_request(token: int, edit: Json) -> EditRequest:
    if "documentChanges" in edit:
        (change,) = edit["documentChanges"]
        uri, version, edits = (
            change["textDocument"]["uri"],
            change["textDocument"]["version"],
            change["edits"],
        )
    else:
        ((uri, edits),) = edit["changes"].items()
        version = None
    return EditRequest(
        token, uri, version, tuple(TextEdit(_range(edit["range"]), edit["newText"]) for edit in edits)
    )


def _as_json(message: Message) -> Json:
    match message:
        case Opened(uri, language, version, text):
            item = {"uri": uri, "languageId": language, "version": version, "text": text}
            return {"method": "textDocument/didOpen", "params": {"textDocument": item}}
        case Changed(uri, version, changes, _):
            content = [
                {"text": change.text} | ({"range": _range_json(change.range)} if change.range else {})
                for change in changes
            ]
            document = {"uri": uri, "version": version}
            params = {"textDocument": document, "contentChanges": content}
            return {"method": "textDocument/didChange", "params": params}
        case Closed(uri):
            return {"method": "textDocument/didClose", "params": {"textDocument": {"uri": uri}}}
        case Reply(token, "error"):
            return {"id": token, "error": {"code": -32603, "message": "the edit needs another version"}}
        case Reply(token, verdict):
            return {"id": token, "result": {"applied": verdict == "applied"}}


def _range(value: Json) -> Range:
    return Range(Position(**value["start"]), Position(**value["end"]))


def _range_json(value: Range) -> Json:
    return {
        name: {"line": position.line, "character": position.character}
        for name, position in (("start", value.start), ("end", value.end))
    }
