"""What the door itself answers when it refuses a call: JSON that a person understands, or a gRPC status.

The JSON has the form that the services' own errors have here, {"code": a gRPC status code, "message": a sentence}.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from google.rpc.code_pb2 import (
    DEADLINE_EXCEEDED,
    INVALID_ARGUMENT,
    NOT_FOUND,
    PERMISSION_DENIED,
    RESOURCE_EXHAUSTED,
    UNAUTHENTICATED,
    UNAVAILABLE,
    UNIMPLEMENTED,
    UNKNOWN,
)

from croupier.door.envoy_types import Config, set_header, typed
from croupier.runtime.server import LARGEST_REQUEST_BYTES

HEADER_KIBIBYTES = 16
MOST_HEADERS = 60
ENVOYS_OWN_WORDS = "%LOCAL_REPLY_BODY%"

REFUSALS: Mapping[int, tuple[int, str]] = {
    400: (INVALID_ARGUMENT, "the request cannot be read: it breaks a rule of HTTP"),
    401: (UNAUTHENTICATED, "no valid access token: send one as 'authorization: Bearer ...', from /v1/sign-in"),
    403: (PERMISSION_DENIED, "web pages of this origin may not call here: the operator can allow it"),
    404: (NOT_FOUND, "there is nothing here: see the list of paths in the documentation, and mind the method"),
    408: (DEADLINE_EXCEEDED, "the request took too long to arrive"),
    413: (RESOURCE_EXHAUSTED, f"the body is too large: {LARGEST_REQUEST_BYTES // 1024} KiB at most"),
    415: (INVALID_ARGUMENT, "this content type is not read here: send JSON, with 'content-type: application/json'"),
    426: (INVALID_ARGUMENT, "this is HTTP of another time: HTTP/1.1 and HTTP/2 are spoken here"),
    429: (RESOURCE_EXHAUSTED, "too many requests from this address: wait a second and try again"),
    431: (RESOURCE_EXHAUSTED, f"the headers are too large: {HEADER_KIBIBYTES} KiB and {MOST_HEADERS} headers at most"),
    501: (UNIMPLEMENTED, "a body comes with its length or in chunks, and in no other transfer encoding"),
    503: (UNAVAILABLE, "the service does not answer at the moment: try again"),
    504: (DEADLINE_EXCEEDED, "the service took too long: what was asked may have happened all the same"),
}
"""By HTTP status: the gRPC status code, and the sentence that takes the place of Envoy's own."""
UNREADABLE: Mapping[str, str] = {
    # These words alone are about what was sent: which field, and what is wrong with it.
    "contains('json_transcode_failure')": f"the request cannot be read: {ENVOYS_OWN_WORDS}",
    "contains('base_64')": "the body is not in base64, as 'application/grpc-web-text' says",
    "endsWith('unexpected_underscore')": "the name of a header cannot have '_' here: it could be read as '-'",
    "startsWith('path_normalization')": "the path could be read in two ways: it has '#', or an escaped / \\ or NUL",
    "endsWith('missing_host_header')": "the header 'host' is missing",
    "endsWith('invalid_authority')": "the header 'host' is neither a name nor an address",
    "endsWith('invalid_characters')": "the path or a header has a character that is not allowed there",
}
"""By what Envoy says a request fails at, as a condition in CEL: the sentence for 400 in place of the usual one."""
OTHERWISE = "something went wrong at the door: try again"
OVER_GRPC: Mapping[int, int] = {NOT_FOUND: UNIMPLEMENTED}
"""What is called otherwise over gRPC itself, where a path is a method."""
NO_UPGRADES = "connections stay what they are here: neither Upgrade nor CONNECT is understood"
LOWEST_ERROR = 400


def refusal_route(match: Config, status: int) -> Config:
    """A route that refuses whatever fits, with this status; its words are those of `local_replies`."""
    return {"name": "refusal", "match": match, "direct_response": {"status": status}}


def local_replies() -> Config:
    """How the answers that Envoy makes itself are written; those that are no refusals stay as they are."""
    mappers = [mapper for status in REFUSALS for mapper in _mappers("EQ", status, *REFUSALS[status])]
    others = _mappers("GE", LOWEST_ERROR, UNKNOWN, OTHERWISE)
    return {"mappers": [*_upgrades(), *_token_of_another_kind(), *_unreadable(), *mappers, *others]}


def _upgrades() -> Iterator[Config]:
    """Envoy forbids these; 403 is for web pages here."""
    is_upgrade = _has_header(name="upgrade", present_match=True)
    is_connect = _has_header(name=":method", string_match={"exact": "CONNECT"})
    either = {"or_filter": {"filters": [is_upgrade, is_connect]}}
    for mapper in _mappers("EQ", 403, INVALID_ARGUMENT, NO_UPGRADES, either):
        yield {"status_code": 400, **mapper}


def _token_of_another_kind() -> Iterator[Config]:
    """Envoy forbids what comes with a token for somebody else; here no token but a player's counts as one."""
    for mapper in _mappers("EQ", 403, *REFUSALS[401], _has_header(name="origin", present_match=False)):
        yield {"status_code": 401, **mapper}


def _unreadable() -> Iterator[Config]:
    for condition, sentence in UNREADABLE.items():
        expression = f"response.code_details.{condition}"
        fails_so = typed(
            "envoy.access_loggers.extension_filters.cel",
            "access_loggers.filters.cel.v3.ExpressionFilter",
            expression=expression,
        )
        yield from _mappers("EQ", 400, INVALID_ARGUMENT, sentence, {"extension_filter": fails_so})


def _mappers(comparison: str, status: int, code: int, sentence: str, *conditions: Config) -> Iterator[Config]:
    value = {"default_value": status, "runtime_key": f"door.status_{status}"}
    has_status = {"status_code_filter": {"comparison": {"op": comparison, "value": value}}}
    # In gRPC all is said by headers; Envoy's own code is a guess by the HTTP status, and in gRPC-Web that status stays.
    yield {
        "filter": {"and_filter": {"filters": [has_status, *conditions, *_IS_GRPC]}},
        "status_code": 200,
        "body_format_override": {"text_format_source": {"inline_string": ""}},
        "headers_to_add": [
            set_header("grpc-status", str(OVER_GRPC.get(code, code))),
            set_header("grpc-message", sentence),
        ],
    }
    yield {
        "filter": {"and_filter": {"filters": [has_status, *conditions]}} if conditions else has_status,
        "body_format_override": {"json_format": {"code": code, "message": sentence}},
    }


def _has_header(**header: Any) -> Config:
    return {"header_filter": {"header": header}}


_IS_GRPC = (
    _has_header(name="content-type", string_match={"safe_regex": {"regex": r"application/grpc(\+.*)?"}}),
    # What was translated from JSON has another path than it came with.
    _has_header(name="x-envoy-original-path", present_match=False),
)
