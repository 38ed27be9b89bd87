"""A table's stream over WebSocket: how it is opened, its frames, and the errors that its ends mean. No I/O."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import cycle
from random import Random
from types import MappingProxyType
from typing import Any, TypeAlias
from urllib.parse import quote

import grpc
from google.protobuf.json_format import Parse, ParseError
from google.protobuf.message import DecodeError
from google.rpc import status_pb2
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.frames import CloseCode
from websockets.http11 import Response

from croupier_api.v1 import engine_pb2
from croupier_client.endpoints import CONNECT_SECONDS, KEEPALIVE_SECONDS, MAX_RECEIVED_BYTES, STREAM_SECONDS, Endpoints
from croupier_client.errors import (
    BrokenStream,
    CroupierError,
    InvalidArgument,
    TimedOut,
    Unavailable,
    from_answer,
    from_status,
)
from croupier_client.proxy import proxy_url

TRANSPORTS = GRPC, WEBSOCKET = "grpc", "websocket"
"""The transports of tables' streams."""
Fail: TypeAlias = Callable[[CroupierError], CroupierError]
"""Returns the error to raise for a failure."""
CLOSE_SECONDS = 1.0
"""The time that a socket waits for the server's close frame."""
_CODES_OF_STATUSES = range(4001, 4017)
"""The close codes 4000 + the gRPC code."""
_CODE_BY_HTTP_STATUS: Mapping[int, grpc.StatusCode] = MappingProxyType(
    {
        400: grpc.StatusCode.INTERNAL,
        401: grpc.StatusCode.UNAUTHENTICATED,
        403: grpc.StatusCode.PERMISSION_DENIED,
        404: grpc.StatusCode.UNIMPLEMENTED,
        **dict.fromkeys((429, 502, 503, 504), grpc.StatusCode.UNAVAILABLE),
    }
)
"""The codes that gRPC's specification has for HTTP statuses without a gRPC status."""


def check_transport(transport: str) -> None:
    """Raise ValueError for an unknown transport."""
    if transport not in TRANSPORTS:
        raise ValueError(f"invalid transport {transport!r}: expected {GRPC!r} or {WEBSOCKET!r}")


class SocketSettings:
    """The settings of the sockets of one client, at its addresses in turn; raises ValueError without an address."""

    def __init__(
        self, endpoints: Endpoints, environment: Mapping[str, str], keepalive_seconds: float | None, random: Random
    ) -> None:
        if not endpoints.websocket:
            raise ValueError("invalid endpoints: expected an address `websocket` for the transport 'websocket'")
        addresses = endpoints.websocket.removeprefix("dns:///").split(",")
        self._addresses = cycle(random.sample(addresses, len(addresses)))
        self._environment = environment
        self._context = endpoints.tls.context() if endpoints.tls else None
        self._keepalive_seconds = KEEPALIVE_SECONDS if keepalive_seconds is None else keepalive_seconds

    def of_table(self, table_id: str, headers: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """Return the arguments of the library's `connect` for a new socket to a table, at the next address."""
        address = next(self._addresses).strip()
        return {
            "uri": f"{'wss' if self._context else 'ws'}://{address}/v1/tables/{quote(table_id, safe='')}/play",
            "ssl": self._context,
            "proxy": proxy_url(address, self._environment),
            "additional_headers": headers,
            "compression": None,
            "max_size": MAX_RECEIVED_BYTES,
            "open_timeout": CONNECT_SECONDS,
            "close_timeout": CLOSE_SECONDS,
            "ping_interval": self._keepalive_seconds,
            "ping_timeout": self._keepalive_seconds,
            # An app that logs at the level DEBUG would log frames, and so the access token.
            "logger": logging.Logger("croupier_client", logging.CRITICAL),
        }


class ErrorFrame(Exception):
    """The last message of a stream that the server refuses or ends with an error."""

    def __init__(self, status: status_pb2.Status) -> None:
        super().__init__(status.message)
        self.status = status


FAILURES = (OSError, WebSocketException, ErrorFrame)
"""The errors of a socket that does not open, breaks or ends."""


def message_of(frame: bytes) -> engine_pb2.PlayTableResponse:
    """Return the message of a frame; raises ErrorFrame, and BrokenStream if the frame is no message."""
    try:
        message = engine_pb2.PlayTableResponse.FromString(frame)
    except DecodeError:
        raise BrokenStream("the server sent a frame that is no message of a table") from None
    if message.HasField("error"):
        raise ErrorFrame(message.error)
    return message


def stream_expired() -> TimedOut:
    """Return the error of a stream that was open for STREAM_SECONDS."""
    return TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, f"the stream was open for {STREAM_SECONDS:g} seconds")


def end_of(error: Exception) -> CroupierError | None:
    """Return the error of one of FAILURES; None if the server ended the stream without an error."""
    if isinstance(error, ErrorFrame):
        return from_status(error.status)
    if isinstance(error, InvalidStatus):
        return _refusal_of(error.response)
    close = error.rcvd if isinstance(error, ConnectionClosed) else None
    if close is None:
        return Unavailable(grpc.StatusCode.UNAVAILABLE, f"the connection broke: {error or type(error).__name__}")
    if close.code in (CloseCode.NORMAL_CLOSURE, CloseCode.GOING_AWAY):
        return None
    message = close.reason or f"the server closed the stream with code {int(close.code)}"
    if close.code in _CODES_OF_STATUSES:
        return from_status(status_pb2.Status(code=close.code - 4000, message=message))
    if close.code == CloseCode.MESSAGE_TOO_BIG:
        return InvalidArgument(grpc.StatusCode.INVALID_ARGUMENT, message)
    return Unavailable(grpc.StatusCode.UNAVAILABLE, f"the connection broke: {message}")


def _refusal_of(response: Response) -> CroupierError:
    """Return the refusal to open a socket, which is a status as JSON if it is one of the gateway."""
    with suppress(ParseError, UnicodeDecodeError):
        status = Parse(bytes(response.body or b""), status_pb2.Status(), ignore_unknown_fields=True)
        if status.code:
            return from_status(status)
    code = _CODE_BY_HTTP_STATUS.get(response.status_code, grpc.StatusCode.UNKNOWN)
    message = f"the server answers HTTP {response.status_code} instead of a WebSocket"
    return from_answer(status_pb2.Status(code=code.value[0], message=message))
