"""What an audit can find, and what it is given of a table: what the database, the ledger and the replay say."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple


class Kind(StrEnum):
    """What is wrong."""

    LOST = "lost"
    DOUBLED = "doubled"
    ALTERED = "altered"
    GAP = "gap"
    STREAM = "stream"
    HIDDEN_CARD = "hidden_card"
    EARLY_TIME_OUT = "early_time_out"
    UNEXCUSED_TIME_OUT = "unexcused_time_out"
    CREDIT = "credit"
    SCORING = "scoring"
    REPLAY = "replay"
    STUCK = "stuck"
    CLIENT_ERROR = "client_error"


class Finding(NamedTuple):
    """One thing that is wrong, and where; `sequence` is 0 if it is about the whole table."""

    kind: Kind
    table_id: str
    sequence: int
    detail: str

    def __str__(self) -> str:
        return f"{self.kind}: table {self.table_id}, entry {self.sequence}: {self.detail}"


class Line(NamedTuple):
    """An entry as the database has it; times in milliseconds since 1970 UTC."""

    sequence: int
    at: int
    deadline: int
    body: Mapping[str, Any]


class StoredLog(NamedTuple):
    """A table as the engines' database has it; `config` is its JSON."""

    table_id: str
    status: str
    game: str
    rules_version: int
    config: str
    seed: bytes
    lines: tuple[Line, ...]


class LedgerLines(NamedTuple):
    """All rows that the ledger has of a table."""

    rounds: tuple[tuple[int, list[int], list[int]], ...] = ()
    """Number, points, totals."""
    results: tuple[tuple[list[list[int]], list[int]], ...] = ()
    """Ranking, totals."""
    players: tuple[tuple[str, int], ...] = ()
    """Who took part as a person, and his place."""
    counts: tuple[tuple[int, str, int], ...] = ()
    """Seat, name, sum over the rounds."""
