"""The messages of a WebSocket: protobuf in binary frames, and the contract's JSON in text frames."""

import json
from typing import Any

from google.protobuf import json_format

from croupier.engine.api.action_codec import MAX_CARDS
from croupier.engine.api.play_session import decode_request, malformed
from croupier.runtime.errors import ServiceError, to_status
from croupier_api.v1 import engine_pb2 as pb

MAX_JSON_DEPTH = 20
"""More than any message of the contract has."""


def decode(content: bytes | str) -> pb.PlayTableRequest:
    """Return the message of a frame; raises MalformedRequest."""
    if isinstance(content, bytes):
        return decode_request(content)
    try:
        fields = json.loads(content)
        if isinstance(fields, dict) and not _has_long_list(fields):
            return json_format.ParseDict(fields, pb.PlayTableRequest(), max_recursion_depth=MAX_JSON_DEPTH)
    except (ValueError, RecursionError, SystemError, json_format.ParseError):
        # The text of the library's error has values, which may be a token. It raises SystemError for half a surrogate
        # pair where it looks for the name of a field.
        pass
    raise malformed("invalid message: expected a PlayTableRequest as JSON, without unknown fields")


def _has_long_list(fields: dict[str, Any]) -> bool:
    """Return whether a list is longer than any of a request.

    The library takes 5 microseconds for each item, before the rule of its field is checked.
    """
    return any(
        _has_long_list(value) if isinstance(value, dict) else isinstance(value, list) and len(value) > MAX_CARDS
        for value in fields.values()
    )


def to_json(message: bytes) -> bytes:
    """Return an encoded message as JSON, with the fields and names that the gateway's JSON has."""
    return json_format.MessageToJson(
        pb.PlayTableResponse.FromString(message),
        preserving_proto_field_name=True,
        always_print_fields_with_no_presence=True,
        indent=None,
    ).encode()


def encode_error(error: ServiceError) -> bytes:
    """Return the last message of a stream that ends with a refusal."""
    return pb.PlayTableResponse(error=to_status(error)).SerializeToString()
