"""The counts of clients' calls and streams, under the keys of `croupier_loadtest.monitor.counters`."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import grpc

from croupier_api.v1.errors_pb2 import ERROR_REASON_SLOW_READER
from croupier_client import CroupierError, Internal, TimedOut, Unavailable
from croupier_client.endpoints import STREAM_SECONDS
from croupier_loadtest.measures import CALLS_BROKEN, Measures
from croupier_loadtest.monitor.counters import UNCOUNTED_REASONS, rpc_key

NOTICED_SECONDS = 1.0
"""The longest time from the break of a connection until gRPC opens no more calls on it."""
ENDED_SECONDS = 5.0
"""The longest time from the break of a connection until its calls have ended, also those of slow readers."""
OPENING_SECONDS = 5.0
"""The longest time from the opening of a stream to its first message."""


class BrokenOnPurpose(Unavailable):
    """A call whose connection the load test itself broke: no failure, but retried like one."""


@contextmanager
def counted_call(measures: Measures, path: str, *, clock: Callable[[], float] = time.perf_counter) -> Iterator[None]:
    """Time one attempt at a unary call, and count how it ended.

    Raises BrokenOnPurpose if the load test itself broke its connection.
    """
    began, code = clock(), None
    try:
        yield
        code = "OK"
    except CroupierError as error:
        code = service_code(error)
        count_limit(measures, error)
        if broken := broken_on_purpose(measures, path, error, began, clock()):
            raise broken from error
        count_error(measures, error)
        raise
    finally:
        measures.count("calls")
        measures.count(rpc_key(path, code))
        measures.record_time(f"rpc {path.rpartition('/')[2]}", clock() - began)


@contextmanager
def counted_stream(
    measures: Measures, path: str, *, resumed: bool, clock: Callable[[], float] = time.perf_counter
) -> Iterator[Callable[[], None]]:
    """Count a stream: its start, its resume and its end; yields a function to call for each message.

    Raises BrokenOnPurpose if the load test itself broke its connection.
    """
    method, code, has_received, began = path.rpartition("/")[2], None, False, clock()

    def received() -> None:
        nonlocal has_received
        if not has_received:
            has_received = True
            measures.count("streams resumed", int(resumed))

    measures.count("calls")
    measures.count(f"streams opened {method}")
    try:
        yield received
        code = "OK"
    except CroupierError as error:
        code = service_code(error)
        count_limit(measures, error)
        ended = clock()
        if broken := broken_on_purpose(measures, path, error, began, ended):
            raise broken from error
        # The client itself ends a stream because of its age, to open another.
        is_renewal = isinstance(error, TimedOut) and not error.reason_name
        if not (is_renewal and ended - began > STREAM_SECONDS - OPENING_SECONDS):
            count_error(measures, error)
        measures.count("slow readers", int(error.reason == ERROR_REASON_SLOW_READER))
        raise
    finally:
        measures.count(rpc_key(path, code))
        if not has_received:
            measures.count("streams resumed", int(resumed and code == "OK"))
            measures.count(f"silent streams {method}", int(code is None))


def broken_on_purpose(
    measures: Measures, path: str, error: CroupierError, began: float, ended: float
) -> BrokenOnPurpose | None:
    """Count and return the error of a call whose connection the load test broke; None for any other error.

    `began` and `ended` are seconds of the clock of `Measures.broken_at`.
    """
    is_unavailable = error.code is grpc.StatusCode.UNAVAILABLE and not error.reason_name
    is_in_time = began < measures.broken_at + NOTICED_SECONDS and ended < measures.broken_at + ENDED_SECONDS
    if not (is_unavailable and is_in_time):
        return None
    count_broken(measures, path)
    return BrokenOnPurpose(grpc.StatusCode.UNAVAILABLE, f"the load test broke the connection: {error}")


def count_broken(measures: Measures, path: str) -> None:
    """Count a call whose connection or stream the load test broke."""
    measures.count(f"{CALLS_BROKEN}{path.rpartition('/')[2]}")


def record_failed(measures: Measures, operation: str, error: CroupierError) -> None:
    """Count a failed operation of a player, unless the load test itself broke its connection."""
    if not isinstance(error, BrokenOnPurpose):
        measures.record_failure(f"{operation}: {error.code.name} {error.reason_name}".strip(), str(error))


def service_code(error: CroupierError) -> str | None:
    """Return the code with which a service ended a call; None if the client, the connection or the gateway ended it."""
    return error.code.name if error.reason_name and error.metadata.get("source") != "gateway" else None


def count_limit(measures: Measures, error: CroupierError) -> None:
    """Count a call that a limit of a service refused, by the name of the limit."""
    if limit := error.metadata.get("limit"):
        measures.count(f"limited {limit}")


def count_refused_action(measures: Measures, reason: str) -> None:
    """Count the refusal of an action by its reason, if the services' counters are compared for it."""
    if reason not in UNCOUNTED_REASONS:
        measures.count(f"actions refused {reason}")


def count_error(measures: Measures, error: CroupierError) -> None:
    """Count an error by its code if it is a failure, or by its reason if it is a refusal."""
    if error.reason_name and not is_failure(error):
        measures.count(f"refused {error.reason_name}")
    else:
        measures.record_failure(f"{error.code.name} {error.reason_name}".strip(), str(error))


def is_retried(failure: str) -> bool:
    """Return whether a failure, by its name in `count_error`, is of one attempt, which the client retries."""
    return failure.split()[0] in grpc.StatusCode.__members__


def is_failure(error: CroupierError) -> bool:
    """Return whether a service failed, as opposed to a refusal."""
    return isinstance(error, Unavailable | Internal)
