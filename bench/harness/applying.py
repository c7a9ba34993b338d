"""A client that applies the edits of a server to its document, and reports the changes, as an editor does."""

import random
from time import monotonic_ns as now
from typing import Any

from bench.harness.client import URI, Client


class Applying:
    """`applied` holds when each edit was applied, after its change was sent. Text is ASCII."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.applied: list[int] = []
        self.refused = 0
        client.answer = self.answer

    def answer(self, message: dict[str, Any]) -> Any:
        params = message["params"]
        if message["method"] == "midstream/applyPatch":
            edit = {"range": params["range"], "newText": params["newText"]}
            documents = [{"textDocument": {"version": params["version"]}, "edits": [edit]}]
        elif message["method"] == "workspace/applyEdit":
            documents = params["edit"]["documentChanges"]
        else:
            return None
        client, changes = self.client, []
        for document in documents:
            if document["textDocument"]["version"] not in (None, client.version):
                self.refused += 1
                return {"applied": False}
            # From the last to the first, so that no edit moves another.
            edits = sorted(document["edits"], key=lambda edit: place(edit["range"]["start"]), reverse=True)
            for edit in edits:
                replace(client.lines, edit["range"], edit["newText"])
                changes.append({"range": edit["range"], "text": edit["newText"]})
        client.version += 1
        about = {"uri": URI, "version": client.version}
        client.notify("textDocument/didChange", {"textDocument": about, "contentChanges": changes})
        self.applied.append(now())
        return {"applied": True}


def place(position: dict[str, int]) -> tuple[int, int]:
    return position["line"], position["character"]


def replace(lines: list[str], where: dict[str, Any], text: str) -> None:
    (first, left), (last, right) = place(where["start"]), place(where["end"])
    tail = lines[last][right:] if last < len(lines) else ""
    lines[first : last + 1] = (lines[first][:left] + text + tail).split("\n")


def function(lines: int) -> str:
    """A function of so many lines for a model to say, no two of them alike: a model that loops is stopped."""
    words = ("rows", "names", "sizes", "parts", "limit", "total", "index", "label", "first", "other", "count")
    chance, said = random.Random(5), ["def load_part(path, limit):"]
    for number in range(1, lines - 1):
        left, right, name = chance.sample(words, 3)
        said.append(f"    {left}_{number} = {right}({name}, {chance.randrange(1000)})")
    return "\n".join([*said, "    return limit\n"])
