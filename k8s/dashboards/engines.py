"""Engines: tables, the log, streams, clocks, bots."""

from dataclasses import replace

from k8s.dashboards.board import Dashboard, Query, Unit, panel
from k8s.dashboards.queries import extreme, of, quantile, rate, total


def _engine(metric: str) -> str:
    return of("engine", f"croupier_{metric}")


def _quantiles(metric: str, *shares: float) -> tuple[Query, ...]:
    return tuple(quantile(share, _engine(metric)).called(f"{share:.0%}") for share in shares)


_ROWS, _COMMITS = (rate(_engine(f"commit_rows_{part}")).expression for part in ("sum", "count"))
_LOG = (
    panel(
        "Time until durable",
        "From the append to its commit. All players of the table wait for it.",
        *_quantiles("append_seconds_bucket", 0.5, 0.95, 0.99),
    ),
    panel(
        "Entries in a commit",
        "Under load one commit has entries of many tables, which makes up for a slow disk.",
        Query(f"{_ROWS} / {_COMMITS}", "on average"),
    ),
    panel(
        "Waiting reports",
        "Tables with results that scoring has not received. Above zero for minutes: scoring is down or refuses them.",
        extreme("max", _engine("reports_waiting"), "pod"),
    ),
    panel(
        "Archived tables",
        "Finished tables that became a row of the archive, and failed attempts, each repeated after an hour.",
        rate(_engine("tables_archived_total")).called("archived"),
        rate(_engine("archive_failures_total")).called("failed"),
    ),
)
_LOOP = (
    panel(
        "Steps of the event loop",
        "Longest CPU time for which an engine kept all its calls waiting. A single request takes less than 5 ms.",
        extreme("max", _engine("loop_longest_step_seconds"), "pod"),
        quantile(0.99, _engine("loop_step_seconds_bucket")).called("99%"),
        unit=Unit.SECONDS,
    ),
)
_TABLES = (
    panel(
        "Tables in memory",
        "By engine. The gateway routes a table's calls to one engine, and distributes tables evenly.",
        total(_engine("tables_in_memory"), "pod"),
    ),
    panel("Streams", "By engine.", total(_engine("streams"), "pod")),
    panel(
        "Resumed and closed streams",
        "Many streams resume when an engine ends or a network fails. Streams of slow readers are closed.",
        rate(_engine("resumes_total")).called("resumed"),
        rate(_engine("slow_readers_closed_total")).called("too slow"),
    ),
    panel(
        "Tables ended at a limit",
        "By limit. Many: players keep games going, or the limits are too low for a game.",
        rate(_engine("tables_ended_total"), "limit"),
    ),
    panel("Reactions", "Sent to tables and not stored.", rate(_engine("reactions_total")).called("reactions")),
)
_RULES = (
    panel(
        "Time of rules, p99",
        "Of an action, a view, legal actions or a quick bot, by game. Other tables of the engine wait meanwhile.",
        quantile(0.99, _engine("rules_seconds_bucket"), "game"),
    ),
    panel(
        "Failures of rules",
        "Errors that the rules of a game raised. After the third one a table is set aside.",
        rate(_engine("rules_failures_total"), "game"),
    ),
    panel(
        "Tables without rules",
        "Open tables whose rules no living engine has: a package is missing.",
        extreme("max", _engine("tables_without_rules"), "game"),
    ),
)
_LOADS = (
    panel(
        "Loaded tables",
        "From their logs. Many for strangers: old tables are read. Many for players: an engine has taken over.",
        rate(_engine("table_loads_total"), "class"),
    ),
    panel(
        "Wait for a load",
        "Until the load of a table began. Seconds: engines need more CPU, or a higher CROUPIER_MAX_LOADS.",
        *_quantiles("load_wait_seconds_bucket", 0.5, 0.99),
    ),
    panel(
        "Replays",
        "Replays that were built because none was in memory or in the archive. Many: strangers read old tables.",
        rate(_engine("replays_built_total")).called("built"),
    ),
    panel(
        "Replays in memory",
        "Compressed, by engine; the least recently read ones leave memory at 64 MiB.",
        replace(total(_engine("replay_cache_bytes"), "pod"), unit=Unit.BYTES),
    ),
)
_CLOCKS = (
    panel(
        "Expired clocks",
        "Actions that the engine took for a seat. Many at once: players cannot reach it.",
        rate(_engine("clock_expiries_total"), "game"),
    ),
    panel(
        "Duration of bot requests",
        "Decisions of bots that search, waiting time included.",
        *_quantiles("thinking_seconds_bucket", 0.5, 0.99),
    ),
    panel(
        "Bot requests without search",
        "By reason. The decisions are legal, but weaker: give engines more CPU or CROUPIER_BOT_PROCESSES.",
        rate(_engine("thinking_fallbacks_total"), "reason"),
    ),
)

ENGINES = Dashboard(
    "croupier-engines",
    "croupier: engines",
    {
        "The log": _LOG,
        "Event loop": _LOOP,
        "Tables and streams": _TABLES,
        "Rules": _RULES,
        "Loads and replays": _LOADS,
        "Clocks and bots": _CLOCKS,
    },
)
