"""All metrics of the engine, in one registry."""

from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from croupier.runtime.observation.metrics import LATENCY_BUCKETS_SECONDS, PlainHistogram, RpcMetrics


class EngineMetrics:
    """The engine's metrics, by their names in the code."""

    def __init__(self, registry: CollectorRegistry) -> None:
        counter, gauge = partial(Counter, registry=registry), partial(Gauge, registry=registry)
        histogram = partial(Histogram, registry=registry)
        self.registry = registry
        self.rpc = RpcMetrics(registry)
        self.open_tables = gauge("croupier_open_tables", "Tables in play at all engines, by game.", ["game"])
        self.tables_in_memory = gauge(
            "croupier_tables_in_memory",
            "Tables in play that this engine has in memory, by game and phase.",
            ["game", "phase"],
        )
        self.tables_without_rules = gauge(
            "croupier_tables_without_rules", "Tables in play whose rules no living engine has, by game.", ["game"]
        )
        self.rules_failures = counter(
            "croupier_rules_failures", "Calls of the rules of a game that raised an error, by game.", ["game"]
        )
        self.rules_seconds = PlainHistogram(
            "croupier_rules_seconds",
            "Time of an action, a view, legal actions or a quick bot in the rules, of every 16th, in seconds, by game.",
            LATENCY_BUCKETS_SECONDS,
            registry,
            "game",
        )
        self.actions_accepted = counter("croupier_actions_accepted", "Actions stored, by game.", ["game"])
        self.actions_refused = counter("croupier_actions_refused", "Actions refused, by reason.", ["reason"])
        self.tables_ended = counter(
            "croupier_tables_ended", "Tables that ended at a limit of the operator, by limit.", ["limit"]
        )
        self.append_seconds = PlainHistogram(
            "croupier_append_seconds",
            "Time from the start of an append until it is durable, in seconds.",
            LATENCY_BUCKETS_SECONDS,
            registry,
        )
        self.commit_rows = PlainHistogram(
            "croupier_commit_rows",
            "Log entries stored in one commit.",
            (1, 2, 5, 10, 20, 50, 100, 200, 500),
            registry,
        )
        self.table_loads = counter(
            "croupier_table_loads",
            "Logs folded into tables and replays, for players at the table and the engine itself, or for strangers.",
            ["class"],
        )
        self.load_wait_seconds = histogram(
            "croupier_load_wait_seconds",
            "Time that a table waited until its load began, in seconds.",
            buckets=LATENCY_BUCKETS_SECONDS,
        )
        self.replays_built = counter("croupier_replays_built", "Replays folded from the logs of finished tables.")
        self.replay_cache_bytes = gauge("croupier_replay_cache_bytes", "Size of the replays in memory, in bytes.")
        self.streams = gauge("croupier_streams", "Open table streams.")
        self.resumes = counter("croupier_resumes", "Streams that resumed after a sequence.")
        self.slow_readers = counter("croupier_slow_readers_closed", "Streams closed because they were read too slowly.")
        self.clock_expiries = counter(
            "croupier_clock_expiries", "Actions for seats whose time ran out or whose players left.", ["game"]
        )
        self.thinking_seconds = histogram(
            "croupier_thinking_seconds",
            "Time for a decision of a searching computer player, waiting included, in seconds.",
            buckets=LATENCY_BUCKETS_SECONDS,
        )
        self.thinking_fallbacks = counter(
            "croupier_thinking_fallbacks",
            "Decisions of searching computer players without a bot worker, by reason.",
            ["reason"],
        )
        self.reports_waiting = gauge(
            "croupier_reports_waiting", "Tables with reports that were not delivered to scoring yet."
        )
        self.tables_archived = counter("croupier_tables_archived", "Finished tables moved to the archive.")
        self.archive_failures = counter(
            "croupier_archive_failures", "Attempts at archiving a table that failed; each is repeated after an hour."
        )
        self.reactions = counter("croupier_reactions", "Reactions sent.")
