"""The interceptor of all calls: authentication, budgets, log context, metrics, and errors as gRPC status."""

import re
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, TypeAlias

import grpc
import structlog
from google.protobuf.message import DecodeError
from grpc_status import rpc_status
from opentelemetry import trace

from croupier.runtime.costs import cost_of
from croupier.runtime.errors import InternalFault, MalformedRequest, NotImplementedHere, ServiceError, to_status
from croupier.runtime.identity import Caller, TokenVerifier, bearer_token, caller_network, set_caller
from croupier.runtime.logs import Logger
from croupier.runtime.metrics import RpcMetrics
from croupier.runtime.network import NETWORK_HEADER, decode_network
from croupier.runtime.rate_limit import Budgets, TooManyCalls, begin_charging
from croupier.runtime.refusal_log import RefusalLog
from croupier.runtime.traced_calls import ServicerContext as Context
from croupier.runtime.traced_calls import set_code, traced_handler
from croupier.runtime.tracing import TABLE_ID
from croupier_api.v1 import errors_pb2

REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
"""The request ids that are taken from outside: gRPC refuses to send any text on, and logs should not contain it."""
BOUND_TABLE_ID = re.compile(r"[!-~]{1,64}")
"""The table ids that are added to lines of the log and to spans."""
UNKNOWN_METHOD = "unknown"
"""The name of all unknown methods in logs and metrics."""
OPEN_SERVICES = ("/grpc.health.v1.", "/grpc.reflection.")

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Authenticates callers; `open_methods` need no token, nor do unknown methods."""

    verifier: TokenVerifier
    open_methods: frozenset[str] = frozenset()

    def authenticate(self, method: str, metadata: Mapping[str, str]) -> Caller:
        """Return the caller, an anonymous one for open methods; raises Unauthenticated."""
        network = decode_network(metadata.get(NETWORK_HEADER, ""))
        if method == UNKNOWN_METHOD or method in self.open_methods or method.startswith(OPEN_SERVICES):
            return Caller("", "", network)
        return self.verifier.verify(bearer_token(dict(metadata)), network)


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Wraps every handler of a server; without `budgets` anyone may call as often as they like."""

    def __init__(
        self,
        authenticator: Authenticator,
        metrics: RpcMetrics,
        logger: Logger,
        budgets: Budgets | None = None,
    ) -> None:
        self._authenticator = authenticator
        self._metrics = metrics
        self._logger = logger
        self._budgets = budgets
        self._refusals = RefusalLog(logger, time.monotonic_ns)
        self._wrapped: dict[str, Handler] = {}
        """The wrapped handlers by method, made once: those of each call would stay in memory as long as its stream."""

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable["Handler | None"]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """Return the wrapped handler of a method, or one that refuses an unknown method."""
        method = handler_call_details.method
        if (known := self._wrapped.get(method)) is not None:
            return known
        handler = await continuation(handler_call_details)
        if handler is None:
            # A stream handler refuses unary calls and streams alike, before it reads a message.
            refuse = self._wrap_stream(UNKNOWN_METHOD, _refuse_unknown, None)
            return grpc.stream_stream_rpc_method_handler(refuse)
        self._wrapped[method] = wrapped = self._wrap(method, handler)
        return wrapped

    # The stubs describe handlers of the threaded server; those here are coroutines and asynchronous iterators.
    def _wrap(self, method: str, handler: Any) -> Handler:
        if method.startswith(OPEN_SERVICES):
            open_handler: Handler = handler
            return open_handler
        if handler.stream_stream:
            # The handler reads and decodes its requests itself, message by message.
            wrapped = self._wrap_stream(method, handler.stream_stream, None)
            return grpc.stream_stream_rpc_method_handler(
                wrapped, handler.request_deserializer, handler.response_serializer
            )
        decode = handler.request_deserializer or bytes
        if handler.unary_stream:
            wrapped = self._wrap_stream(method, handler.unary_stream, decode)
            return grpc.unary_stream_rpc_method_handler(wrapped, None, handler.response_serializer)
        unary = self._wrap_unary(method, handler.unary_unary, decode)
        return grpc.unary_unary_rpc_method_handler(unary, None, handler.response_serializer)

    def _wrap_unary(
        self, method: str, handler: Callable[[Any, Context], Awaitable[Any]], decode: Callable[[bytes], Any]
    ) -> Callable[[bytes, Context], Awaitable[Any]]:
        async def serve(raw: bytes, context: Context) -> Any:
            started = time.perf_counter()
            code, failure = "CANCELLED", None
            try:
                self._begin(method, context)
                request = _decoded(decode, raw)
                _bind_table_of(request)
                response = await handler(request, context)
                code = "OK"
                return response
            except Exception as error:  # noqa: BLE001 - every fault becomes a status
                failure = self._error_of(error, context)
                code = _code_name(failure, context)
            finally:
                self._record_end(method, code)
                self._metrics.seconds.labels(method).observe(time.perf_counter() - started)
            # It is counted before the answer is sent: a caller with an answer finds it in the metrics.
            return await _abort(failure, context)

        return traced_handler(method, serve)

    def _wrap_stream(
        self, method: str, handler: Callable[[Any, Context], Any], decode: Callable[[bytes], Any] | None
    ) -> Callable[[Any, Context], Awaitable[None]]:
        async def serve(raw: Any, context: Context) -> None:
            code, failure = "CANCELLED", None
            self._metrics.open_calls.labels(method).inc()
            try:
                self._begin(method, context)
                request = _decoded(decode, raw) if decode else raw
                _bind_table_of(request)
                await _run_stream(handler(request, context), context)
                code = "OK"
            except Exception as error:  # noqa: BLE001 - every fault becomes a status
                failure = self._error_of(error, context)
                code = _code_name(failure, context)
            finally:
                self._metrics.open_calls.labels(method).dec()
                self._record_end(method, code)
            await _abort(failure, context)

        return traced_handler(method, serve)

    def _record_end(self, method: str, code: str) -> None:
        self._metrics.calls.labels(method, code).inc()
        set_code(trace.get_current_span(), code)

    def _begin(self, method: str, context: Context) -> None:
        metadata = {key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)}
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(method=method, request_id=_request_id(metadata))
        if table_id := metadata.get("x-table-id", ""):
            _bind_table(table_id)
        caller = self._authenticator.authenticate(method, metadata)
        set_caller(caller)
        if caller.id:
            structlog.contextvars.bind_contextvars(player_id=caller.id)
        self._charge(method, caller)

    def _charge(self, method: str, caller: Caller) -> None:
        if self._budgets is None:
            return
        if caller.network is None:
            self._metrics.without_network.inc()
        try:
            begin_charging(self._budgets, caller, cost_of(method))
        except TooManyCalls:
            self._metrics.limited.labels(method).inc()
            raise

    def _error_of(self, error: Exception, context: Context) -> ServiceError | None:
        """Return the error to answer with, or None if the call was aborted already; logs it."""
        if isinstance(error, ServiceError):
            if error.limit:
                self._metrics.refusals.labels(error.limit).inc()
            self._refusals.add(error, caller_network())
            return _without_traceback(error)
        if isinstance(error, grpc.aio.AbortError) or context.done():
            return None
        self._logger.error("call failed", exc_info=error)
        return InternalFault(errors_pb2.ERROR_REASON_INTERNAL_FAULT, "internal fault: the server's log has the details")


def _without_traceback(error: ServiceError) -> ServiceError:
    """Return the error without its traceback and causes.

    Their frames refer to the error and perhaps to a whole table: reference cycles, which only the garbage collector
    would free, and it runs seldom here.
    """
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return error


def _decoded(decode: Callable[[bytes], Any], raw: bytes) -> Any:
    try:
        return decode(raw)
    except DecodeError:
        raise MalformedRequest(
            errors_pb2.ERROR_REASON_MALFORMED_REQUEST,
            "invalid message: expected the protobuf message of this method, with all strings in UTF-8",
        ) from None


def _request_id(metadata: Mapping[str, str]) -> str:
    """Return the caller's id of a call, or a new one if there is none or it has other characters."""
    named = metadata.get("x-request-id", "")
    return named if REQUEST_ID.fullmatch(named) else uuid.uuid4().hex


def _bind_table_of(request: Any) -> None:
    table_id = getattr(request, "table_id", "")
    if isinstance(table_id, str) and table_id:
        _bind_table(table_id)


def _bind_table(table_id: str) -> None:
    if BOUND_TABLE_ID.fullmatch(table_id):
        structlog.contextvars.bind_contextvars(table_id=table_id)
        trace.get_current_span().set_attribute(TABLE_ID, table_id)


async def _run_stream(responses: AsyncGenerator[Any, None] | Awaitable[None], context: Context) -> None:
    if isinstance(responses, AsyncGenerator):
        # Close the generator of a call that ends early now, instead of by the garbage collector.
        async with aclosing(responses):
            async for response in responses:
                await context.write(response)
    else:
        await responses


async def _refuse_unknown(_requests: object, _context: Context) -> None:
    raise NotImplementedHere(
        errors_pb2.ERROR_REASON_UNKNOWN_METHOD,
        "unknown method: see the reflection service for the methods",
    )


async def _abort(failure: ServiceError | None, context: Context) -> None:
    if failure is not None and not context.done():
        await context.abort_with_status(rpc_status.to_status(to_status(failure)))


def _code_name(failure: ServiceError | None, context: Context) -> str:
    if failure is not None:
        return failure.code.name
    code = context.code()
    return code.name if isinstance(code, grpc.StatusCode) else "CANCELLED"
