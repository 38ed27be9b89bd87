"""Calls at lobby, engine and scoring, and the metrics of lobby and scoring."""

from k8s.dashboards.board import Dashboard, panel
from k8s.dashboards.overview import FAILED, SERVICES
from k8s.dashboards.queries import extreme, of, quantile, rate, total

_CALLS = (
    panel(
        "Calls by method",
        "Finished calls; streams count when they end.",
        rate(of(SERVICES, "croupier_rpc_calls_total"), "method"),
    ),
    panel(
        "Failures of the services",
        "By method and code. INTERNAL is a defect, and the log has its traceback.",
        rate(of(SERVICES, "croupier_rpc_calls_total", code=FAILED), "method", "code"),
    ),
    panel(
        "Duration of unary calls, p99",
        "Without the network.",
        quantile(0.99, of(SERVICES, "croupier_rpc_seconds_bucket"), "method"),
    ),
    panel("Running calls", "Mostly streams.", total(of(SERVICES, "croupier_rpc_open_calls"), "method")),
)
_LIMITS = (
    panel(
        "Calls refused by limits",
        "By the limit. People seldom reach one: it is a program, or a flood.",
        rate(of(SERVICES, "croupier_refusals_total"), "limit"),
    ),
    panel(
        "Players and networks that call too often",
        "By method: refused calls and delayed actions in streams.",
        rate(of(SERVICES, "croupier_rpc_limited_total"), "method"),
    ),
    panel(
        "Calls without network",
        "No limit of a network holds for them. The gateway adds the network, so there should be none.",
        rate(of(SERVICES, "croupier_calls_without_network_total"), "job"),
    ),
)
_LOBBY = (
    panel(
        "Sign-ins",
        "Of new and of known players, and deleted guests, who never played.",
        rate(of("lobby", "croupier_lobby_sign_ins_total"), "new").called("new: {{new}}"),
        rate(of("lobby", "croupier_guests_deleted_total")).called("deleted"),
    ),
    panel(
        "Tables that have not ended",
        "By the state in the lobby.",
        extreme("max", total(of("lobby", "croupier_lobby_tables"), "pod", "state").expression, "state"),
    ),
    panel(
        "Waiting tickets",
        "For a quick match, by game. Many for a long time: too few players with the same criteria.",
        extreme("max", total(of("lobby", "croupier_lobby_tickets_waiting"), "pod", "game").expression, "game"),
    ),
    panel("Matches made", "By game.", rate(of("lobby", "croupier_lobby_matches_total"), "game")),
)
_SCORING = (
    panel(
        "Entries into the ledger",
        "Repeated entries are harmless retries. A conflict is a defect: two engines reported different results.",
        rate(of("scoring", "croupier_scoring_entries_total"), "kind", "outcome"),
    ),
)

CALLS = Dashboard(
    "croupier-calls",
    "croupier: calls, lobby and scoring",
    {"Calls": _CALLS, "Limits": _LIMITS, "Lobby": _LOBBY, "Scoring": _SCORING},
)
