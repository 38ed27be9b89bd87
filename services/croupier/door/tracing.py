"""Traces of what comes in by the door: how Envoy makes them, and whom it gives them to; none unless asked for."""

from croupier.door.envoy_types import Config, message, seconds
from croupier.door.settings import DoorSettings
from croupier.runtime.traces import EXPORT_SECONDS, LARGEST_BATCH_SPANS, MOST_WAITING_SPANS, PAUSE_SECONDS

COLLECTOR = "traces"
"""The cluster."""
HEADERS = ("traceparent", "tracestate", "baggage")
"""By these callers decide what is recorded and as part of what. Players do not: each of their calls begins a trace."""
RUNTIME: Config = {
    "tracing.opentelemetry.flush_interval_ms": PAUSE_SECONDS * 1000,
    "tracing.opentelemetry.min_flush_spans": LARGEST_BATCH_SPANS,
}
_MILLION = 1_000_000


def tracing(settings: DoorSettings) -> Config:
    """What lets the players' connections be traced; nothing where nobody takes traces."""
    if not settings.traces.endpoint:
        return {}
    # Envoy decides by the id of a request whether it is traced, and marks the id, unless it is told not to; players
    # choose these ids.
    ids = {"pack_trace_reason": False, "use_request_id_for_trace_sampling": False}
    return {
        "request_id_extension": {"typed_config": message("request_id.uuid.v3.UuidRequestIdConfig", **ids)},
        "tracing": {"provider": _provider(settings), "operation": "%ROUTE_NAME%"},
    }


def _provider(settings: DoorSettings) -> Config:
    share = {"numerator": round(_MILLION * settings.traces.ratio), "denominator": "MILLION"}
    by_share = message("tracers.opentelemetry.samplers.v3.TraceIdRatioBasedSamplerConfig", sampling_percentage=share)
    return {
        "name": "envoy.tracers.opentelemetry",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.config.trace.v3.OpenTelemetryConfig",
            "grpc_service": {"envoy_grpc": {"cluster_name": COLLECTOR}, "timeout": seconds(EXPORT_SECONDS)},
            "service_name": "croupier-door",
            "max_cache_size": MOST_WAITING_SPANS,
            "sampler": {
                "name": "envoy.tracers.opentelemetry.samplers.trace_id_ratio_based",
                "typed_config": by_share,
            },
        },
    }
