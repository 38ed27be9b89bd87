"""The first page: is all well, how much is played, and how fast."""

from functools import partial

from k8s.dashboards.board import Dashboard, Form, Query, Unit, panel
from k8s.dashboards.queries import extreme, of, quantile, rate, ratio, total

SERVICES = "lobby|engine|scoring"
FAILED = "INTERNAL|UNKNOWN|DATA_LOSS|UNAVAILABLE|DEADLINE_EXCEEDED"
"""Codes that are our fault; all others are answers to what was asked."""

_CALLS = "croupier_rpc_calls_total"
_OPEN_TABLES = extreme("max", of("engine", "croupier_open_tables"), "game")

_figure = partial(panel, form=Form.FIGURE)

_NOW = (
    _figure(
        "Tables in play",
        "Open tables of all engines. Every engine counts all of them, so the highest count is the number.",
        Query(f"sum({_OPEN_TABLES.expression})"),
    ),
    _figure("Streams", "Players and spectators who follow a table.", total(of("engine", "croupier_streams"))),
    _figure("Actions a second", "Moves that were stored.", rate(of("engine", "croupier_actions_accepted_total"))),
    _figure(
        "Calls that failed",
        "The share of all calls that ended with a code that is our fault. 0 is usual.",
        ratio(rate(of(SERVICES, _CALLS, code=FAILED)), rate(of(SERVICES, _CALLS))),
    ),
    _figure(
        "Durable within",
        "99 of 100 appends to a table's log took no longer than this. Disk and database decide it.",
        quantile(0.99, of("engine", "croupier_append_seconds_bucket")),
    ),
    _figure("Instances", "How many of each answer Prometheus.", total(of(f"{SERVICES}|door", "up"), "job")),
)
_PLAY = (
    panel("Tables by game", "Tables in play.", _OPEN_TABLES),
    panel(
        "Actions by game",
        "Moves that were stored. Where it falls while tables do not, something holds players up.",
        rate(of("engine", "croupier_actions_accepted_total"), "game"),
    ),
    panel(
        "Actions refused",
        "By reason. Clients err now and then; a step after a release is a client or a rule that is broken.",
        rate(of("engine", "croupier_actions_refused_total"), "reason"),
    ),
)
_CARE = (
    panel(
        "Processor",
        "Cores that each instance uses. The event loop of one cannot use more than one.",
        rate(of(SERVICES, "process_cpu_seconds_total"), "pod"),
        unit=Unit.NUMBER,
    ),
    panel(
        "Memory",
        "What each instance holds. It grows with tables and streams, and is to fall again with them.",
        total(of(SERVICES, "process_resident_memory_bytes"), "pod"),
        unit=Unit.BYTES,
    ),
    panel("Open files", "Connections for the most part.", total(of(SERVICES, "process_open_fds"), "pod")),
)

HOUSE = Dashboard(
    "croupier-house", "croupier: the house", {"Now": _NOW, "What is played": _PLAY, "What it costs": _CARE}
)
