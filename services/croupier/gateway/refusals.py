"""The gateway's own refusals: Envoy's local replies, as JSON and as a gRPC status.

They are errors of croupier/runtime/errors.py, as services have them; the metadata of ErrorInfo names the gateway as
their source.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.rpc.status_pb2 import Status

from croupier.runtime.errors import (
    InternalFault,
    LimitReached,
    MalformedRequest,
    NotImplementedHere,
    NotPermitted,
    ServiceError,
    TimedOut,
    Unauthenticated,
    Unavailable,
    to_status,
)
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
    kind: type[ServiceError]
    reason: ErrorReason.ValueType
    message: str
    details: str = ""
    http_status: int = 0
    retry_seconds: int | None = None
    includes_envoy_message: bool = False
    """Whether Envoy's own message follows, in JSON."""
    field: str = ""
    """The faulty field, in JSON: a command of Envoy."""

    @property
    def code(self) -> int:
        """Return the number of the gRPC code."""
        return int(self.kind.code.value[0])

    @property
    def json(self) -> Mapping[str, Any]:
        """Return the google.rpc.Status in the same JSON as that of services."""
        reply = ": %LOCAL_REPLY_BODY%" if self.includes_envoy_message else ""
        return MessageToDict(self._as_status(reply, self.field), preserving_proto_field_name=True)

    def headers(self, is_grpc: bool) -> Mapping[str, str]:
        """Return the header that JSON from services has too, or the status as headers of a gRPC response."""
        code = {"grpc-status": str(self.code)}
        if not is_grpc:
            return code
        details = base64.b64encode(self._as_status().SerializeToString(deterministic=True)).rstrip(b"=").decode()
        return code | {"grpc-message": self.message, "grpc-status-details-bin": details}

    def _as_status(self, reply: str = "", field: str = "") -> Status:
        error = self.kind(
            self.reason,
            self.message + reply,
            field=field,
            retry_after_seconds=self.retry_seconds,
            metadata={"source": "gateway"},
        )
        return to_status(error)


def _malformed(message: str, details: str = "", *, includes_envoy_message: bool = False, field: str = "") -> Refusal:
    reason = errors_pb2.ERROR_REASON_MALFORMED_REQUEST
    return Refusal(
        400, MalformedRequest, reason, message, details, includes_envoy_message=includes_envoy_message, field=field
    )


def _unsupported(status: int, message: str, details: str = "", http_status: int = 0) -> Refusal:
    reason = errors_pb2.ERROR_REASON_UNSUPPORTED_PROTOCOL
    return Refusal(status, MalformedRequest, reason, message, details, http_status)


def _unauthenticated(status: int, details: str = "") -> Refusal:
    reason = errors_pb2.ERROR_REASON_INVALID_ACCESS_TOKEN
    message = "no valid access token: send one as 'authorization: Bearer ...', from /v1/sign-in"
    return Refusal(status, Unauthenticated, reason, message, details, http_status=401)


def _too_large(status: int, message: str) -> Refusal:
    return Refusal(status, LimitReached, errors_pb2.ERROR_REASON_REQUEST_TOO_LARGE, message)


def _too_late(status: int, message: str) -> Refusal:
    return Refusal(status, TimedOut, errors_pb2.ERROR_REASON_SERVICE_TIMEOUT, message)


def _unavailable(status: int) -> Refusal:
    message = "the service is not available: try again"
    return Refusal(status, Unavailable, errors_pb2.ERROR_REASON_SERVICE_UNAVAILABLE, message, retry_seconds=1)


REFUSALS = (
    _unsupported(
        403,
        "Upgrade and CONNECT are not supported here: only /v1/tables/ID/play is a WebSocket, without a query",
        "startsWith('upgrade_failed')",
        http_status=400,
    ),
    # Envoy's status for a token with another audience is 403.
    _unauthenticated(403, "startsWith('jwt_authn')"),
    # The messages of json_bodies.lua and of the transcoder name the field and its fault. All others of Envoy are about
    # HTTP or itself.
    _malformed(
        "invalid request",
        "startsWith('lua_response')",
        includes_envoy_message=True,
        field="%DYNAMIC_METADATA(croupier:field)%",
    ),
    _malformed("invalid request", "contains('json_transcode_failure')", includes_envoy_message=True),
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
        NotPermitted,
        errors_pb2.ERROR_REASON_ORIGIN_NOT_ALLOWED,
        "web pages of this origin may not call here: the operator can allow it",
    ),
    Refusal(
        404,
        NotImplementedHere,
        errors_pb2.ERROR_REASON_UNKNOWN_METHOD,
        "unknown path or method: `croupier gateway openapi` lists them",
    ),
    Refusal(
        405,
        NotImplementedHere,
        errors_pb2.ERROR_REASON_UNKNOWN_METHOD,
        "this path has other methods: the header 'allow' lists them",
    ),
    _too_late(408, "the request took too long to arrive"),
    _too_large(413, f"the body is too large: at most {MAX_REQUEST_BYTES // 1024} KiB"),
    Refusal(
        415,
        MalformedRequest,
        errors_pb2.ERROR_REASON_UNSUPPORTED_MEDIA_TYPE,
        "unsupported content type: send JSON with 'content-type: application/json'",
    ),
    _unsupported(
        426,
        "this path is a WebSocket: expected GET with 'upgrade: websocket' over HTTP/1.1",
        "startsWith('direct_response')",
    ),
    _unsupported(426, "unsupported version: expected HTTP/1.1 or HTTP/2"),
    Refusal(
        429,
        LimitReached,
        errors_pb2.ERROR_REASON_TOO_MANY_REQUESTS,
        "too many requests from this address: wait a second and try again",
        retry_seconds=1,
    ),
    _too_large(431, f"the headers are too large: at most {MAX_HEADERS} headers and {MAX_HEADER_KIBIBYTES} KiB"),
    _unsupported(501, "unsupported transfer encoding: send the body in chunks or with its length"),
    # A protocol error of the service, which a lost connection may cause.
    _unavailable(502),
    _unavailable(503),
    _too_late(504, "the service took too long: the call may have taken effect all the same"),
    # Any other error.
    Refusal(400, InternalFault, errors_pb2.ERROR_REASON_INTERNAL_FAULT, "the gateway failed"),
)
"""The first match is used; the last one matches every status from its own on."""
