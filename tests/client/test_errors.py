"""Statuses and refusals as typed errors."""

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from croupier.runtime.errors import KINDS, ServiceError, to_status
from croupier_api.v1 import errors_pb2
from croupier_api.v1.errors_pb2 import ErrorReason
from croupier_client import errors
from croupier_client.errors import CroupierError, from_rpc_error, from_status
from tests.client.messages import refused


def rpc_error(code: grpc.StatusCode, details: bytes = b"") -> grpc.aio.AioRpcError:
    """Return the error that grpc raises, with the trailing metadata of a service."""
    trailing = grpc.aio.Metadata(("x-other", "1"))
    if details:
        trailing.add("grpc-status-details-bin", details)
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), trailing, details="the message")


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        ("INVALID_ARGUMENT", "", errors.InvalidArgument),
        ("FAILED_PRECONDITION", "", errors.FailedPrecondition),
        ("FAILED_PRECONDITION", "ILLEGAL_ACTION", errors.IllegalAction),
        ("FAILED_PRECONDITION", "NOT_YOUR_TURN", errors.IllegalAction),
        ("FAILED_PRECONDITION", "TABLE_NOT_FINISHED", errors.FailedPrecondition),
        ("ABORTED", "", CroupierError),
        ("ABORTED", "STALE_SEQUENCE", errors.StaleSequence),
        ("ABORTED", "SUPERSEDED", errors.Superseded),
        ("NOT_FOUND", "", errors.NotFound),
        ("ALREADY_EXISTS", "", errors.AlreadyExists),
        ("PERMISSION_DENIED", "", errors.PermissionDenied),
        ("UNAUTHENTICATED", "", errors.Unauthenticated),
        ("RESOURCE_EXHAUSTED", "", errors.LimitReached),
        ("UNAVAILABLE", "", errors.Unavailable),
        ("DEADLINE_EXCEEDED", "", errors.TimedOut),
        ("INTERNAL", "INTERNAL_FAULT", errors.Internal),
        ("DATA_LOSS", "", errors.Internal),
        ("UNIMPLEMENTED", "", CroupierError),
    ],
)
def test_the_class_of_an_error_follows_from_code_and_reason(code: str, reason: str, kind: type[CroupierError]) -> None:
    rule = "110-BID-3" if reason else ""
    number = ErrorReason.Value(f"ERROR_REASON_{reason or 'UNSPECIFIED'}")
    status = refused(grpc.StatusCode[code], "the message", number, rule)
    of_call = from_rpc_error(rpc_error(grpc.StatusCode[code], status.SerializeToString() if reason else b""))
    for error in (of_call, from_status(status)):
        assert type(error) is kind
        assert (error.code.name, error.message, error.reason_name, error.rule) == (code, "the message", reason, rule)
        assert (error.reason, error.retry_after_seconds) == (number, None)
        assert error.metadata == ({"rule": rule} if reason else {})


@pytest.mark.parametrize("kind", KINDS)
def test_a_refusal_by_a_service_has_all_its_details(kind: type[ServiceError]) -> None:
    raised = kind(
        errors_pb2.ERROR_REASON_TABLE_BUSY, "wait", field="a.b", retry_after_seconds=2.005, metadata={"sequence": "7"}
    )
    error = from_status(to_status(raised))
    assert (error.code, error.message, error.field) == (kind.code, "wait", "a.b")
    assert (error.reason, error.reason_name) == (errors_pb2.ERROR_REASON_TABLE_BUSY, "TABLE_BUSY")
    assert (error.retry_after_seconds, error.metadata) == (2.005, {"sequence": "7"})


@pytest.mark.parametrize(("domain", "name"), [("croupier", "NEW_IN_2030"), ("another.example", "")])
def test_a_newer_reason_has_a_name_only_and_those_of_others_are_ignored(domain: str, name: str) -> None:
    status = status_pb2.Status(code=8, message="no")
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason="NEW_IN_2030", domain=domain))
    error = from_status(status)
    assert (error.reason, error.reason_name) == (errors_pb2.ERROR_REASON_UNSPECIFIED, name)


def test_malformed_details_lose_nothing_else() -> None:
    error = from_rpc_error(rpc_error(grpc.StatusCode.NOT_FOUND, b"\xff\xff\xff"))
    assert (type(error), error.message, error.reason_name) == (errors.NotFound, "the message", "")


@pytest.mark.parametrize("code", ["INTERNAL", "UNKNOWN", "CANCELLED"])
def test_a_call_that_ends_so_without_a_reason_has_lost_its_connection(code: str) -> None:
    error = from_rpc_error(rpc_error(grpc.StatusCode[code]))
    assert (type(error), error.code) == (errors.Unavailable, grpc.StatusCode.UNAVAILABLE)
    assert error.message == f"the connection broke: the message ({code})"


def test_error_with_an_unknown_status() -> None:
    assert type(from_rpc_error(grpc.RpcError())) is errors.Unavailable
    assert from_status(status_pb2.Status(code=99, message="no")).code is grpc.StatusCode.UNKNOWN


def test_text_of_an_error() -> None:
    illegal = errors_pb2.ERROR_REASON_ILLEGAL_ACTION
    error = from_status(refused(grpc.StatusCode.FAILED_PRECONDITION, "follow suit", illegal, "X-1"))
    assert str(error) == "follow suit (FAILED_PRECONDITION, ILLEGAL_ACTION, X-1)"
    gap = errors.SequenceError(3, 5)
    assert (gap.expected, gap.got, gap.code) == (3, 5, grpc.StatusCode.DATA_LOSS)
    assert {"3", "5"} <= set(gap.message)
