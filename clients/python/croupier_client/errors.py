"""Every way in which the services, or the way to them, can say no.

CroupierError
    InvalidArgument         the request is malformed; it will never be accepted as it is
    FailedPrecondition      not possible as things stand
        IllegalAction       the rules forbid the action now, or it is not this seat's turn
    StaleSequence           the table has moved on since the sequence that the caller expected
    NotFound                there is no such thing, or the caller may not know of it
    AlreadyExists           there is such a thing already
    PermissionDenied        the caller is known, and may not
    Unauthenticated         the caller is not known
    LimitReached            a limit was reached, or a stream was read too slowly
    Unavailable             the service, or the way to it, is down; trying again may help
        TimedOut            no answer came in time; what was asked may have happened all the same
    Internal                the service failed
    BrokenStream            a stream broke the promises of the contract
        SequenceError       an entry of the log was left out or came twice
        FoldError           a fact does not fit the view
"""

from collections.abc import Mapping
from types import MappingProxyType

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2

from croupier_api.v1 import engine_pb2

_DETAILS_KEY = "grpc-status-details-bin"
_ILLEGAL_ACTION_REASONS = frozenset({"ILLEGAL_ACTION", "NOT_YOUR_TURN"})
_NOTHING: Mapping[str, str] = MappingProxyType({})


class CroupierError(Exception):
    """What went wrong: a gRPC status code, a reason for programs, the rule that speaks (or ""), and a sentence.

    `retry_after_seconds` is how long the service asks to wait before another attempt, 0 if it does not say.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        message: str,
        *,
        reason: str = "",
        rule: str = "",
        metadata: Mapping[str, str] = _NOTHING,
        retry_after_seconds: float = 0.0,
    ) -> None:
        super().__init__(code, message, reason, rule)
        self.code = code
        self.message = message
        self.reason = reason
        self.rule = rule
        self.metadata = metadata
        self.retry_after_seconds = retry_after_seconds

    def __str__(self) -> str:
        labels = ", ".join(label for label in (self.code.name, self.reason, self.rule) if label)
        return f"{self.message} ({labels})"


class InvalidArgument(CroupierError):
    """The request is malformed."""


class FailedPrecondition(CroupierError):
    """Not possible as things stand."""


class IllegalAction(FailedPrecondition):
    """The rules forbid the action now, or it is not this seat's turn; nothing changed."""


class StaleSequence(CroupierError):
    """The table has moved on since the sequence that the caller expected."""


class NotFound(CroupierError):
    """There is no such thing, or the caller may not know of it."""


class AlreadyExists(CroupierError):
    """There is such a thing already."""


class PermissionDenied(CroupierError):
    """The caller is known, and may not."""


class Unauthenticated(CroupierError):
    """The caller is not known."""


class LimitReached(CroupierError):
    """A limit was reached."""


class Unavailable(CroupierError):
    """The service, or the way to it, is down."""


class TimedOut(Unavailable):
    """No answer came in time; what was asked may have happened all the same."""


class Internal(CroupierError):
    """The service failed."""


class BrokenStream(CroupierError):
    """A stream broke the promises of the contract."""

    def __init__(self, message: str) -> None:
        super().__init__(grpc.StatusCode.DATA_LOSS, message, reason=type(self).__name__)


class SequenceError(BrokenStream):
    """An entry of the log was left out or came twice."""

    def __init__(self, expected: int, got: int) -> None:
        super().__init__(f"the stream should go on with sequence {expected}, it went on with {got}")
        self.expected = expected
        self.got = got


class FoldError(BrokenStream):
    """A fact does not fit the view."""


_BY_CODE: Mapping[grpc.StatusCode, type[CroupierError]] = MappingProxyType(
    {
        grpc.StatusCode.INVALID_ARGUMENT: InvalidArgument,
        grpc.StatusCode.OUT_OF_RANGE: InvalidArgument,
        grpc.StatusCode.FAILED_PRECONDITION: FailedPrecondition,
        grpc.StatusCode.ABORTED: StaleSequence,
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
_BY_NUMBER: Mapping[int, grpc.StatusCode] = MappingProxyType({code.value[0]: code for code in grpc.StatusCode})


def make_error(
    code: grpc.StatusCode,
    message: str,
    *,
    reason: str = "",
    rule: str = "",
    metadata: Mapping[str, str] = _NOTHING,
    retry_after_seconds: float = 0.0,
) -> CroupierError:
    """The error of the tree that stands for this code and reason; the tree's root for a code without a class."""
    kind = _BY_CODE.get(code, CroupierError)
    if kind is FailedPrecondition and reason in _ILLEGAL_ACTION_REASONS:
        kind = IllegalAction
    return kind(code, message, reason=reason, rule=rule, metadata=metadata, retry_after_seconds=retry_after_seconds)


def from_refusal(refusal: engine_pb2.Refusal) -> CroupierError:
    """The error that a refusal in a Play stream stands for."""
    code = _BY_NUMBER.get(refusal.code, grpc.StatusCode.UNKNOWN)
    return make_error(code, refusal.message, reason=refusal.reason, rule=refusal.rule)


def from_rpc_error(error: grpc.RpcError) -> CroupierError:
    """The error that a failed call, asyncio or blocking, stands for; UNKNOWN if it tells no status code."""
    if not isinstance(error, grpc.Call | grpc.aio.AioRpcError):
        return Internal(grpc.StatusCode.UNKNOWN, "the call failed without a status")
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    _read_details(dict(error.trailing_metadata() or ()).get(_DETAILS_KEY, b""), info, retry)
    message = error.details() or "the call failed without a message"
    metadata = dict(info.metadata)
    return make_error(
        error.code(),
        message,
        reason=info.reason,
        rule=metadata.get("rule", ""),
        metadata=metadata,
        retry_after_seconds=max(retry.retry_delay.ToMilliseconds() / 1000, 0.0),
    )


def _read_details(details: str | bytes, *wanted: Message) -> None:
    """Fill in what is wanted of a serialized google.rpc.Status; nothing if there is none or a proxy garbled it."""
    try:
        status = status_pb2.Status.FromString(details if isinstance(details, bytes) else details.encode())
        for message in wanted:
            any(detail.Unpack(message) for detail in status.details)
    except DecodeError:
        for message in wanted:
            message.Clear()
