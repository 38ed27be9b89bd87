"""The errors with which services refuse calls, and their gRPC statuses."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

import grpc
from google.protobuf import duration_pb2
from google.rpc import error_details_pb2, status_pb2

from croupier_api.v1.errors_pb2 import ERROR_REASON_INVALID_FIELD, ErrorReason

DOMAIN = "croupier"
MAX_MESSAGE_CHARACTERS = 1000
"""A status is sent in a header, which transports limit to 8 KB."""
MAX_ID_CHARACTERS = 64
REASON_PREFIX = "ERROR_REASON_"
NO_METADATA: Mapping[str, str] = MappingProxyType({})


class ServiceError(Exception):
    """A refused call: a reason for programs, a message for developers, and metadata such as the id of a rule."""

    code: ClassVar[grpc.StatusCode]

    def __init__(
        self,
        reason: ErrorReason.ValueType,
        message: str,
        *,
        field: str = "",
        retry_after_seconds: float | None = None,
        metadata: Mapping[str, str] = NO_METADATA,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message[:MAX_MESSAGE_CHARACTERS]
        self.field = field
        self.retry_after_seconds = retry_after_seconds
        self.metadata = metadata

    @property
    def reason_name(self) -> str:
        """Return the reason without the prefix of the enum, for example "UNKNOWN_TABLE"."""
        return ErrorReason.Name(self.reason).removeprefix(REASON_PREFIX)

    @property
    def rule(self) -> str:
        """Return the id of the violated rule, or an empty text."""
        return self.metadata.get("rule", "")

    @property
    def limit(self) -> str:
        """Return the name of the limit that refused the call, or an empty text."""
        return self.metadata.get("limit", "")


class MalformedRequest(ServiceError):
    """The request itself is wrong, in any state; `field` names the wrong part."""

    code = grpc.StatusCode.INVALID_ARGUMENT


class IllegalNow(ServiceError):
    """The request is right in itself, but not now: by a rule, a turn or a state."""

    code = grpc.StatusCode.FAILED_PRECONDITION


class StaleSequence(ServiceError):
    """The table has moved on since what the caller saw."""

    code = grpc.StatusCode.ABORTED


class NotFound(ServiceError):
    """There is no such thing, or none that the caller may see."""

    code = grpc.StatusCode.NOT_FOUND


class AlreadyExists(ServiceError):
    """The name is taken by something else."""

    code = grpc.StatusCode.ALREADY_EXISTS


class NotPermitted(ServiceError):
    """The caller may not do this here."""

    code = grpc.StatusCode.PERMISSION_DENIED


class Unauthenticated(ServiceError):
    """The caller has no identity, or an invalid one."""

    code = grpc.StatusCode.UNAUTHENTICATED


class LimitReached(ServiceError):
    """Too much, too many or too slow; `metadata` has the name of the limit as `limit`."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED


class NotImplementedHere(ServiceError):
    """There is no such call."""

    code = grpc.StatusCode.UNIMPLEMENTED


class Unavailable(ServiceError):
    """It does not work now, but soon."""

    code = grpc.StatusCode.UNAVAILABLE


class TimedOut(ServiceError):
    """It did not end in time."""

    code = grpc.StatusCode.DEADLINE_EXCEEDED


class InternalFault(ServiceError):
    """Any other exception: a bare text for the caller, and a traceback in the log."""

    code = grpc.StatusCode.INTERNAL


KINDS = tuple(ServiceError.__subclasses__())
"""The error of each gRPC status."""


def invalid_field(field: str, message: str) -> MalformedRequest:
    """Return the error of a field with an invalid value."""
    return MalformedRequest(ERROR_REASON_INVALID_FIELD, message, field=field)


def decode_id(field: str, text: str, max_characters: int = MAX_ID_CHARACTERS) -> str:
    """Return an id; raises MalformedRequest unless it has 1 to `max_characters` printable ASCII characters."""
    if not 1 <= len(text) <= max_characters or not (text.isascii() and text.isprintable()):
        raise invalid_field(field, f"invalid {field}: expected 1 to {max_characters} printable ASCII characters")
    return text


def to_status(error: ServiceError) -> status_pb2.Status:
    """Return the google.rpc.Status of an error: with ErrorInfo, and with BadRequest and RetryInfo where they fit."""
    number: int = error.code.value[0]
    status = status_pb2.Status(code=number, message=error.message)
    info = error_details_pb2.ErrorInfo(reason=error.reason_name, domain=DOMAIN, metadata=dict(error.metadata))
    status.details.add().Pack(info)
    if error.field:
        violation = error_details_pb2.BadRequest.FieldViolation(field=error.field, description=error.message)
        status.details.add().Pack(error_details_pb2.BadRequest(field_violations=[violation]))
    if error.retry_after_seconds is not None:
        delay = duration_pb2.Duration()
        delay.FromMilliseconds(round(error.retry_after_seconds * 1000))
        status.details.add().Pack(error_details_pb2.RetryInfo(retry_delay=delay))
    return status


def from_status(status: status_pb2.Status) -> ServiceError | None:
    """Return the error that `to_status` wrote; None for any other status, also one with a reason of another version."""
    info, bad, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
    # Unpack fills the message if the detail is of its type.
    found = {type(message) for detail in status.details for message in (info, bad, retry) if detail.Unpack(message)}
    kind = next((kind for kind in KINDS if kind.code.value[0] == status.code), None)
    reason = ErrorReason.DESCRIPTOR.values_by_name.get(REASON_PREFIX + info.reason)
    if kind is None or reason is None or info.domain != DOMAIN:
        return None
    return kind(
        ErrorReason.Value(reason.name),
        status.message,
        field=bad.field_violations[0].field if bad.field_violations else "",
        retry_after_seconds=retry.retry_delay.ToMilliseconds() / 1000 if type(retry) in found else None,
        metadata=dict(info.metadata),
    )
