"""Calls at lobby, engine and scoring, and what lobby and scoring count beside them."""

from k8s.dashboards.board import Dashboard, Panel, Query, Row, Unit
from k8s.dashboards.house import FAILED, SERVICES
from k8s.dashboards.queries import of, quantile, rate, total

_CALLS = Row(
    "Calls",
    (
        Panel(
            "Calls by method",
            "Finished calls, streams when they end.",
            (Query(rate(of(SERVICES, "croupier_rpc_calls_total"), "method"), "{{method}}"),),
            Unit.PER_SECOND,
        ),
        Panel(
            "Failures that are ours",
            "By method and code. INTERNAL is a defect, and the log has its traceback.",
            (
                Query(
                    rate(of(SERVICES, "croupier_rpc_calls_total", code=FAILED), "method", "code"),
                    "{{method}} {{code}}",
                ),
            ),
            Unit.PER_SECOND,
        ),
        Panel(
            "Time of unary calls, 99 of 100",
            "Without the way there and back.",
            (Query(quantile(0.99, of(SERVICES, "croupier_rpc_seconds_bucket"), "method"), "{{method}}"),),
            Unit.SECONDS,
        ),
        Panel(
            "Calls being served",
            "Streams for the most part.",
            (Query(total(of(SERVICES, "croupier_rpc_open_calls"), "method"), "{{method}}"),),
        ),
    ),
)

_LIMITS = Row(
    "Limits",
    (
        Panel(
            "Players who call too often",
            "Calls refused, and actions in streams held back. People never get there: it is a program, or a flood.",
            (Query(rate(of(SERVICES, "croupier_rpc_limited_total"), "method"), "{{method}}"),),
            Unit.PER_SECOND,
        ),
    ),
)

_LOBBY = Row(
    "Lobby",
    (
        Panel(
            "Sign-ins",
            "Of new players and of known ones.",
            (Query(rate(of("lobby", "croupier_lobby_sign_ins_total"), "new"), "new: {{new}}"),),
            Unit.PER_SECOND,
        ),
        Panel(
            "Tables that have not ended",
            "By state, as the lobby knows them.",
            (Query(f"max by (state) (sum by (pod, state) ({of('lobby', 'croupier_lobby_tables')}))", "{{state}}"),),
        ),
        Panel(
            "Tickets that wait",
            "For a quick match, by game. Many for long: too few want the same.",
            (
                Query(
                    f"max by (game) (sum by (pod, game) ({of('lobby', 'croupier_lobby_tickets_waiting')}))", "{{game}}"
                ),
            ),
        ),
        Panel(
            "Matches made",
            "By game.",
            (Query(rate(of("lobby", "croupier_lobby_matches_total"), "game"), "{{game}}"),),
            Unit.PER_SECOND,
        ),
    ),
)

_SCORING = Row(
    "Scoring",
    (
        Panel(
            "Entries into the ledger",
            "Repeated ones are retries and harmless. A conflict is two engines that tell different results: a defect.",
            (Query(rate(of("scoring", "croupier_scoring_entries_total"), "kind", "outcome"), "{{kind}} {{outcome}}"),),
            Unit.PER_SECOND,
        ),
    ),
)

CALLS = Dashboard("croupier-calls", "croupier: calls, lobby and scoring", (_CALLS, _LIMITS, _LOBBY, _SCORING))
