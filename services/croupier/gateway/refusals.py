"""The gateway's own refusals: Envoy's local replies, as JSON and as a gRPC status.

They have the details of a service's refusal (croupier/runtime/errors.py): a gRPC status code, a message, ErrorInfo with
a reason and, where a retry helps, RetryInfo. The metadata of ErrorInfo names the gateway as their source.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import MessageToDict
from google.rpc import code_pb2
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from croupier.runtime.errors import DOMAIN, REASON_PREFIX
from croupier.runtime.server.grpc_server import MAX_REQUEST_BYTES
from croupier_api.v1 import errors_pb2
from croupier_api.v1.errors_pb2 import ErrorReason

MAX_HEADER_KIBIBYTES = 16
MAX_HEADERS = 60


@dataclass(frozen=True, slots=True)
class Refusal:
    """The replacement of a local reply of Envoy.

    `status` is Envoy's HTTP status. If a status has several causes, `details` is a condition in CEL on Envoy's response
    code details. In JSON `http_status` replaces Envoy's own.
    """

    status: int
    code: int
    reason: ErrorReason.ValueType
    message: str
    details: str = ""
    http_status: int = 0
    retry_seconds: int = 0
    includes_envoy_message: bool = False
    """Whether Envoy's own message follows, in JSON."""

    @property
    def json(self) -> Mapping[str, Any]:
        """Return the google.rpc.Status in the same JSON as that of services."""
        reply = ": %LOCAL_REPLY_BODY%" if self.includes_envoy_message else ""
        return MessageToDict(self._as_status(reply), preserving_proto_field_name=True)

    @property
    def grpc_headers(self) -> Mapping[str, str]:
        """Return the status as headers of a gRPC response without a message."""
        details = base64.b64encode(self._as_status().SerializeToString(deterministic=True))
        return {
            "grpc-status": str(self.code),
            "grpc-message": self.message,
            "grpc-status-details-bin": details.rstrip(b"=").decode(),
        }

    @property
    def json_headers(self) -> Mapping[str, str]:
        """Return the header that JSON from services has too."""
        return {"grpc-status": str(self.code)}

    def _as_status(self, reply: str = "") -> Status:
        status = Status(code=self.code, message=self.message + reply)
        reason = ErrorReason.Name(self.reason).removeprefix(REASON_PREFIX)
        status.details.add().Pack(ErrorInfo(reason=reason, domain=DOMAIN, metadata={"source": "gateway"}))
        if self.retry_seconds:
            status.details.add().Pack(RetryInfo(retry_delay=Duration(seconds=self.retry_seconds)))
        return status


def _malformed(message: str, details: str = "") -> Refusal:
    return Refusal(400, code_pb2.INVALID_ARGUMENT, errors_pb2.ERROR_REASON_MALFORMED_REQUEST, message, details)


def _unauthenticated(status: int, details: str = "") -> Refusal:
    message = "no valid access token: send one as 'authorization: Bearer ...', from /v1/sign-in"
    return Refusal(
        status,
        code_pb2.UNAUTHENTICATED,
        errors_pb2.ERROR_REASON_INVALID_ACCESS_TOKEN,
        message,
        details,
        http_status=401,
    )


def _unavailable(status: int) -> Refusal:
    message = "the service is not available: try again"
    return Refusal(status, code_pb2.UNAVAILABLE, errors_pb2.ERROR_REASON_SERVICE_UNAVAILABLE, message, retry_seconds=1)


REFUSALS = (
    Refusal(
        403,
        code_pb2.INVALID_ARGUMENT,
        errors_pb2.ERROR_REASON_UNSUPPORTED_PROTOCOL,
        "Upgrade and CONNECT are not supported",
        "startsWith('upgrade_failed')",
        http_status=400,
    ),
    # Envoy's status for a token with another audience is 403.
    _unauthenticated(403, "startsWith('jwt_authn')"),
    Refusal(
        400,
        code_pb2.INVALID_ARGUMENT,
        errors_pb2.ERROR_REASON_MALFORMED_REQUEST,
        "invalid request",
        "contains('json_transcode_failure')",
        # This message of Envoy names the field and its fault. All others are about HTTP or Envoy.
        includes_envoy_message=True,
    ),
    _malformed("invalid body: expected base64 for 'application/grpc-web-text'", "contains('base_64')"),
    _malformed("invalid header name: '_' is not allowed", "endsWith('unexpected_underscore')"),
    _malformed("ambiguous path: '#' and escaped '/', '\\' and NUL are not allowed", "startsWith('path_normalization')"),
    _malformed("ambiguous query: it repeats a field of the path, or escapes a name", "startsWith('direct_response')"),
    _malformed("missing header 'host'", "endsWith('missing_host_header')"),
    _malformed("invalid header 'host': expected a name or an address", "endsWith('invalid_authority')"),
    _malformed("invalid character in the path or a header", "endsWith('invalid_characters')"),
    _malformed("invalid HTTP"),
    _unauthenticated(401),
    Refusal(
        403,
        code_pb2.PERMISSION_DENIED,
        errors_pb2.ERROR_REASON_ORIGIN_NOT_ALLOWED,
        "web pages of this origin may not call here: the operator can allow it",
    ),
    Refusal(
        404,
        code_pb2.UNIMPLEMENTED,
        errors_pb2.ERROR_REASON_UNKNOWN_METHOD,
        "unknown path or method: `croupier gateway openapi` lists them",
    ),
    Refusal(
        408, code_pb2.DEADLINE_EXCEEDED, errors_pb2.ERROR_REASON_SERVICE_TIMEOUT, "the request took too long to arrive"
    ),
    Refusal(
        413,
        code_pb2.RESOURCE_EXHAUSTED,
        errors_pb2.ERROR_REASON_REQUEST_TOO_LARGE,
        f"the body is too large: at most {MAX_REQUEST_BYTES // 1024} KiB",
    ),
    Refusal(
        415,
        code_pb2.INVALID_ARGUMENT,
        errors_pb2.ERROR_REASON_UNSUPPORTED_MEDIA_TYPE,
        "unsupported content type: send JSON with 'content-type: application/json'",
    ),
    Refusal(
        426,
        code_pb2.INVALID_ARGUMENT,
        errors_pb2.ERROR_REASON_UNSUPPORTED_PROTOCOL,
        "unsupported version: expected HTTP/1.1 or HTTP/2",
    ),
    Refusal(
        429,
        code_pb2.RESOURCE_EXHAUSTED,
        errors_pb2.ERROR_REASON_TOO_MANY_REQUESTS,
        "too many requests from this address: wait a second and try again",
        retry_seconds=1,
    ),
    Refusal(
        431,
        code_pb2.RESOURCE_EXHAUSTED,
        errors_pb2.ERROR_REASON_REQUEST_TOO_LARGE,
        f"the headers are too large: at most {MAX_HEADERS} headers and {MAX_HEADER_KIBIBYTES} KiB",
    ),
    Refusal(
        501,
        code_pb2.INVALID_ARGUMENT,
        errors_pb2.ERROR_REASON_UNSUPPORTED_PROTOCOL,
        "unsupported transfer encoding: send the body in chunks or with its length",
    ),
    # A protocol error of the service, which a lost connection may cause.
    _unavailable(502),
    _unavailable(503),
    Refusal(
        504,
        code_pb2.DEADLINE_EXCEEDED,
        errors_pb2.ERROR_REASON_SERVICE_TIMEOUT,
        "the service took too long: the call may have taken effect all the same",
    ),
    # Any other error.
    Refusal(400, code_pb2.INTERNAL, errors_pb2.ERROR_REASON_INTERNAL_FAULT, "the gateway failed"),
)
"""The first match is used; the last one matches every status from its own on."""
