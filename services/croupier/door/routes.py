"""Which call goes to which service, for how long, and when it is tried again."""

from collections.abc import Iterator, Mapping

from google.protobuf.descriptor import MethodDescriptor

from croupier.door.bindings import SERVICES, call_path, is_repeatable
from croupier.door.envoy_types import Config, message, seconds, set_header, typed
from croupier.door.refusals import refusal_route
from croupier.runtime.server import LARGEST_REQUEST_BYTES

TABLE_IDLE_SECONDS = 60
"""A table's stream is never quiet for longer than a heartbeat, of which there are four a minute."""
LOBBY_IDLE_SECONDS = 900
"""The lobby's streams are quiet while nothing happens; clients open them anew after ten minutes."""

TRANSCODER = "envoy.filters.http.grpc_json_transcoder"
TRANSCODER_KIND = "filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder"
BUFFER = "envoy.filters.http.buffer"

CLUSTERS: Mapping[str, str] = {"LobbyService": "lobby", "EngineService": "engine", "ScoringService": "scoring"}

SURELY_UNDONE = "connect-failure,refused-stream,reset-before-request"
"""Failures after which no service has seen the call."""
HARMLESS = f"{SURELY_UNDONE},reset,unavailable"

_IS_POST: Config = {"name": ":method", "string_match": {"exact": "POST"}}
_IS_POST_OR_QUESTION: Config = {"name": ":method", "string_match": {"safe_regex": {"regex": "POST|OPTIONS"}}}
"""A browser asks by OPTIONS whether it may call, and is answered on the way to a route only."""
_IS_GRPC = r"application/grpc(-web(-text)?)?(\+proto)?"
"""What the services, and what translates for them, take for gRPC; anything else they answer by breaking off."""
_SPEAKS_GRPC: Config = set_header("te", "trailers")
"""Without this header a service breaks off too, and HTTP/1.1 does not carry it."""
LONGER_SECONDS = 5
"""The door gives up this much before the service does, so that its own words are what a client always reads."""

_TABLE_NAMED = {"header": {"header_name": "x-table-id"}, "terminal": True}
_TABLE_IN_PATH = {
    "header": {
        "header_name": "x-envoy-original-path",
        "regex_rewrite": {"pattern": {"regex": r"^/v1/tables/([^/:?]+).*$"}, "substitution": r"\1"},
    }
}
_BY_TABLE: Config = {"hash_policy": [_TABLE_NAMED, _TABLE_IN_PATH]}
"""All that concerns a table goes to one engine: the client names it, or it stood in the path of a JSON call."""


def routes(request_seconds: int) -> list[Config]:
    """The routes in the order in which they are tried; whatever fits none is refused in a way that is understood.

    `request_seconds` is how long a unary call may take with all that its client needs to send it.
    """
    return [
        *_wrong_content_types(),
        _json(request_seconds),
        *(_call(method, request_seconds) for service in SERVICES for method in service.methods),
        # It has no path, and no end that could be waited for.
        _as_it_is(refusal_route({"connect_matcher": {}}, 404)),
        _as_it_is(refusal_route({"prefix": "/"}, 404)),
    ]


def _wrong_content_types() -> Iterator[Config]:
    """Routes that refuse a body that is neither gRPC nor JSON, before anything is made of it."""
    not_json = _of_type({"safe_regex": {"regex": r"(?i)application/json\s*(;.*)?"}}, invert_match=True)
    # A browser asks first whether it may call, without a content type.
    not_preflight = {"name": ":method", "string_match": {"exact": "OPTIONS"}, "invert_match": True}
    not_grpc = _of_type({"safe_regex": {"regex": _IS_GRPC}}, invert_match=True)
    # No call of gRPC has such a path, and what is gRPC already is not translated.
    yield _as_it_is(refusal_route({"prefix": "/v1/", "headers": [_of_type({"prefix": "application/grpc"})]}, 404))
    yield _as_it_is(refusal_route({"prefix": "/v1/", "headers": [_IS_POST, not_json]}, 415))
    yield _as_it_is(refusal_route({"prefix": "/croupier_api.v1.", "headers": [not_preflight, not_grpc]}, 415))


def _of_type(matcher: Config, **how: bool) -> Config:
    return {"name": "content-type", "string_match": matcher, "treat_missing_header_as_empty": True, **how}


def _as_it_is(route: Config) -> Config:
    """The same route without translation, which would refuse a path that stands for no call in its own way."""
    untranslated = message(TRANSCODER_KIND, proto_descriptor_bin="")
    return {**route, "typed_per_filter_config": {TRANSCODER: untranslated}}


def _json(request_seconds: int) -> Config:
    """Where JSON goes until it has been read and translated; then the route of the call that it stands for is taken."""
    largest = {"max_request_bytes": LARGEST_REQUEST_BYTES}
    return {
        "name": "json",
        "match": {"prefix": "/v1/"},
        "route": {"cluster": "lobby", **_whole(request_seconds)},
        "typed_per_filter_config": {BUFFER: message("filters.http.buffer.v3.BufferPerRoute", buffer=largest)},
    }


def _call(method: MethodDescriptor, request_seconds: int) -> Config:
    service = CLUSTERS[method.containing_service.name]
    idle_seconds = TABLE_IDLE_SECONDS if service == "engine" else LOBBY_IDLE_SECONDS
    limits = _stream_limits(idle_seconds) if method.server_streaming else _whole(request_seconds)
    retry = _retry(HARMLESS if is_repeatable(method) else SURELY_UNDONE)
    deadline = [] if method.server_streaming else [_deadline(request_seconds + LONGER_SECONDS)]
    by_table = _BY_TABLE if service == "engine" else {}
    return {
        "name": call_path(method)[1:],
        "match": {"path": call_path(method), "headers": [_IS_POST_OR_QUESTION]},
        "route": {"cluster": service, **limits, "retry_policy": retry, **by_table},
        "request_headers_to_add": [_SPEAKS_GRPC, *deadline],
    }


def _stream_limits(idle_seconds: int) -> Config:
    return {"timeout": "0s", "idle_timeout": seconds(idle_seconds)}


def _whole(request_seconds: int) -> Config:
    """How long a unary call may take; where Envoy finds this it pays no heed to a `timeout`."""
    return {"max_stream_duration": {"max_stream_duration": seconds(request_seconds)}}


def _deadline(deadline_seconds: int) -> Config:
    """In place of the one that Envoy passes on, which ends at the very moment at which it gives up itself.

    A call whose client has given up is broken off, here and at the service, whatever its deadline is.
    """
    return set_header("grpc-timeout", f"{deadline_seconds}S")


def _retry(conditions: str) -> Config:
    return {
        "retry_on": conditions,
        "num_retries": 2,
        "retry_back_off": {"base_interval": "0.1s", "max_interval": "1s"},
        "retry_host_predicate": [
            typed("envoy.retry_host_predicates.previous_hosts", "retry.host.previous_hosts.v3.PreviousHostsPredicate")
        ],
        "host_selection_retry_max_attempts": 5,
    }
