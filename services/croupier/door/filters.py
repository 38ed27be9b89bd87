"""What each call passes on its way in, in order: origin, rate, identity, and translation into gRPC."""

import base64
import json
from collections.abc import Iterator

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from croupier.door.bindings import OPEN_CALLS, SERVICES, bindings, call_path
from croupier.door.descriptors import descriptor_set
from croupier.door.envoy_types import Config, base64_text, message, typed
from croupier.door.routes import BUFFER, TRANSCODER, TRANSCODER_KIND
from croupier.door.settings import DoorSettings
from croupier.runtime.identity import ISSUER, PLAYER_AUDIENCE
from croupier.runtime.server import LARGEST_REQUEST_BYTES

LARGEST_ANSWER_BYTES = 4 * 1024 * 1024
KNOWN_TOKENS = 10_000
"""How many tokens each worker remembers to be good: checking a signature takes a tenth of a millisecond."""
REMEMBERED_ADDRESSES = 50_000
CLOCK_SKEW_SECONDS = 5
"""The door's clock may be wrong by this; the services check the time again."""
CORS = "envoy.filters.http.cors"
HEALTH_PATH = "/healthz"
GUARDED_PREFIXES = ("/v1/", "/croupier_api.v1.")


def http_filters(settings: DoorSettings, key: Ed25519PublicKey) -> list[Config]:
    """The filters of the players' listener."""
    return [
        _without_a_banner(),
        _foreign_origins(settings),
        typed(CORS, "filters.http.cors.v3.Cors"),
        # What is refused from here on is refused in the language of gRPC-Web, too.
        typed("envoy.filters.http.grpc_web", "filters.http.grpc_web.v3.GrpcWeb"),
        *_rate_limit(settings),
        _health(),
        _identity(key),
        typed(BUFFER, "filters.http.buffer.v3.Buffer", max_request_bytes=LARGEST_REQUEST_BYTES),
        _transcoder(),
        typed("envoy.filters.http.router", "filters.http.router.v3.Router", suppress_envoy_headers=True),
    ]


def host_settings(settings: DoorSettings) -> Config:
    """What holds for every route that does not say otherwise: bodies go through as they come, and CORS."""
    by_filter = {BUFFER: message("filters.http.buffer.v3.BufferPerRoute", disabled=True)}
    if settings.origins:
        by_filter[CORS] = _cors_policy(settings)
    return {"typed_per_filter_config": by_filter}


def _cors_policy(settings: DoorSettings) -> Config:
    return message(
        "filters.http.cors.v3.CorsPolicy",
        allow_origin_string_match=_origin_matchers(settings),
        allow_methods="GET, POST, DELETE, OPTIONS",
        allow_headers="authorization, content-type, grpc-timeout, x-grpc-web, x-user-agent, x-table-id, x-request-id",
        expose_headers="grpc-status, grpc-message, grpc-status-details-bin, x-request-id",
        max_age="86400",
        forward_not_matching_preflights=False,
    )


def _origin_matchers(settings: DoorSettings) -> list[Config]:
    if "*" in settings.origins:
        return [{"safe_regex": {"regex": ".*"}}]
    return [{"exact": origin} for origin in settings.origins]


def _foreign_origins(settings: DoorSettings) -> Config:
    """Web pages of other origins are refused here; without this a browser would hide the answer only."""
    from_web_page = {"header": {"name": "origin", "present_match": True}}
    known = [{"header": {"name": "origin", "string_match": matcher}} for matcher in _origin_matchers(settings)]
    foreign = {"and_rules": {"rules": [from_web_page, *({"not_rule": one} for one in known)]}}
    policy = {"permissions": [foreign], "principals": [{"any": True}]}
    return typed(
        "envoy.filters.http.rbac",
        "filters.http.rbac.v3.RBAC",
        rules={"action": "DENY", "policies": {"foreign_origins": policy}},
    )


def _rate_limit(settings: DoorSettings) -> list[Config]:
    """A bucket of requests for each client address; of IPv6 for each network, of which one house has one."""
    rate, burst = settings.address_requests_per_second, settings.address_burst
    if rate == 0:
        return []
    tokens = max(rate // 10, 1)
    interval = f"{tokens / rate:.9f}s"
    bucket = {"max_tokens": burst, "tokens_per_fill": tokens, "fill_interval": interval}
    unlimited = {"max_tokens": 4_000_000_000, "tokens_per_fill": 4_000_000_000, "fill_interval": interval}
    always = {"default_value": {"numerator": 100, "denominator": "HUNDRED"}}
    return [
        typed(
            "envoy.filters.http.local_ratelimit",
            "filters.http.local_ratelimit.v3.LocalRateLimit",
            stat_prefix="door",
            filter_enabled=always,
            filter_enforced=always,
            token_bucket=unlimited,
            descriptors=[{"entries": [{"key": "masked_remote_address"}], "token_bucket": bucket}],
            rate_limits=[
                {"actions": [{"masked_remote_address": {"v4_prefix_mask_len": 32, "v6_prefix_mask_len": 64}}]}
            ],
            max_dynamic_descriptors=REMEMBERED_ADDRESSES,
            rate_limited_as_resource_exhausted=True,
        )
    ]


def _health() -> Config:
    """Whether new clients are welcome, which they are until the door is told to drain; for whoever asks."""
    is_asked = {"name": ":path", "string_match": {"exact": HEALTH_PATH}}
    return typed(
        "envoy.filters.http.health_check",
        "filters.http.health_check.v3.HealthCheck",
        pass_through_mode=False,
        headers=[is_asked],
    )


def _without_a_banner() -> Config:
    """First of all, and so the last to see an answer: Envoy adds to it who it is, and repeats what was sent."""
    realm = {"header": {"key": "www-authenticate", "value": "Bearer"}, "append_action": "OVERWRITE_IF_EXISTS"}
    mutations = {
        "response_mutations": [{"remove_on_match": {"key_matcher": {"prefix": "x-envoy-"}}}, {"append": realm}]
    }
    return typed(
        "envoy.filters.http.header_mutation", "filters.http.header_mutation.v3.HeaderMutation", mutations=mutations
    )


def _identity(key: Ed25519PublicKey) -> Config:
    lobby = {
        "issuer": ISSUER,
        "audiences": [PLAYER_AUDIENCE],
        "local_jwks": {"inline_string": key_set(key)},
        # What stands after the scheme, whose letters Envoy would compare; the services know it in large and small ones.
        "from_headers": [{"name": "authorization", "value_prefix": " "}],
        # The services look at the token again, and take the player's id from it.
        "forward": True,
        "require_expiration": True,
        "clock_skew_seconds": CLOCK_SKEW_SECONDS,
        "jwt_cache_config": {"jwt_cache_size": KNOWN_TOKENS},
    }
    guarded = [{"match": {"prefix": prefix}, "requires": {"provider_name": "lobby"}} for prefix in GUARDED_PREFIXES]
    return typed(
        "envoy.filters.http.jwt_authn",
        "filters.http.jwt_authn.v3.JwtAuthentication",
        providers={"lobby": lobby},
        rules=[*({"match": {"path": path}} for path in _open_paths()), *guarded],
        bypass_cors_preflight=True,
    )


def _open_paths() -> Iterator[str]:
    for binding in bindings():
        if binding.method.name in OPEN_CALLS:
            yield from (call_path(binding.method), binding.path)


def key_set(key: Ed25519PublicKey) -> str:
    """The lobby's key as a JSON Web Key Set (RFC 8037)."""
    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    x = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
    return json.dumps({"keys": [{"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "x": x}]})


def _transcoder() -> Config:
    return typed(
        TRANSCODER,
        TRANSCODER_KIND,
        proto_descriptor_bin=base64_text(descriptor_set()),
        services=[service.full_name for service in SERVICES],
        print_options={
            "always_print_primitive_fields": True,
            "preserve_proto_field_names": True,
            "stream_newline_delimited": True,
        },
        convert_grpc_status=True,
        request_validation_options={
            "reject_unknown_method": True,
            "reject_unknown_query_parameters": True,
            "reject_binding_body_field_collisions": True,
        },
        max_request_body_size=LARGEST_REQUEST_BYTES,
        max_response_body_size=LARGEST_ANSWER_BYTES,
    )
