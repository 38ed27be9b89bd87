"""What happens around every call: who calls, bound log fields, metrics, and errors as gRPC status."""

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

from croupier.runtime.errors import InternalFault, MalformedRequest, NotImplementedHere, ServiceError, to_status
from croupier.runtime.identity import NOBODY, Caller, TokenVerifier, bearer_token, remember_caller
from croupier.runtime.logs import Logger
from croupier.runtime.metrics import RpcMetrics
from croupier.runtime.player_limit import PlayerLimit, TooManyCalls
from croupier.runtime.traced_calls import Context, abort_code, traced_serving
from croupier.runtime.traces import Traces

LONGEST_BOUND_CHARACTERS = 64
OPEN_SERVICES = ("/grpc.health.v1.", "/grpc.reflection.")

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Finds out who calls; `open_methods` need nobody."""

    verifier: TokenVerifier
    open_methods: frozenset[str] = frozenset()

    def caller(self, method: str, metadata: Mapping[str, str]) -> Caller:
        """Who calls, NOBODY for open methods; raises Unauthenticated."""
        if method in self.open_methods or method.startswith(OPEN_SERVICES):
            return NOBODY
        return self.verifier.verify(bearer_token(dict(metadata)))


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Wraps every handler of a server; without a limit everybody may call as often as he likes."""

    def __init__(
        self,
        authenticator: Authenticator,
        metrics: RpcMetrics,
        logger: Logger,
        traces: Traces | None = None,
        limit: PlayerLimit | None = None,
    ) -> None:
        self._authenticator = authenticator
        self._metrics = metrics
        self._logger = logger
        self._traces = traces
        self._limit = limit

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable["Handler | None"]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        """The handler of a call with everything around it; an unknown method gets one that says so."""
        method = handler_call_details.method
        # The stubs describe handlers of the threaded server; those here are coroutines and asynchronous iterators.
        handler: Any = await continuation(handler_call_details)
        if handler is None:
            return grpc.unary_unary_rpc_method_handler(self._around_unary("unknown", _refuse_unknown, bytes))
        if method.startswith(OPEN_SERVICES):
            open_handler: Handler = handler
            return open_handler
        if handler.stream_stream:
            # Such a handler reads and decodes its own requests, message by message.
            around = self._around_stream(method, handler.stream_stream, None)
            return grpc.stream_stream_rpc_method_handler(
                around, handler.request_deserializer, handler.response_serializer
            )
        decode = handler.request_deserializer or bytes
        if handler.unary_stream:
            around = self._around_stream(method, handler.unary_stream, decode)
            return grpc.unary_stream_rpc_method_handler(around, None, handler.response_serializer)
        unary = self._around_unary(method, handler.unary_unary, decode)
        return grpc.unary_unary_rpc_method_handler(unary, None, handler.response_serializer)

    def _around_unary(
        self, method: str, handler: Callable[[Any, Context], Awaitable[Any]], decode: Callable[[bytes], Any]
    ) -> Callable[[bytes, Context], Awaitable[Any]]:
        async def serve(raw: bytes, context: Context) -> Any:
            started = time.perf_counter()
            code, failure = "CANCELLED", None
            try:
                self._begin(method, context)
                request = _decoded(decode, raw)
                _bind_table(request)
                response = await handler(request, context)
                code = "OK"
                return response
            except Exception as error:  # noqa: BLE001 - every fault becomes a status
                failure = self._failure(error, context)
                code = _code_name(failure, context)
            finally:
                self._metrics.calls.labels(method, code).inc()
                self._metrics.seconds.labels(method, code).observe(time.perf_counter() - started)
            # Counted before it is answered, so that who has the answer finds it in the metrics.
            return await _abort(failure, context)

        return traced_serving(self._traces, method, serve)

    def _around_stream(
        self, method: str, handler: Callable[[Any, Context], Any], decode: Callable[[bytes], Any] | None
    ) -> Callable[[Any, Context], Awaitable[None]]:
        async def serve(raw: Any, context: Context) -> None:
            code, failure = "CANCELLED", None
            self._metrics.open_calls.labels(method).inc()
            try:
                self._begin(method, context)
                request = _decoded(decode, raw) if decode else raw
                _bind_table(request)
                await _run_stream(handler(request, context), context)
                code = "OK"
            except Exception as error:  # noqa: BLE001 - every fault becomes a status
                failure = self._failure(error, context)
                code = _code_name(failure, context)
            finally:
                self._metrics.open_calls.labels(method).dec()
                self._metrics.calls.labels(method, code).inc()
            await _abort(failure, context)

        return traced_serving(self._traces, method, serve)

    def _begin(self, method: str, context: Context) -> None:
        metadata = {key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)}
        structlog.contextvars.clear_contextvars()
        request_id = metadata.get("x-request-id", "")[:LONGEST_BOUND_CHARACTERS] or uuid.uuid4().hex
        structlog.contextvars.bind_contextvars(method=method, request_id=request_id)
        if self._traces:
            structlog.contextvars.bind_contextvars(**self._traces.ids())
        if table_id := metadata.get("x-table-id", "")[:LONGEST_BOUND_CHARACTERS]:
            structlog.contextvars.bind_contextvars(table_id=table_id)
        known = self._authenticator.caller(method, metadata)
        remember_caller(known)
        if known is not NOBODY:
            structlog.contextvars.bind_contextvars(player_id=known.id)
            self._count(method, known)

    def _count(self, method: str, player: Caller) -> None:
        if self._limit is None:
            return
        try:
            self._limit.take(player.id)
        except TooManyCalls:
            self._metrics.limited.labels(method).inc()
            raise

    def _failure(self, error: Exception, context: Context) -> ServiceError | None:
        """What to answer: a ServiceError, or None when the call was aborted already."""
        if isinstance(error, ServiceError):
            # A flood must not become one of lines in the log; the metrics count it.
            tell = self._logger.debug if isinstance(error, TooManyCalls) else self._logger.info
            tell("call refused", reason=error.reason, code=error.code.name)
            return _alone(error)
        if isinstance(error, grpc.aio.AbortError) or context.done():
            return None
        self._logger.error("call failed", exc_info=error)
        return InternalFault("INTERNAL", "something went wrong here; it is in the log")


def _alone(error: ServiceError) -> ServiceError:
    """The error without the frames that it came through.

    They hold what was being worked on, a whole table perhaps, and the error in turn: circles, whose memory comes back
    when somebody looks for them only, and a busy service seldom does.
    """
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return error


def _decoded(decode: Callable[[bytes], Any], raw: bytes) -> Any:
    try:
        return decode(raw)
    except DecodeError:
        raise MalformedRequest(
            "MALFORMED_MESSAGE", "the message is not the protobuf that this method takes: are all texts in it UTF-8?"
        ) from None


def _bind_table(request: Any) -> None:
    table_id = getattr(request, "table_id", "")
    if isinstance(table_id, str) and table_id:
        structlog.contextvars.bind_contextvars(table_id=table_id[:LONGEST_BOUND_CHARACTERS])


async def _run_stream(responses: AsyncGenerator[Any, None] | Awaitable[None], context: Context) -> None:
    if isinstance(responses, AsyncGenerator):
        # A call that ends early must not leave its generator, and what it holds, to the garbage collector.
        async with aclosing(responses):
            async for response in responses:
                await context.write(response)
    else:
        await responses


async def _refuse_unknown(_request: bytes, _context: Context) -> None:
    raise NotImplementedHere(
        "UNKNOWN_METHOD", "there is no such method here: see the reflection service for those that are"
    )


async def _abort(failure: ServiceError | None, context: Context) -> None:
    if failure is not None and not context.done():
        await context.abort_with_status(rpc_status.to_status(to_status(failure)))


def _code_name(failure: ServiceError | None, context: Context) -> str:
    return abort_code(context) if failure is None else failure.code.name
