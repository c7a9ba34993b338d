"""What a server writes on the Responses WebSocket: the events of one answer, in the contract's order.

The order of events of a text answer is the provider's: response.created, response.in_progress,
response.output_item.added, response.content_part.added, response.output_text.delta (any number),
response.output_text.done, response.content_part.done, response.output_item.done, and one of
response.completed, response.incomplete, response.failed. `sequence_number` counts from 0 within an
answer, `stream_id` is echoed on every event of a lane. Field names: the openai SDK's
`types/responses`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lsp_server.wire.client import Usage
from lsp_server.wire.server import Create


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A token of a delta with the natural logarithm of its probability."""

    token: str
    logprob: float

    def encode(self) -> dict[str, Any]:
        return {"token": self.token, "logprob": self.logprob, "top_logprobs": []}


class Answer:
    """The events of one answer, as frames to send in order.

    Call `started` first, `delta` for each piece of text, and exactly one of `completed`,
    `incomplete` and `failed`. An answer without any delta (a warm-up) has no output item.
    """

    def __init__(self, create: Create, response_id: str, *, created_at: float) -> None:
        self.response_id = response_id
        self.text = ""
        self._create = create
        self._created_at = created_at
        self._sequence = 0
        self._logprobs: list[dict[str, Any]] = []
        self._item_open = False

    def started(self) -> list[str]:
        response = self._response("in_progress")
        return [
            self._event("response.created", response=response),
            self._event("response.in_progress", response=response),
        ]

    def delta(
        self, text: str, logprobs: Sequence[TokenLogprob] = (), timings: Mapping[str, float] | None = None
    ) -> list[str]:
        """`timings` is our extension: what the host knows of its work by this delta."""
        frames = [] if self._item_open else self._open_item()
        entries = [entry.encode() for entry in logprobs]
        self.text += text
        self._logprobs += entries
        place: dict[str, Any] = {"item_id": self._item_id, "output_index": 0, "content_index": 0}
        extra = {"timings": dict(timings)} if timings else {}
        kind = "response.output_text.delta"
        return [*frames, self._event(kind, **place, delta=text, logprobs=entries, **extra)]

    def completed(self, usage: Usage, **extra: Any) -> list[str]:
        """`extra` fields go into the response object, for instance the host's `timings`."""
        return self._end("completed", usage, extra)

    def incomplete(self, reason: str, usage: Usage, **extra: Any) -> list[str]:
        """`reason`: max_output_tokens, content_filter, or, after `response.cancel`, cancelled."""
        return self._end("incomplete", usage, extra | {"incomplete_details": {"reason": reason}})

    def failed(self, code: str, message: str, usage: Usage | None = None) -> list[str]:
        error = {"code": code, "message": message}
        return self._end("failed", usage or Usage(), {"error": error})

    @property
    def _item_id(self) -> str:
        return "msg_" + self.response_id.removeprefix("resp_")

    def _open_item(self) -> list[str]:
        self._item_open = True
        part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        item = self._item("in_progress", [])
        return [
            self._event("response.output_item.added", output_index=0, item=item),
            self._event(
                "response.content_part.added",
                item_id=self._item_id,
                output_index=0,
                content_index=0,
                part=part,
            ),
        ]

    def _end(
        self, status: Literal["completed", "incomplete", "failed"], usage: Usage, extra: dict[str, Any]
    ) -> list[str]:
        frames: list[str] = []
        output: list[dict[str, Any]] = []
        if self._item_open:
            place = {"item_id": self._item_id, "output_index": 0, "content_index": 0}
            part = {
                "type": "output_text",
                "text": self.text,
                "annotations": [],
                "logprobs": [entry | {"bytes": list(_utf8(entry["token"]))} for entry in self._logprobs],
            }
            item = self._item("completed" if status == "completed" else "incomplete", [part])
            output = [item]
            frames = [
                self._event("response.output_text.done", **place, text=self.text, logprobs=self._logprobs),
                self._event("response.content_part.done", **place, part=part),
                self._event("response.output_item.done", output_index=0, item=item),
            ]
        response = self._response(status) | {"output": output, "usage": encode_usage(usage)} | extra
        return [*frames, self._event(f"response.{status}", response=response)]

    def _item(self, status: str, content: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self._item_id,
            "type": "message",
            "role": "assistant",
            "status": status,
            "content": content,
        }

    def _response(self, status: str) -> dict[str, Any]:
        create = self._create
        return {
            "id": self.response_id,
            "object": "response",
            "created_at": self._created_at,
            "model": create.model,
            "status": status,
            "output": [],
            "error": None,
            "incomplete_details": None,
            "instructions": create.instructions or None,
            "max_output_tokens": create.max_output_tokens,
            "parallel_tool_calls": True,
            "previous_response_id": create.previous_response_id,
            "prompt_cache_key": create.prompt_cache_key,
            "service_tier": "default",
            "store": create.store,
            "temperature": create.temperature,
            "tool_choice": "auto",
            "tools": [],
            "usage": None,
        }

    def _event(self, kind: str, **fields: Any) -> str:
        event: dict[str, Any] = {"type": kind, "sequence_number": self._sequence, **fields}
        if self._create.lane is not None:
            event["stream_id"] = self._create.lane
        self._sequence += 1
        return json.dumps(event)


def encode_usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


def _utf8(token: str) -> bytes:
    return token.encode("utf-8", "surrogatepass")
