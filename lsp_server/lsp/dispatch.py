"""How messages reach their handlers: in wire order, cancellable, each request answered once.

A handler is a plain function that takes its snapshot at once. It may return a coroutine, which then
runs as a task under the request's id, so that `$/cancelRequest` ends it, or a `Later`, which needs no task.
pygls by itself offers either the synchronous snapshot or a working cancel, and raises when a late reply
meets a cancelled waiter.
"""

import asyncio
import inspect
import json
import logging
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from lsprotocol import types
from pygls.exceptions import (
    FeatureNotificationError,
    FeatureRequestError,
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
)
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method
from pygls.protocol.json_rpc import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage

from lsp_server.lsp.answers import Later, done, failed, shaped
from lsp_server.lsp.messages import is_message, valid_id
from lsp_server.lsp.transport import Framer, FramingError
from lsp_server.texts import edits as texts

logger = logging.getLogger(__name__)

QUIET = frozenset(
    {types.TEXT_DOCUMENT_DID_OPEN, types.TEXT_DOCUMENT_DID_CHANGE, types.TEXT_DOCUMENT_DID_CLOSE}
)
"""Methods that pygls would answer from documents of its own; here only the registered handler runs."""


class Protocol(LanguageServerProtocol):
    """pygls' protocol with our dispatch. One per connection."""

    readers: Mapping[str, Callable[[Any], Any]] = {}
    """Methods whose parameters are structured by hand, and whose handlers are called without detour."""

    _counts_from_zero = False

    def receive(self, body: bytes) -> None:
        """Handle one message body; whatever is wrong with it, the connection lives on."""
        try:
            message = json.loads(body)
        except ValueError:
            logger.warning("ignored a message that is not JSON (%d bytes)", len(body))
            return
        if not is_message(message):
            logger.warning("ignored a message that is not JSON-RPC 2.0 (%d bytes)", len(body))
            return
        if message.get("method") == types.TEXT_DOCUMENT_INLINE_COMPLETION:
            self._renumber_trigger(message)
        if self._hurried(message):
            return
        try:
            structured = self.structure_message(message)
        except JsonRpcException as error:
            self._refuse(message, error)
            return
        self.handle_message(structured)

    def rehearse(self, messages: Iterable[dict[str, Any]], answers: Iterable[Any]) -> None:
        """Let the converter make its hooks now: the first message of a kind would wait for them."""
        for message in messages:
            self._converter.structure(message, self._type_of(message))
        for answer in answers:
            self._converter.unstructure(answer)

    def _hurried(self, message: dict[str, Any]) -> bool:
        """Handle one of the messages that every keystroke brings; False for any other, and any odd one."""
        method, params, number = message.get("method"), message.get("params"), message.get("id")
        if self._shutdown or not isinstance(method, str):
            return False
        if method == types.CANCEL_REQUEST and valid_id(params):
            self._handle_cancel_notification(message["params"]["id"])
            return True
        reader = self.readers.get(method)
        if reader is None or isinstance(number, int | str) == (method == types.TEXT_DOCUMENT_DID_CHANGE):
            return False
        try:
            structured = reader(params)
        except (KeyError, TypeError, AttributeError):
            return False
        handler = self.fm.features[method]
        if number is None:
            self._notice(handler, structured)
        else:
            self._answer(number, handler, partial(self._send_handler_result, msg_id=number), (structured,))
        return True

    def _notice(self, handler: Callable[[Any], object], params: Any) -> None:
        """Run the handler of a notification; a failure is logged by its kind."""
        try:
            handler(params)
        except Exception as error:
            self._server.report_server_error(error, FeatureNotificationError)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """pygls' structuring, with a quiet log: the body may hold the user's code."""
        if data.get("method") == types.CANCEL_REQUEST and not valid_id(data.get("params")):
            data = {**data, "params": {"id": -1}}
        kind = self._type_of(data)
        if kind is JsonRPCResponseMessage:
            # pygls makes a new class for every answer whose type it does not know.
            return JsonRPCResponseMessage(data["id"], "2.0", data.get("result"))
        try:
            return self._converter.structure(data, kind)
        except Exception as error:
            raise JsonRpcInvalidParams(message=texts.NOT_VALID.format(method=data.get("method"))) from error

    def _type_of(self, data: dict[str, Any]) -> Any:
        """The class that describes a message; pygls' loose ones for methods that LSP does not know."""
        method = data.get("method")
        if "error" in data and "id" in data:
            return types.ResponseErrorMessage
        if method is None:
            return self._result_types.pop(data.get("id", ""), None) or JsonRPCResponseMessage
        loose = JsonRPCRequestMessage if "id" in data else JsonRPCNotification
        return self.get_message_type(method) or loose

    def _renumber_trigger(self, data: dict[str, Any]) -> None:
        """Older clients count trigger kinds from 0; a connection that once sent 0 is one of them."""
        params = data.get("params")
        context = params.get("context") if isinstance(params, dict) else None
        if not isinstance(context, dict):
            return
        self._counts_from_zero = self._counts_from_zero or context.get("triggerKind") == 0
        if self._counts_from_zero and isinstance(context.get("triggerKind"), int):
            context["triggerKind"] += 1

    def _refuse(self, message: dict[str, Any], error: JsonRpcException) -> None:
        """Answer a malformed request with an error; a malformed notification is dropped."""
        if "id" in message and "method" in message:
            refusal = JsonRpcInvalidParams(message=texts.NOT_VALID.format(method=message["method"]))
            self._send_response(message["id"], None, refusal.to_response_error())
        elif (waiter := self._request_futures.pop(message.get("id", ""), None)) is not None:
            # The client answered a request of ours with a result of the wrong shape.
            waiter.cancel()
        else:
            logger.debug("dropped a malformed %s", message.get("method", "message"), exc_info=error)

    def _execute_handler(
        self,
        msg_id: str | int,
        handler: Callable[..., Any],
        callback: Callable[[Any], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """Run a plain handler now; run the coroutine that it may return as a task under the request's id."""
        if inspect.isgeneratorfunction(handler):
            super()._execute_handler(msg_id, handler, callback, args, kwargs)
            return
        self._answer(msg_id, handler, callback, args or (), kwargs or {})

    def _answer(
        self,
        msg_id: str | int,
        handler: Callable[..., Any],
        callback: Callable[[Any], None],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        try:
            result = handler(*args, **kwargs)
        except Exception as error:
            callback(failed(error))
            return
        if isinstance(result, Later):
            waiting: Any = result.future
            self._request_futures[msg_id] = waiting
            waiting.add_done_callback(lambda future: callback(shaped(future, result.shape)))
        elif inspect.iscoroutine(result):
            task: Any = asyncio.ensure_future(result)
            self._request_futures[msg_id] = task
            task.add_done_callback(callback)
        else:
            callback(done(result))

    def _send_handler_result(self, future: Any, *, msg_id: str | int) -> None:
        """Answer a request; a failure is logged by its kind, never with its parameters."""
        error = None if future.cancelled() else future.exception()
        if isinstance(error, JsonRpcException):
            self._request_futures.pop(msg_id, None)
            self._send_response(msg_id, None, error.to_response_error())
            return
        super()._send_handler_result(future, msg_id=msg_id)

    def _send_response(self, msg_id: str | int, result: Any = None, error: Any = None) -> None:
        """An error that nobody expected is answered by its kind alone: its text may hold code or a key.

        A result that is plain JSON already goes out as it is.
        """
        if error is None and isinstance(result, dict | None):
            self._send_data({"jsonrpc": self.VERSION, "id": msg_id, "result": result})
            return
        if error is not None and error.code == JsonRpcInternalError.CODE:
            kind = error.message.partition(":")[0]
            sentence = f"This is a mistake of Midstream's own ({kind}); its log says where."
            error = types.ResponseError(code=error.code, message=sentence)
        super()._send_response(msg_id, result, error)

    def _handle_cancel_notification(self, msg_id: str | int) -> None:
        """Cancelling what is finished or unknown is ordinary: the answer and the cancel crossed."""
        future: Any = self._request_futures.get(msg_id)
        if isinstance(future, asyncio.Task):
            # A task that is cancelled before its first step never learns of it, nor does what it waits for.
            asyncio.get_running_loop().call_soon(future.cancel)
        elif asyncio.isfuture(future):
            future.cancel()
        else:
            logger.debug("nothing to cancel for id %r", msg_id)

    def _handle_response(self, msg_id: str | int, result: Any = None, error: Any = None) -> None:
        """Take a reply; one whose waiter was cancelled meanwhile is dropped."""
        future = self._request_futures.get(msg_id)
        if future is not None and future.done():
            self._request_futures.pop(msg_id, None)
            return
        super()._handle_response(msg_id, result, error)

    @property
    def was_shut_down(self) -> bool:
        """True once the client has asked for an orderly end."""
        return self._shutdown

    @lsp_method(types.EXIT)
    def lsp_exit(self, *args: Any) -> Generator[Any, Any, None]:
        """The process ends where it was started, not in the middle of a message."""
        if (handler := self.fm.features.get(types.EXIT)) is not None:
            yield handler, args, None

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: Any) -> None:
        self._own_handler(types.TEXT_DOCUMENT_DID_OPEN, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: Any) -> None:
        self._own_handler(types.TEXT_DOCUMENT_DID_CHANGE, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: Any) -> None:
        self._own_handler(types.TEXT_DOCUMENT_DID_CLOSE, params)

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    def lsp_workspace__execute_command(self, params: types.ExecuteCommandParams) -> Any:
        """Call the handler with its raw arguments; its coroutine runs under this request's id."""
        handler = self.fm.commands.get(params.command)
        if handler is None:
            raise JsonRpcInvalidParams(message=texts.NO_COMMAND.format(command=params.command))
        return handler(*(params.arguments or ()))

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *args: Any) -> Generator[Any, Any, None]:
        """pygls cancels what is in flight; the list is copied, since a cancel may answer at once."""
        if (handler := self.fm.features.get(types.SHUTDOWN)) is not None:
            yield handler, args, None
        for msg_id, future in list(self._request_futures.items()):
            if msg_id != self.msg_id and not future.done():
                future.cancel()
        self._shutdown = True

    def _own_handler(self, method: str, params: Any) -> None:
        if (handler := self.fm.features.get(method)) is not None:
            handler(params)


class Server(LanguageServer):
    """pygls' server, serving our protocol and reporting nothing through pop-ups."""

    protocol: Protocol

    def __init__(self, version: str) -> None:
        super().__init__(
            "midstream",
            version,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=None,
            protocol_cls=Protocol,
            converter_factory=default_converter,
        )

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Failures of handlers are logged; the user is told what concerns the user by the engine."""
        if source is not FeatureRequestError:
            logger.error("%s: %s", getattr(source, "__name__", source), type(error).__name__)


class Intake:
    """Feeds a connection's bytes to its protocol. `ended` is set when the peer cannot be understood."""

    def __init__(self, protocol: Protocol, ended: asyncio.Event) -> None:
        self._protocol = protocol
        self._framer = Framer()
        self._ended = ended

    def __call__(self, data: bytes) -> None:
        try:
            bodies = self._framer.push(data)
        except FramingError as error:
            logger.error("the client does not speak LSP: %s", error)
            self._ended.set()
            return
        for body in bodies:
            self._protocol.receive(body)
