"""What must hold whatever happens, and what is told when it did not."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Invariant(StrEnum):
    """What must hold, by the name of its breach."""

    SEQUENCE_GAP = "sequence_gap"
    SEQUENCE_REPEAT = "sequence_repeat"
    STREAM_SILENT = "stream_silent"
    VIEW_DIFFERS = "view_differs"
    HIDDEN_CARD_SEEN = "hidden_card_seen"
    SEED_SHOWN_EARLY = "seed_shown_early"
    PUBLIC_FACTS_DIFFER = "public_facts_differ"
    ILLEGAL_ACCEPTED = "illegal_accepted"
    LEGAL_REFUSED = "legal_refused"
    REFUSAL_WITHOUT_REASON = "refusal_without_reason"
    REFUSAL_WITHOUT_RULE = "refusal_without_rule"
    WRONG_REFUSAL = "wrong_refusal"
    REPEAT_DIFFERS = "repeat_differs"
    ACKNOWLEDGED_LOST = "acknowledged_lost"
    TABLE_LOST = "table_lost"
    ACTION_DOUBLED = "action_doubled"
    PLAYED_FOR_TOO_EARLY = "played_for_too_early"
    DEADLINE_MISSED = "deadline_missed"
    RULES_BROKEN = "rules_broken"
    LOG_BROKEN = "log_broken"
    SHOWN_BEFORE_STORED = "shown_before_stored"
    CREDIT_WRONG = "credit_wrong"
    TIMED_OUT_UNEXCUSED = "timed_out_unexcused"
    TABLE_STUCK = "table_stuck"
    CLIENT_ERROR = "client_error"
    SEATED_WRONGLY = "seated_wrongly"
    LEFT_OVER = "left_over"
    DEAL_UNFAIR = "deal_unfair"
    REPLAY_UNTRUE = "replay_untrue"
    RESULT_DIFFERS = "result_differs"
    RESULT_MISSING = "result_missing"
    LEDGER_DIFFERS = "ledger_differs"
    STATISTICS_DIFFER = "statistics_differ"
    LEADERBOARD_DIFFERS = "leaderboard_differs"
    METRICS_DIFFER = "metrics_differ"
    INTERNAL_ERROR = "internal_error"


@dataclass(frozen=True, slots=True)
class Violation:
    """An invariant that broke, where, and what was seen; `sequence` is 0 where no entry of the log is meant."""

    invariant: Invariant
    table_id: str
    sequence: int
    detail: str


Found: TypeAlias = tuple[Invariant, int, str]
"""The same at the table that is judged: invariant, sequence and detail."""
