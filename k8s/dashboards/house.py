"""The first page: is all well, how much is played, and how fast."""

from k8s.dashboards.board import Dashboard, Form, Panel, Query, Row, Unit
from k8s.dashboards.queries import of, quantile, rate, ratio, total

SERVICES = "lobby|engine|scoring"
FAILED = "INTERNAL|UNKNOWN|DATA_LOSS|UNAVAILABLE|DEADLINE_EXCEEDED"
"""Codes that are our fault; all others are answers to what was asked."""

_CALLS = of(SERVICES, "croupier_rpc_calls_total")
_FAILED_CALLS = of(SERVICES, "croupier_rpc_calls_total", code=FAILED)

_NOW = Row(
    "Now",
    (
        Panel(
            "Tables in play",
            "Whoever looks after them. Every engine counts all of them, so that the highest count is the number.",
            (Query(f"sum(max by (game) ({of('engine', 'croupier_open_tables')}))"),),
            form=Form.FIGURE,
        ),
        Panel(
            "Streams",
            "Players and spectators who follow a table.",
            (Query(total(of("engine", "croupier_streams"))),),
            form=Form.FIGURE,
        ),
        Panel(
            "Actions a second",
            "Moves that were stored.",
            (Query(rate(of("engine", "croupier_actions_accepted_total"))),),
            Unit.PER_SECOND,
            Form.FIGURE,
        ),
        Panel(
            "Calls that failed",
            "The share of all calls that ended with a code that is our fault. 0 is usual.",
            (Query(ratio(rate(_FAILED_CALLS), rate(_CALLS))),),
            Unit.SHARE,
            Form.FIGURE,
        ),
        Panel(
            "Durable within",
            "99 of 100 appends to a table's log took no longer than this. Disk and database decide it.",
            (Query(quantile(0.99, of("engine", "croupier_append_seconds_bucket"))),),
            Unit.SECONDS,
            Form.FIGURE,
        ),
        Panel(
            "Instances",
            "How many of each answer Prometheus.",
            (Query(total(of(f"{SERVICES}|door", "up"), "job"), "{{job}}"),),
            form=Form.FIGURE,
        ),
    ),
)

_PLAY = Row(
    "What is played",
    (
        Panel(
            "Tables by game",
            "Tables in play.",
            (Query(f"max by (game) ({of('engine', 'croupier_open_tables')})", "{{game}}"),),
        ),
        Panel(
            "Actions by game",
            "Moves that were stored. Where it falls while tables do not, something holds players up.",
            (Query(rate(of("engine", "croupier_actions_accepted_total"), "game"), "{{game}}"),),
            Unit.PER_SECOND,
        ),
        Panel(
            "Actions refused",
            "By reason. Clients err now and then; a step after a release is a client or a rule that is broken.",
            (Query(rate(of("engine", "croupier_actions_refused_total"), "reason"), "{{reason}}"),),
            Unit.PER_SECOND,
        ),
    ),
)

_CARE = Row(
    "What it costs",
    (
        Panel(
            "Processor",
            "Cores that each instance uses. The event loop of one cannot use more than one.",
            (Query(rate(of(SERVICES, "process_cpu_seconds_total"), "pod"), "{{pod}}"),),
        ),
        Panel(
            "Memory",
            "What each instance holds. It grows with tables and streams, and is to fall again with them.",
            (Query(total(of(SERVICES, "process_resident_memory_bytes"), "pod"), "{{pod}}"),),
            Unit.BYTES,
        ),
        Panel(
            "Open files",
            "Connections for the most part.",
            (Query(total(of(SERVICES, "process_open_fds"), "pod"), "{{pod}}"),),
        ),
    ),
)

HOUSE = Dashboard("croupier-house", "croupier: the house", (_NOW, _PLAY, _CARE))
