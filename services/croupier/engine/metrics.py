"""All metrics of the engine, in one registry."""

from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from croupier.runtime.metrics import LATENCY_BUCKETS_SECONDS, RpcMetrics


@dataclass(frozen=True)
class EngineMetrics:
    """What the engine counts and measures."""

    registry: CollectorRegistry
    rpc: RpcMetrics
    open_tables: Gauge
    tables_in_memory: Gauge
    actions_accepted: Counter
    actions_refused: Counter
    append_seconds: Histogram
    commit_rows: Histogram
    streams: Gauge
    resumes: Counter
    slow_readers: Counter
    clock_expiries: Counter
    thinking_seconds: Histogram
    thinking_fallbacks: Counter
    reports_waiting: Gauge
    reactions: Counter


def engine_metrics(registry: CollectorRegistry) -> EngineMetrics:
    """Make the metrics in a registry."""
    return EngineMetrics(
        registry=registry,
        rpc=RpcMetrics(registry),
        open_tables=Gauge(
            "croupier_open_tables", "Tables in play, whoever looks after them, by game.", ["game"], registry=registry
        ),
        tables_in_memory=Gauge(
            "croupier_tables_in_memory",
            "Tables in play that this engine has in memory, by game and phase.",
            ["game", "phase"],
            registry=registry,
        ),
        actions_accepted=Counter("croupier_actions_accepted", "Actions stored, by game.", ["game"], registry=registry),
        actions_refused=Counter(
            "croupier_actions_refused", "Actions refused, by reason.", ["reason"], registry=registry
        ),
        append_seconds=Histogram(
            "croupier_append_seconds",
            "Time from wanting to append to being durable, in seconds.",
            buckets=LATENCY_BUCKETS_SECONDS,
            registry=registry,
        ),
        commit_rows=Histogram(
            "croupier_commit_rows",
            "Log entries stored in one commit.",
            buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500),
            registry=registry,
        ),
        streams=Gauge("croupier_streams", "Open table streams.", registry=registry),
        resumes=Counter("croupier_resumes", "Streams that went on from a sequence.", registry=registry),
        slow_readers=Counter(
            "croupier_slow_readers_closed", "Streams closed because they fell behind.", registry=registry
        ),
        clock_expiries=Counter(
            "croupier_clock_expiries", "Actions made because time ran out.", ["game"], registry=registry
        ),
        thinking_seconds=Histogram(
            "croupier_thinking_seconds",
            "Time for a decision of a computer player that thinks, waiting included, in seconds.",
            buckets=LATENCY_BUCKETS_SECONDS,
            registry=registry,
        ),
        thinking_fallbacks=Counter(
            "croupier_thinking_fallbacks",
            "Decisions that were to be thought about and were not, by reason.",
            ["reason"],
            registry=registry,
        ),
        reports_waiting=Gauge(
            "croupier_reports_waiting", "Tables with reports that scoring has not got.", registry=registry
        ),
        reactions=Counter("croupier_reactions", "Reactions sent.", registry=registry),
    )
