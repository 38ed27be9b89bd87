"""Calls at lobby, engine and scoring, and what lobby and scoring count beside them."""

from k8s.dashboards.board import Dashboard, panel
from k8s.dashboards.house import FAILED, SERVICES
from k8s.dashboards.queries import extreme, of, quantile, rate, total

_CALLS = (
    panel(
        "Calls by method",
        "Finished calls, streams when they end.",
        rate(of(SERVICES, "croupier_rpc_calls_total"), "method"),
    ),
    panel(
        "Failures that are ours",
        "By method and code. INTERNAL is a defect, and the log has its traceback.",
        rate(of(SERVICES, "croupier_rpc_calls_total", code=FAILED), "method", "code"),
    ),
    panel(
        "Time of unary calls, 99 of 100",
        "Without the way there and back.",
        quantile(0.99, of(SERVICES, "croupier_rpc_seconds_bucket"), "method"),
    ),
    panel("Calls being served", "Streams for the most part.", total(of(SERVICES, "croupier_rpc_open_calls"), "method")),
)
_LIMITS = (
    panel(
        "Players who call too often",
        "Calls refused, and actions in streams held back. People never get there: it is a program, or a flood.",
        rate(of(SERVICES, "croupier_rpc_limited_total"), "method"),
    ),
)
_LOBBY = (
    panel(
        "Sign-ins",
        "Of new players and of known ones.",
        rate(of("lobby", "croupier_lobby_sign_ins_total"), "new").called("new: {{new}}"),
    ),
    panel(
        "Tables that have not ended",
        "By state, as the lobby knows them.",
        extreme("max", total(of("lobby", "croupier_lobby_tables"), "pod", "state").expression, "state"),
    ),
    panel(
        "Tickets that wait",
        "For a quick match, by game. Many for long: too few want the same.",
        extreme("max", total(of("lobby", "croupier_lobby_tickets_waiting"), "pod", "game").expression, "game"),
    ),
    panel("Matches made", "By game.", rate(of("lobby", "croupier_lobby_matches_total"), "game")),
)
_SCORING = (
    panel(
        "Entries into the ledger",
        "Repeated ones are retries and harmless. A conflict is two engines that tell different results: a defect.",
        rate(of("scoring", "croupier_scoring_entries_total"), "kind", "outcome"),
    ),
)

CALLS = Dashboard(
    "croupier-calls",
    "croupier: calls, lobby and scoring",
    {"Calls": _CALLS, "Limits": _LIMITS, "Lobby": _LOBBY, "Scoring": _SCORING},
)
