"""Errors of the services and of connections to them.

Refusals of calls and of actions in streams are the same google.rpc.Status with the same details. Their reasons are the
values of the contract's ErrorReason, whose comments say what to do about each.
"""

from collections.abc import Mapping
from types import MappingProxyType

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from croupier_api.v1.errors_pb2 import (
    ERROR_REASON_ILLEGAL_ACTION,
    ERROR_REASON_NOT_YOUR_TURN,
    ERROR_REASON_STALE_SEQUENCE,
    ERROR_REASON_SUPERSEDED,
    ERROR_REASON_UNSPECIFIED,
    ErrorReason,
)

DOMAIN = "croupier"
"""The domain of the ErrorInfo of every refusal of a service or the gateway."""
_DETAILS_KEY = "grpc-status-details-bin"
_REASON_PREFIX = "ERROR_REASON_"
_NO_METADATA: Mapping[str, str] = MappingProxyType({})


class CroupierError(Exception):
    """A failed call, stream or action.

    `code` is the gRPC status code, `message` a sentence for developers. `reason` is for programs:
    ERROR_REASON_UNSPECIFIED if there is none, and for a reason that is newer than this client. `field` is the path of
    the wrong field of the request, or empty. `metadata` is that of ErrorInfo. `retry_after_seconds` is the time after
    which a retry helps, None if the service does not say.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        message: str,
        *,
        reason: ErrorReason.ValueType = ERROR_REASON_UNSPECIFIED,
        newer_reason: str = "",
        field: str = "",
        metadata: Mapping[str, str] = _NO_METADATA,
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.reason = reason
        self.field = field
        self.metadata = metadata
        self.retry_after_seconds = retry_after_seconds
        self._newer_reason = newer_reason

    @property
    def reason_name(self) -> str:
        """Return the reason as ErrorInfo has it, for example "UNKNOWN_TABLE"; empty if there is none."""
        if self.reason == ERROR_REASON_UNSPECIFIED:
            return self._newer_reason
        return ErrorReason.Name(self.reason).removeprefix(_REASON_PREFIX)

    @property
    def rule(self) -> str:
        """Return the id of the violated rule; empty if there is none."""
        return self.metadata.get("rule", "")

    def __str__(self) -> str:
        labels = ", ".join(label for label in (self.code.name, self.reason_name, self.rule) if label)
        return f"{self.message} ({labels})"


class InvalidArgument(CroupierError):
    """The request is malformed; it will never be accepted as it is."""


class FailedPrecondition(CroupierError):
    """The request is not possible in the current state."""


class IllegalAction(FailedPrecondition):
    """The rules forbid the action now, or it is not this seat's turn; nothing changed."""


class StaleSequence(CroupierError):
    """The table is beyond the sequence that the caller expected."""


class Superseded(CroupierError):
    """A newer stream of the same player replaces this one, which is therefore not opened again."""


class NotFound(CroupierError):
    """The resource does not exist, or the caller may not know of it."""


class AlreadyExists(CroupierError):
    """The resource exists already, or the request_id belongs to another request."""


class PermissionDenied(CroupierError):
    """The caller is authenticated, but lacks the permission."""


class Unauthenticated(CroupierError):
    """The caller is not authenticated."""


class LimitReached(CroupierError):
    """A limit was reached, or a stream was read too slowly."""


class Unavailable(CroupierError):
    """The service or the connection to it failed; a retry may succeed."""


class TimedOut(Unavailable):
    """No answer came in time; the request may have been carried out."""


class Internal(CroupierError):
    """The service failed."""


class BrokenStream(CroupierError):
    """A stream violated the contract."""

    def __init__(self, message: str) -> None:
        super().__init__(grpc.StatusCode.DATA_LOSS, message)


class SequenceError(BrokenStream):
    """An entry of the log is missing or repeated."""

    def __init__(self, expected: int, got: int) -> None:
        super().__init__(f"the stream should continue with sequence {expected}, it continued with {got}")
        self.expected = expected
        self.got = got


class FoldError(BrokenStream):
    """A fact does not fit the view."""


_BY_CODE: Mapping[grpc.StatusCode, type[CroupierError]] = MappingProxyType(
    {
        grpc.StatusCode.INVALID_ARGUMENT: InvalidArgument,
        grpc.StatusCode.OUT_OF_RANGE: InvalidArgument,
        grpc.StatusCode.FAILED_PRECONDITION: FailedPrecondition,
        grpc.StatusCode.NOT_FOUND: NotFound,
        grpc.StatusCode.ALREADY_EXISTS: AlreadyExists,
        grpc.StatusCode.PERMISSION_DENIED: PermissionDenied,
        grpc.StatusCode.UNAUTHENTICATED: Unauthenticated,
        grpc.StatusCode.RESOURCE_EXHAUSTED: LimitReached,
        grpc.StatusCode.UNAVAILABLE: Unavailable,
        grpc.StatusCode.DEADLINE_EXCEEDED: TimedOut,
        grpc.StatusCode.INTERNAL: Internal,
        grpc.StatusCode.UNKNOWN: Internal,
        grpc.StatusCode.DATA_LOSS: Internal,
    }
)
_BROKEN_CODES = frozenset({grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.CANCELLED})
"""Codes without a reason by which a broken connection or stream shows itself beside UNAVAILABLE.

Every error of a service or the gateway has a reason. Without one they come from HTTP/2, where the gateway resets the
stream of an engine that is gone, and an engine that stops a call that has just arrived; and from gRPC's library for
asyncio: if a server ends a stream while the client writes to it, as an engine does that stops while a player acts, the
status that it sent is replaced by INTERNAL, "Internal error from Core".
"""
_BY_REASON: Mapping[ErrorReason.ValueType, type[CroupierError]] = MappingProxyType(
    {
        ERROR_REASON_ILLEGAL_ACTION: IllegalAction,
        ERROR_REASON_NOT_YOUR_TURN: IllegalAction,
        ERROR_REASON_STALE_SEQUENCE: StaleSequence,
        ERROR_REASON_SUPERSEDED: Superseded,
    }
)
"""Reasons with a class that their code alone does not determine."""
_BY_NUMBER: Mapping[int, grpc.StatusCode] = MappingProxyType({code.value[0]: code for code in grpc.StatusCode})


def from_status(status: status_pb2.Status) -> CroupierError:
    """Return the error for the status of a refusal, a CroupierError for a code without a class."""
    info, bad, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
    # Unpack fills the message if the detail is of its type.
    found = {type(message) for detail in status.details for message in (info, bad, retry) if detail.Unpack(message)}
    code = _BY_NUMBER.get(status.code, grpc.StatusCode.UNKNOWN)
    reason_name = info.reason if info.domain == DOMAIN else ""
    reason = _reason(reason_name)
    kind = _BY_REASON.get(reason) or _BY_CODE.get(code, CroupierError)
    return kind(
        code,
        status.message,
        reason=reason,
        newer_reason=reason_name,
        field=bad.field_violations[0].field if bad.field_violations else "",
        metadata=dict(info.metadata),
        retry_after_seconds=max(retry.retry_delay.ToMilliseconds() / 1000, 0.0) if type(retry) in found else None,
    )


def _reason(name: str) -> ErrorReason.ValueType:
    value = ErrorReason.DESCRIPTOR.values_by_name.get(_REASON_PREFIX + name)
    return ERROR_REASON_UNSPECIFIED if value is None else ErrorReason.Value(value.name)


def from_rpc_error(error: grpc.RpcError) -> CroupierError:
    """Return the error for a failed call, asyncio or blocking; Unavailable if its connection or stream broke."""
    if not isinstance(error, grpc.Call | grpc.aio.AioRpcError):
        return Unavailable(grpc.StatusCode.UNAVAILABLE, "the call failed without a status")
    return from_answer(_status_of(error))


def from_answer(status: status_pb2.Status) -> CroupierError:
    """Return the error for the status of a call; Unavailable if it means that the connection or stream broke."""
    refusal = from_status(status)
    if refusal.code in _BROKEN_CODES and not refusal.reason_name:
        return Unavailable(grpc.StatusCode.UNAVAILABLE, f"the connection broke: {refusal}")
    return refusal


def _status_of(error: grpc.Call | grpc.aio.AioRpcError) -> status_pb2.Status:
    number: int = error.code().value[0]
    message = error.details() or "the call failed without a message"
    sent = dict(error.trailing_metadata() or ()).get(_DETAILS_KEY, b"")
    try:
        details = status_pb2.Status.FromString(sent if isinstance(sent, bytes) else sent.encode()).details
        return status_pb2.Status(code=number, message=message, details=details)
    except DecodeError:
        return status_pb2.Status(code=number, message=message)
