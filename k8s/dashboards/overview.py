"""The overview: health, load and speed."""

from functools import partial

from k8s.dashboards.board import Dashboard, Form, Query, Unit, panel
from k8s.dashboards.queries import extreme, of, quantile, rate, ratio, total

SERVICES = "lobby|engine|scoring"
FAILED = "INTERNAL|UNKNOWN|DATA_LOSS|UNAVAILABLE|DEADLINE_EXCEEDED"
"""Codes of failures of the services; all others are answers to the request."""

_CALLS = "croupier_rpc_calls_total"
_OPEN_TABLES = extreme("max", of("engine", "croupier_open_tables"), "game")

_figure = partial(panel, form=Form.FIGURE)

_NOW = (
    _figure(
        "Tables in play",
        "Open tables of all engines. Every engine counts all of them, so the maximum is the number.",
        Query(f"sum({_OPEN_TABLES.expression})"),
    ),
    _figure("Streams", "Players and spectators who follow a table.", total(of("engine", "croupier_streams"))),
    _figure("Actions a second", "Stored actions.", rate(of("engine", "croupier_actions_accepted_total"))),
    _figure(
        "Failed calls",
        "The share of all calls that ended with a failure of a service. 0 is usual.",
        ratio(rate(of(SERVICES, _CALLS, code=FAILED)), rate(of(SERVICES, _CALLS))),
    ),
    _figure(
        "Durable within",
        "The 99th percentile of appends to a table's log. It depends on disk and database.",
        quantile(0.99, of("engine", "croupier_append_seconds_bucket")),
    ),
    _figure(
        "Instances", "Instances that Prometheus scrapes, by service.", total(of(f"{SERVICES}|gateway", "up"), "job")
    ),
)
_PLAY = (
    panel("Tables by game", "Tables in play.", _OPEN_TABLES),
    panel(
        "Actions by game",
        "Stored actions. If it falls while tables do not, something delays players.",
        rate(of("engine", "croupier_actions_accepted_total"), "game"),
    ),
    panel(
        "Actions refused",
        "By reason. Clients err now and then; a step after a release is a broken client or rule.",
        rate(of("engine", "croupier_actions_refused_total"), "reason"),
    ),
)
_RESOURCES = (
    panel(
        "CPU",
        "Cores that each instance uses. The event loop of one cannot use more than one.",
        rate(of(SERVICES, "process_cpu_seconds_total"), "pod"),
        unit=Unit.NUMBER,
    ),
    panel(
        "Memory",
        "Resident memory by instance. It grows and falls with tables and streams.",
        total(of(SERVICES, "process_resident_memory_bytes"), "pod"),
        unit=Unit.BYTES,
    ),
    panel("Open files", "Mostly connections.", total(of(SERVICES, "process_open_fds"), "pod")),
)

OVERVIEW = Dashboard("croupier-overview", "croupier: overview", {"Now": _NOW, "Play": _PLAY, "Resources": _RESOURCES})
