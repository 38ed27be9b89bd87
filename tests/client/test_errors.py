"""Statuses and refusals as typed errors."""

import grpc
import pytest
from google.protobuf import duration_pb2
from google.rpc import error_details_pb2

from croupier_api.v1 import engine_pb2
from croupier_client import errors
from croupier_client.errors import CroupierError, from_refusal, from_rpc_error, make_error
from tests.client.fakes import refused


def rpc_error(code: grpc.StatusCode, details: bytes = b"") -> grpc.aio.AioRpcError:
    """What grpc raises, with the trailing metadata that a service sent."""
    trailing = grpc.aio.Metadata(("x-other", "1"))
    if details:
        trailing.add("grpc-status-details-bin", details)
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailing, details="the message")


CLASSES = {
    "INVALID_ARGUMENT": errors.InvalidArgument,
    "FAILED_PRECONDITION": errors.FailedPrecondition,
    "ABORTED": errors.StaleSequence,
    "NOT_FOUND": errors.NotFound,
    "ALREADY_EXISTS": errors.AlreadyExists,
    "PERMISSION_DENIED": errors.PermissionDenied,
    "UNAUTHENTICATED": errors.Unauthenticated,
    "RESOURCE_EXHAUSTED": errors.LimitReached,
    "UNAVAILABLE": errors.Unavailable,
    "DEADLINE_EXCEEDED": errors.TimedOut,
    "INTERNAL": errors.Internal,
    "UNKNOWN": errors.Internal,
    "UNIMPLEMENTED": CroupierError,
}


@pytest.mark.parametrize(("name", "kind"), CLASSES.items())
def test_class_by_code(name: str, kind: type[CroupierError]) -> None:
    code = grpc.StatusCode[name]
    error = from_rpc_error(rpc_error(code))
    assert type(error) is kind
    assert (error.code, error.message, error.reason, error.rule) == (code, "the message", "", "")
    assert type(from_refusal(engine_pb2.Refusal(code=code.value[0], message="no"))) is kind


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("ILLEGAL_ACTION", errors.IllegalAction),
        ("NOT_YOUR_TURN", errors.IllegalAction),
        ("NOT_FINISHED", errors.FailedPrecondition),
    ],
)
def test_class_by_reason(reason: str, kind: type[CroupierError]) -> None:
    status = refused(grpc.StatusCode.FAILED_PRECONDITION, "the message", reason, "110-BID-3")
    from_status = from_rpc_error(rpc_error(grpc.StatusCode.FAILED_PRECONDITION, status.SerializeToString()))
    refusal = engine_pb2.Refusal(code=9, reason=reason, rule="110-BID-3", message="the message")
    for error in (from_status, from_refusal(refusal)):
        assert type(error) is kind
        assert (error.reason, error.rule, error.message) == (reason, "110-BID-3", "the message")
    assert from_status.metadata == {"rule": "110-BID-3"}


def test_how_long_to_wait() -> None:
    code = grpc.StatusCode.RESOURCE_EXHAUSTED
    status = refused(code, "the message", "TOO_MANY_CALLS")
    assert from_rpc_error(rpc_error(code, status.SerializeToString())).retry_after_seconds == 0
    asked = error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(seconds=2, nanos=5_000_000))
    status.details.add().Pack(asked)
    error = from_rpc_error(rpc_error(code, status.SerializeToString()))
    assert (error.reason, error.retry_after_seconds) == ("TOO_MANY_CALLS", 2.005)


def test_garbled_details_lose_nothing_else() -> None:
    error = from_rpc_error(rpc_error(grpc.StatusCode.NOT_FOUND, b"\xff\xff\xff"))
    assert (type(error), error.message, error.reason) == (errors.NotFound, "the message", "")


def test_error_without_a_status_that_exists() -> None:
    assert type(from_rpc_error(grpc.RpcError())) is errors.Internal
    assert from_refusal(engine_pb2.Refusal(code=99, message="no")).code is grpc.StatusCode.UNKNOWN


def test_text_of_an_error() -> None:
    error = make_error(grpc.StatusCode.FAILED_PRECONDITION, "follow suit", reason="ILLEGAL_ACTION", rule="X-1")
    assert str(error) == "follow suit (FAILED_PRECONDITION, ILLEGAL_ACTION, X-1)"
    gap = errors.SequenceError(3, 5)
    assert (gap.expected, gap.got, gap.code) == (3, 5, grpc.StatusCode.DATA_LOSS)
    assert {"3", "5"} <= set(gap.message)
