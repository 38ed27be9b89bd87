"""The interceptor of all gRPC calls, which admits and records them (`calls.py`), and sends errors as gRPC status."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, nullcontext
from functools import partial
from typing import Any, TypeAlias

import grpc
from google.protobuf.message import DecodeError
from grpc_status import rpc_status

from croupier.runtime.admission.costs import ANSWER_BYTES_PER_UNIT
from croupier.runtime.admission.network import ADDRESS_HEADER, network_of
from croupier.runtime.errors import (
    MalformedRequest,
    NotImplementedHere,
    ServiceError,
    TimedOut,
    to_status,
)
from croupier.runtime.field_rules import check_fields
from croupier.runtime.identity.tokens import bearer_token
from croupier.runtime.observation.traced_calls import ServicerContext as Context
from croupier.runtime.observation.traced_calls import traced_handler
from croupier.runtime.server.call import Call
from croupier.runtime.server.calls import Calls, bind_table
from croupier.runtime.server.streamed_answer import StreamedAnswer
from croupier_api.v1 import errors_pb2

UNKNOWN_METHOD = "unknown"
"""The name of all unknown methods in logs and metrics."""
OPEN_SERVICES = ("/grpc.health.v1.", "/grpc.reflection.")

REQUEST_SECONDS = 5.0
"""The time in which a request has to arrive after its headers."""
SMALL_ANSWER_BYTES = 16 * 1024
"""Answers up to this size are in their call's cost, and do not count among those under way."""

Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
Decode: TypeAlias = Callable[[bytes], Any]
Encode: TypeAlias = Callable[[Any], bytes]


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Wraps every handler of a server.

    `open_methods` and unknown methods need no token. A request has to arrive in `request_seconds` after its headers.
    """

    def __init__(
        self,
        calls: Calls,
        open_methods: frozenset[str],
        request_seconds: float = REQUEST_SECONDS,
    ) -> None:
        self._calls = calls
        self._open_methods = {UNKNOWN_METHOD, *open_methods}
        self._request_seconds = request_seconds
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
            refuse = self._wrap_stream(UNKNOWN_METHOD, _refuse_unknown, None, bytes)
            return grpc.stream_stream_rpc_method_handler(refuse)
        self._wrapped[method] = wrapped = self._wrap(method, handler)
        return wrapped

    # The stubs describe handlers of the threaded server; those here are coroutines and asynchronous iterators.
    def _wrap(self, method: str, handler: Any) -> Handler:
        """Return a handler that is called with the headers, before the request has arrived, and sends bytes."""
        if method.startswith(OPEN_SERVICES):
            open_handler: Handler = handler
            return open_handler
        decode, encode = handler.request_deserializer or bytes, handler.response_serializer or bytes
        if handler.stream_stream:
            # The handler reads and decodes its requests itself, message by message.
            return grpc.stream_stream_rpc_method_handler(self._wrap_stream(method, handler.stream_stream, None, encode))
        if handler.unary_stream:
            return grpc.stream_stream_rpc_method_handler(
                self._wrap_stream(method, handler.unary_stream, decode, encode)
            )
        return grpc.stream_unary_rpc_method_handler(self._wrap_unary(method, handler.unary_unary, decode, encode))

    def _wrap_unary(
        self, method: str, handler: Callable[[Any, Call], Awaitable[Any]], decode: Decode, encode: Encode
    ) -> Callable[[Any, Context], Awaitable[Any]]:
        async def serve(_requests: object, context: Context) -> Any:
            started = 0.0
            code, failure = "CANCELLED", None
            try:
                call = self._begin(method, context)
                with self._calls.arriving(call.caller):
                    request = await self._request(decode, context)
                started = time.perf_counter()
                answer = encode(await handler(request, call))
                if len(answer) > SMALL_ANSWER_BYTES:
                    end = self._begin_answer(call, answer)
                    # The stub has a class in place of a protocol.
                    context.add_done_callback(lambda _context: end())  # type: ignore[arg-type]
                code = "OK"
                return answer
            except Exception as error:  # noqa: BLE001 - every fault becomes a status
                failure = self._error_of(error, method, context)
                code = _code_name(failure, context)
            finally:
                self._calls.record_end(method, code)
                if started:
                    self._calls.metrics.seconds.labels(method).observe(time.perf_counter() - started)
            # It is counted before the answer is sent: a caller with an answer finds it in the metrics.
            if failure is not None and not context.done():
                await context.abort_with_status(rpc_status.to_status(to_status(failure)))
            return None

        return traced_handler(method, serve)

    def _wrap_stream(
        self, method: str, handler: Callable[[Any, Call], Any], decode: Decode | None, encode: Encode
    ) -> Callable[[Any, Context], Awaitable[None]]:
        async def serve(requests: Any, context: Context) -> None:
            code, failure = "CANCELLED", None
            answer = StreamedAnswer(context)
            self._calls.metrics.open_calls.labels(method).inc()
            try:
                call = self._begin(method, context)
                limits = self._calls.limits
                async with limits.streams.held(call.caller) if limits else nullcontext():
                    request = await self._request(decode, context) if decode else requests
                    await self._run_stream(handler(request, call), call, encode, answer)
                code = "OK"
            except Exception as error:  # noqa: BLE001 - every fault becomes a status
                failure = self._error_of(error, method, context)
                code = _code_name(failure, context)
            finally:
                self._calls.metrics.open_calls.labels(method).dec()
                self._calls.record_end(method, code)
            if failure is not None and not context.done():
                await answer.refuse(failure)

        return traced_handler(method, serve)

    async def _request(self, decode: Decode, context: Context) -> Any:
        """Return the one request of a call; raises TimedOut if it does not arrive in time, MalformedRequest."""
        try:
            async with asyncio.timeout(self._request_seconds):
                raw = await context.read()
        except TimeoutError:
            raise TimedOut(
                errors_pb2.ERROR_REASON_SERVICE_TIMEOUT,
                f"the request did not arrive: expected it within {self._request_seconds:g} s after its headers",
            ) from None
        request = _decoded(decode, raw)
        check_fields(request)
        table_id = getattr(request, "table_id", "")
        if isinstance(table_id, str) and table_id:
            bind_table(table_id)
        return request

    def _begin_answer(self, call: Call, answer: bytes) -> Callable[[], None]:
        """Let a call pay for a large answer, and count it as under way until the returned function is called."""
        call.admission.owe(len(answer) // ANSWER_BYTES_PER_UNIT)
        if self._calls.limits is None:
            return lambda: None
        answers = self._calls.limits.answers
        return partial(answers.release, answers.acquire(call.caller, len(answer)))

    async def _run_stream(
        self, responses: AsyncGenerator[Any, None] | Awaitable[None], call: Call, encode: Encode, answer: StreamedAnswer
    ) -> None:
        if not isinstance(responses, AsyncGenerator):
            await responses
            return
        # Close the generator of a call that ends early now, instead of by the garbage collector.
        async with aclosing(responses):
            async for response in responses:
                message = encode(response)
                if len(message) <= SMALL_ANSWER_BYTES:
                    await answer.write(message)
                    continue
                end = self._begin_answer(call, message)
                try:
                    await answer.write(message)
                finally:
                    end()

    def _begin(self, method: str, context: Context) -> Call:
        metadata = _text_metadata(context)
        self._calls.bind_log(method, metadata)
        token = None if method in self._open_methods else partial(bearer_token, metadata)
        return self._calls.begin(method, metadata, token, context)

    def _error_of(self, error: Exception, method: str, context: Context) -> ServiceError | None:
        """Return the error to answer with, or None if the call was aborted already; logs it."""
        if not isinstance(error, ServiceError) and (isinstance(error, grpc.aio.AbortError) or context.done()):
            return None
        return self._calls.refusal_of(error, method, network_of(_text_metadata(context).get(ADDRESS_HEADER, "")))


def _text_metadata(context: Context) -> dict[str, str]:
    return {key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)}


def _decoded(decode: Decode, raw: Any) -> Any:
    if raw is not grpc.aio.EOF:
        try:
            return decode(raw)
        except DecodeError:
            pass
    raise MalformedRequest(
        errors_pb2.ERROR_REASON_MALFORMED_REQUEST,
        "invalid message: expected the protobuf message of this method, with all strings in UTF-8",
    )


async def _refuse_unknown(_requests: object, _call: Call) -> None:
    raise NotImplementedHere(
        errors_pb2.ERROR_REASON_UNKNOWN_METHOD,
        "unknown method: see the reflection service for the methods",
    )


def _code_name(failure: ServiceError | None, context: Context) -> str:
    if failure is not None:
        return failure.code.name
    code = context.code()
    return code.name if isinstance(code, grpc.StatusCode) else "CANCELLED"
