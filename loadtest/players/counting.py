"""What clients count of their calls and streams, as `loadtest.watch.counted` says."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import grpc

from croupier_client import CroupierError, Internal, Unavailable
from croupier_client.endpoints import STREAM_SECONDS
from croupier_client.errors import TimedOut
from croupier_client.retry import is_lost_connection
from loadtest.measures import Measures
from loadtest.watch.counted import REASONS_OF_NO_RULE, rpc_key

OPENING_SECONDS = 5.0
"""A stream may be so much older than its first message is."""


LOST = "connection lost"


@contextmanager
def counted_call(measures: Measures, path: str) -> Iterator[None]:
    """One attempt at a unary call: how long it took, and how it ended."""
    started, code = time.perf_counter(), None
    try:
        yield
        code = "OK"
    except CroupierError as error:
        code = said(error)
        tell_error(measures, error)
        raise
    finally:
        measures.count("calls")
        measures.count(rpc_key(path, code))
        measures.took(f"rpc {path.rpartition('/')[2]}", time.perf_counter() - started)


@contextmanager
def counted_stream(
    measures: Measures, path: str, *, resumed: bool, clock: Callable[[], float] = time.perf_counter
) -> Iterator[Callable[[], None]]:
    """One stream: that it was opened, resumed, and how it ended; gives what is to be told of each message."""
    method, code, heard, began = path.rpartition("/")[2], None, False, clock()

    def hears() -> None:
        nonlocal heard
        if not heard:
            heard = True
            measures.count("streams resumed", int(resumed))

    measures.count("calls")
    measures.count(f"streams opened {method}")
    try:
        yield hears
        code = "OK"
    except CroupierError as error:
        code = said(error)
        if not _is_of_age(error, clock() - began):
            tell_error(measures, error)
        measures.count("slow readers", int(error.reason == "SLOW_READER"))
        raise
    finally:
        measures.count(rpc_key(path, code))
        if not heard:
            measures.count("streams resumed", int(resumed and code == "OK"))
            measures.count(f"unheard streams {method}", int(code is None))


def _is_of_age(error: CroupierError, seconds: float) -> bool:
    """Whether the client itself ended a stream, as it does with each that is old enough, and opens another."""
    return isinstance(error, TimedOut) and not error.reason and seconds > STREAM_SECONDS - OPENING_SECONDS


def said(error: CroupierError) -> str | None:
    """The code with which a service ended a call; None if something else did, and no service knows of it."""
    return error.code.name if error.reason else None


def count_refused_action(measures: Measures, reason: str) -> None:
    """Count the refusal of an action by its reason, if it is one that the services are asked for too."""
    if reason not in REASONS_OF_NO_RULE:
        measures.count(f"actions refused {reason}")


def tell_error(measures: Measures, error: CroupierError) -> None:
    """Count an error by its code if it is a failure, or by its reason if it is a refusal."""
    if error.reason and not is_failure(error):
        measures.count(f"refused {error.reason}")
    else:
        measures.failed(_failure(error), str(error))


def is_tried_again(failure: str) -> bool:
    """Whether a failure, as `tell_error` names it, is that of one attempt, after which the client makes another."""
    return failure.startswith(LOST) or failure.split()[0] in grpc.StatusCode.__members__


def _failure(error: CroupierError) -> str:
    # The library calls some lost connections internal errors, at times; a service that fails gives a reason.
    if is_lost_connection(error):
        return f"{LOST} ({error.code.name})"
    return f"{error.code.name} {error.reason}".strip()


def is_failure(error: CroupierError) -> bool:
    """Whether a service failed, rather than said no."""
    return isinstance(error, Unavailable | Internal)
