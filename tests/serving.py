"""A gRPC service on loopback, as programs start it, and its refusals."""

from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import grpc
import structlog
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from prometheus_client import CollectorRegistry

from croupier.runtime.identity import TokenVerifier
from croupier.runtime.interceptor import Authenticator, CallInterceptor
from croupier.runtime.metrics import RpcMetrics
from croupier.runtime.server import AddServices, listen


@asynccontextmanager
async def serving(
    add: AddServices,
    verifier: TokenVerifier,
    open_methods: frozenset[str] = frozenset(),
    *,
    names: Sequence[str] = (),
    port: int = 0,
) -> AsyncIterator[str]:
    """The address of a service that takes these tokens, which runs until the end of the block."""
    authenticator, metrics = Authenticator(verifier, open_methods), RpcMetrics(CollectorRegistry())
    interceptor = CallInterceptor(authenticator, metrics, structlog.get_logger())
    listener = await listen(f"127.0.0.1:{port}", names, add, interceptor)
    try:
        yield listener.address
    finally:
        await listener.server.stop(None)


class Refusal(NamedTuple):
    """The refusal of a call."""

    code: str
    reason: str
    field: str = ""


async def refusal(call: Awaitable[Any]) -> Refusal:
    """The refusal of a call, which must be refused."""
    try:
        answer = await call
    except grpc.aio.AioRpcError as error:
        info, request = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
        for detail in getattr(rpc_status.from_call(error), "details", ()):
            for message in (info, request):
                detail.Unpack(message)
        assert info.domain == ("croupier" if info.reason else "")
        return Refusal(error.code().name, info.reason, *(violation.field for violation in request.field_violations))
    raise AssertionError(f"the call was answered: {answer}")
