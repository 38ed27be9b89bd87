"""A gRPC service on loopback, and its refusals."""

from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import structlog
from prometheus_client import CollectorRegistry

from croupier.runtime.identity.tokens import TokenVerifier
from croupier.runtime.observation.metrics import RpcMetrics
from croupier.runtime.server.calls import Calls
from croupier.runtime.server.grpc_server import AddServices, listen
from croupier.runtime.server.interceptor import CallInterceptor
from tests import refusals


@asynccontextmanager
async def serving(
    add: AddServices,
    verifier: TokenVerifier,
    open_methods: frozenset[str] = frozenset(),
    *,
    names: Sequence[str] = (),
    port: int = 0,
) -> AsyncIterator[str]:
    """Serve with a verifier of tokens until the end of the block; yields the address."""
    calls = Calls(verifier, RpcMetrics(CollectorRegistry()), structlog.get_logger())
    listener = await listen(f"127.0.0.1:{port}", names, add, CallInterceptor(calls, open_methods))
    try:
        yield listener.address
    finally:
        await listener.server.stop(None)


class Refusal(NamedTuple):
    """The code, the reason and the field of a refused call."""

    code: str
    reason: str
    field: str = ""


async def refusal(call: Awaitable[Any]) -> Refusal:
    """Return the refusal of a call, which must be refused."""
    status = await refusals.refusal(call)
    return Refusal(status.code, status.reason, status.field)
