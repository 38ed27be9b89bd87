"""The invariants, and their violations."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Invariant(StrEnum):
    """The invariants, each by the name of its violation."""

    SEQUENCE_GAP = "sequence_gap"
    SEQUENCE_REPEAT = "sequence_repeat"
    STREAM_SILENT = "stream_silent"
    VIEW_DIFFERS = "view_differs"
    HIDDEN_CARD_SEEN = "hidden_card_seen"
    SEED_SHOWN_EARLY = "seed_shown_early"
    PRESENCE_WRONG = "presence_wrong"
    PUBLIC_FACTS_DIFFER = "public_facts_differ"
    ILLEGAL_ACCEPTED = "illegal_accepted"
    LEGAL_REFUSED = "legal_refused"
    REFUSAL_WITHOUT_REASON = "refusal_without_reason"
    REFUSAL_WITHOUT_RULE = "refusal_without_rule"
    WRONG_REFUSAL = "wrong_refusal"
    REPEAT_DIFFERS = "repeat_differs"
    ACKNOWLEDGED_LOST = "acknowledged_lost"
    TABLE_LOST = "table_lost"
    ACTION_DUPLICATED = "action_duplicated"
    TIMEOUT_TOO_EARLY = "timeout_too_early"
    DEADLINE_MISSED = "deadline_missed"
    RULES_BROKEN = "rules_broken"
    LOG_BROKEN = "log_broken"
    SHOWN_BEFORE_STORED = "shown_before_stored"
    SHOWN_TOO_EARLY = "shown_too_early"
    COMPENSATION_WRONG = "compensation_wrong"
    TIMEOUT_UNEXCUSED = "timeout_unexcused"
    TABLE_STUCK = "table_stuck"
    TABLE_PAUSED = "table_paused"
    CLIENT_ERROR = "client_error"
    SEATED_WRONGLY = "seated_wrongly"
    REMATCH_WRONG = "rematch_wrong"
    FORMING_WRONG = "forming_wrong"
    OWN_TABLES_WRONG = "own_tables_wrong"
    RESOURCE_LEAKED = "resource_leaked"
    DEAL_UNFAIR = "deal_unfair"
    REPLAY_DIFFERS = "replay_differs"
    RESULT_DIFFERS = "result_differs"
    RESULT_MISSING = "result_missing"
    LEDGER_DIFFERS = "ledger_differs"
    STATISTICS_DIFFER = "statistics_differ"
    LEADERBOARD_DIFFERS = "leaderboard_differs"
    METRICS_DIFFER = "metrics_differ"
    PRIVATE_TABLE_SEEN = "private_table_seen"
    INTERNAL_ERROR = "internal_error"
    PAGE_BROKEN = "page_broken"


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation of an invariant, with its place and detail; `sequence` is 0 without an entry."""

    invariant: Invariant
    table_id: str
    sequence: int
    detail: str

    def __str__(self) -> str:
        return f"{self.invariant}: table {self.table_id}, entry {self.sequence}: {self.detail}"


Found: TypeAlias = tuple[Invariant, int, str]
"""A violation at the judged table: invariant, sequence and detail."""
