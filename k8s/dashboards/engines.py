"""Engines: tables, the log, streams, clocks, computer players."""

from k8s.dashboards.board import Dashboard, Query, panel
from k8s.dashboards.queries import extreme, of, quantile, rate, total


def _engine(metric: str) -> str:
    return of("engine", f"croupier_{metric}")


def _quantiles(metric: str, *shares: float) -> tuple[Query, ...]:
    return tuple(quantile(share, _engine(metric)).called(f"{share:.0%}") for share in shares)


_ROWS, _COMMITS = (rate(_engine(f"commit_rows_{part}")).expression for part in ("sum", "count"))
_LOG = (
    panel(
        "Time until durable",
        "From wanting to append to being durable. Everybody at the table waits for it.",
        *_quantiles("append_seconds_bucket", 0.5, 0.95, 0.99),
    ),
    panel(
        "Entries in a commit",
        "Under load one commit carries many tables: that is how a slow disk is made up for.",
        Query(f"{_ROWS} / {_COMMITS}", "on average"),
    ),
    panel(
        "Reports that wait",
        "Tables whose result scoring has not got. Above zero for minutes: scoring is away or refuses.",
        extreme("max", _engine("reports_waiting"), "pod"),
    ),
)
_TABLES = (
    panel(
        "Tables in memory",
        "By engine. The door keeps a table's calls at one engine, so that they spread evenly.",
        total(_engine("tables_in_memory"), "pod"),
    ),
    panel("Streams", "By engine.", total(_engine("streams"), "pod")),
    panel(
        "Streams that went on, and that were closed",
        "Resumes come in a wave when an engine goes or a network breaks. Slow readers are sent off.",
        rate(_engine("resumes_total")).called("resumed"),
        rate(_engine("slow_readers_closed_total")).called("too slow"),
    ),
    panel("Reactions", "Sent to tables; shown and not stored.", rate(_engine("reactions_total")).called("reactions")),
)
_CLOCKS = (
    panel(
        "Time that ran out",
        "Actions that the engine made for a seat. Many at once: people cannot reach it.",
        rate(_engine("clock_expiries_total"), "game"),
    ),
    panel(
        "Time to think",
        "Decisions of computer players that think, waiting included.",
        *_quantiles("thinking_seconds_bucket", 0.5, 0.99),
    ),
    panel(
        "Decisions without thought",
        "By reason. They are legal, but weaker: give engines more processors or CROUPIER_BOT_PROCESSES.",
        rate(_engine("thinking_fallbacks_total"), "reason"),
    ),
)

ENGINES = Dashboard(
    "croupier-engines",
    "croupier: engines",
    {"The log": _LOG, "Tables and streams": _TABLES, "Clocks and computer players": _CLOCKS},
)
