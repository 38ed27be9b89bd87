"""Calls over any transport: identity, budgets, log context, metrics and errors."""

import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import structlog
from opentelemetry import trace

from croupier.runtime.admission.admission import Admission
from croupier.runtime.admission.budget import TooManyCalls
from croupier.runtime.admission.costs import cost_of
from croupier.runtime.admission.limits import Limits
from croupier.runtime.admission.network import ADDRESS_HEADER, network_of
from croupier.runtime.admission.refusal_log import RefusalLog
from croupier.runtime.errors import InternalFault, ServiceError
from croupier.runtime.identity.tokens import Caller, TokenVerifier
from croupier.runtime.observation.logs import Logger
from croupier.runtime.observation.metrics import RpcMetrics
from croupier.runtime.observation.traced_calls import set_code
from croupier.runtime.observation.tracing import TABLE_ID
from croupier.runtime.server.call import Call
from croupier_api.v1 import errors_pb2

REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
"""The request ids that are taken from outside: gRPC refuses to send any text on, and logs should not contain it."""
BOUND_TABLE_ID = re.compile(r"[!-~]{1,64}")
"""The table ids that are added to lines of the log and to spans."""

Headers = Mapping[str, str]
"""The headers of a call, by lower-case names."""


class Calls:
    """The calls at one port; without `limits` anyone may call as often as they like."""

    def __init__(
        self, verifier: TokenVerifier, metrics: RpcMetrics, logger: Logger, limits: Limits | None = None
    ) -> None:
        self.metrics = metrics
        self.limits = limits
        self._verifier = verifier
        self._logger = logger
        self._refusals = RefusalLog(logger, time.monotonic_ns)

    def bind_log(self, method: str, headers: Headers) -> None:
        """Add a call to the lines of the log from now on, and its table to its span."""
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(method=method, request_id=_request_id(headers))
        if table_id := headers.get("x-table-id", ""):
            bind_table(table_id)

    def begin(self, method: str, headers: Headers, token: Callable[[], str] | None, context: Any = None) -> Call:
        """Return the call of an authenticated caller who has paid for it; raises Unauthenticated, TooManyCalls.

        `token` returns the access token, or raises Unauthenticated; it is None for a method that needs none.
        """
        network = network_of(headers.get(ADDRESS_HEADER, ""))
        caller = Caller("", "", network) if token is None else self._verifier.verify(token(), network)
        if caller.id:
            structlog.contextvars.bind_contextvars(player_id=caller.id)
        if self.limits is not None and not caller.network:
            self.metrics.without_network.inc()
        admission = Admission(caller, self.limits, cost_of(method))
        admission.pay()
        return Call(caller, admission, context)

    @contextmanager
    def arriving(self, caller: Caller) -> Iterator[None]:
        """Hold a place of the caller's network while a request arrives; raises LimitReached if there is none."""
        if self.limits is None:
            yield
            return
        streams = self.limits.streams
        place = streams.acquire(replace(caller, id=""))
        try:
            yield
        finally:
            streams.release(place)

    def take_place(self, caller: Caller, evict: Callable[[ServiceError], None]) -> Callable[[], None]:
        """Take the place of a stream; returns the function that gives it back.

        `evict` is called with an error if another network gets it. Raises LimitReached if there is none.
        """
        if self.limits is None:
            return lambda: None
        streams = self.limits.streams
        return partial(streams.release, streams.acquire(caller, evict=lambda: evict(streams.evicted())))

    def record_end(self, method: str, code: str) -> None:
        """Count a call that has ended, with its code."""
        self.metrics.calls.labels(method, code).inc()
        set_code(trace.get_current_span(), code)

    def refusal_of(self, error: Exception, method: str, network: str) -> ServiceError:
        """Return the error to answer a call with; counts and logs it."""
        if not isinstance(error, ServiceError):
            self._logger.error("call failed", exc_info=error)
            message = "internal fault: the server's log has the details"
            return InternalFault(errors_pb2.ERROR_REASON_INTERNAL_FAULT, message)
        if error.limit:
            self.metrics.refusals.labels(error.limit).inc()
        if isinstance(error, TooManyCalls):
            self.metrics.limited.labels(method).inc()
        self._refusals.add(error, network)
        # The frames refer to the error and perhaps to a whole table: reference cycles, which only the garbage
        # collector would free, and it runs seldom here.
        error.__traceback__ = error.__context__ = error.__cause__ = None
        return error


def _request_id(headers: Headers) -> str:
    """Return the caller's id of a call, or a new one if there is none or it has other characters."""
    named = headers.get("x-request-id", "")
    return named if REQUEST_ID.fullmatch(named) else uuid.uuid4().hex


def bind_table(table_id: str) -> None:
    """Add a table to the lines of the log and to the span of the current call."""
    if BOUND_TABLE_ID.fullmatch(table_id):
        structlog.contextvars.bind_contextvars(table_id=table_id)
        trace.get_current_span().set_attribute(TABLE_ID, table_id)
