"""Engines: tables, the log, streams, clocks, computer players."""

from k8s.dashboards.board import Dashboard, Panel, Query, Row, Unit
from k8s.dashboards.queries import of, quantile, rate, total

_APPENDS = of("engine", "croupier_append_seconds_bucket")
_THOUGHTS = of("engine", "croupier_thinking_seconds_bucket")


def _engine(metric: str) -> str:
    return of("engine", metric)


_LOG = Row(
    "The log",
    (
        Panel(
            "Time until durable",
            "From wanting to append to being durable. Everybody at the table waits for it.",
            tuple(Query(quantile(share, _APPENDS), f"{share:.0%}") for share in (0.5, 0.95, 0.99)),
            Unit.SECONDS,
        ),
        Panel(
            "Entries in a commit",
            "Under load one commit carries many tables: that is how a slow disk is made up for.",
            (
                Query(
                    f"{rate(_engine('croupier_commit_rows_sum'))} / {rate(_engine('croupier_commit_rows_count'))}",
                    "on average",
                ),
            ),
        ),
        Panel(
            "Reports that wait",
            "Tables whose result scoring has not got. Above zero for minutes: scoring is away or refuses.",
            (Query(f"max by (pod) ({_engine('croupier_reports_waiting')})", "{{pod}}"),),
        ),
    ),
)

_TABLES = Row(
    "Tables and streams",
    (
        Panel(
            "Tables in memory",
            "By engine. The door keeps a table's calls at one engine, so that they spread evenly.",
            (Query(total(_engine("croupier_tables_in_memory"), "pod"), "{{pod}}"),),
        ),
        Panel(
            "Streams",
            "By engine.",
            (Query(total(_engine("croupier_streams"), "pod"), "{{pod}}"),),
        ),
        Panel(
            "Streams that went on, and that were closed",
            "Resumes come in a wave when an engine goes or a network breaks. Slow readers are sent off.",
            (
                Query(rate(_engine("croupier_resumes_total")), "resumed"),
                Query(rate(_engine("croupier_slow_readers_closed_total")), "too slow"),
            ),
            Unit.PER_SECOND,
        ),
        Panel(
            "Reactions",
            "Sent to tables; shown and not stored.",
            (Query(rate(_engine("croupier_reactions_total")), "reactions"),),
            Unit.PER_SECOND,
        ),
    ),
)

_CLOCKS = Row(
    "Clocks and computer players",
    (
        Panel(
            "Time that ran out",
            "Actions that the engine made for a seat. Many at once: people cannot reach it.",
            (Query(rate(_engine("croupier_clock_expiries_total"), "game"), "{{game}}"),),
            Unit.PER_SECOND,
        ),
        Panel(
            "Time to think",
            "Decisions of computer players that think, waiting included.",
            tuple(Query(quantile(share, _THOUGHTS), f"{share:.0%}") for share in (0.5, 0.99)),
            Unit.SECONDS,
        ),
        Panel(
            "Decisions without thought",
            "By reason. They are legal, but weaker: give engines more processors or CROUPIER_BOT_PROCESSES.",
            (Query(rate(_engine("croupier_thinking_fallbacks_total"), "reason"), "{{reason}}"),),
            Unit.PER_SECOND,
        ),
    ),
)

ENGINES = Dashboard("croupier-engines", "croupier: engines", (_LOG, _TABLES, _CLOCKS))
