"""What players of one table heard, sent and were answered: all that the judge gets to see, beside the records.

Everything here can be pickled. Bytes are messages of the contract as they came or went; times are milliseconds since
1970 UTC of the players' machine.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from loadtest.judge.violations import Invariant


class Opened(NamedTuple):
    """A stream was opened, the first as number 0; without `after_sequence` it must begin with a snapshot."""

    at_milliseconds: int
    after_sequence: int | None


class Closed(NamedTuple):
    """A stream ended, or broke; one that is not named is open until the last message on it."""

    at_milliseconds: int
    stream: int


class Heard(NamedTuple):
    """A message of a stream: a PlayResponse, as which a WatchTableResponse can be read too."""

    at_milliseconds: int
    stream: int
    body: bytes


class Expected(NamedTuple):
    """What the refusal of an attempt must say: the gRPC status code and the reason."""

    name: str
    code: int
    reason: str


class Sent(NamedTuple):
    """An action that was sent; one that must be refused says how. `action` is an Action of the contract.

    Whoever sends an action again under its name after a connection broke is not noted again; who does so on purpose is.
    """

    at_milliseconds: int
    request_id: str
    action: bytes
    expected_sequence: int | None
    expected: Expected | None = None


class Said(NamedTuple):
    """A proposal, or a vote on the one that the entry `proposal_sequence` made, that was sent; the other is None."""

    at_milliseconds: int
    request_id: str
    proposal: str | None
    proposal_sequence: int | None = None
    agree: bool | None = None


class Answered(NamedTuple):
    """The answer to an action: its sequence, or a refusal with the gRPC status code, the reason and the rule."""

    at_milliseconds: int
    request_id: str
    sequence: int | None
    code: int = 0
    reason: str = ""
    rule: str = ""
    message: str = ""


class Viewed(NamedTuple):
    """What GetView gave: a Snapshot."""

    at_milliseconds: int
    snapshot: bytes


class Noted(NamedTuple):
    """What a player found wrong by himself."""

    invariant: Invariant
    sequence: int
    detail: str


@dataclass(slots=True)
class SeatRecord:
    """What one viewer lived through at a table; `seat` is None for a spectator and before the first snapshot."""

    player_id: str
    seat: int | None = None
    manner: str = ""
    opened: list[Opened] = field(default_factory=list)
    closed: list[Closed] = field(default_factory=list)
    heard: list[Heard] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    answered: list[Answered] = field(default_factory=list)
    viewed: list[Viewed] = field(default_factory=list)
    noted: list[Noted] = field(default_factory=list)
    client_seed: bytes = b""
    """What the player added to the shuffles, if he did."""
    timeouts: list[int] = field(default_factory=list)
    """The entries heard that acted for a seat because its time had run out."""
    left_milliseconds: int | None = None
    """When he left before the game was over; from then on nobody can expect him."""
    reads_slowly: bool = False
    """Whether the time until he hears of something is his own doing."""
    hampered: bool = False
    """Whether the run itself kept this player from acting, or let them go away: their time may run out."""
    thinks_milliseconds: int | None = None
    """The longest that this player waits before an action; None where the run does not promise that."""

    def has_left(self, at_milliseconds: int) -> bool:
        """Whether the viewer had left by then."""
        return self.left_milliseconds is not None and self.left_milliseconds <= at_milliseconds


class StoredEntry(NamedTuple):
    """A row of the log; times in milliseconds since 1970 UTC, `body` as JSON.

    `committed_milliseconds` is when the transaction was committed, where the run can see that (the simulation can).
    """

    sequence: int
    at: int
    deadline: int
    body: str
    committed_milliseconds: int | None = None


class StoredTable(NamedTuple):
    """A table's rows in the engines' database, from the log or from the archive; `config` is JSON."""

    status: str
    game: str
    rules_version: int
    config: str
    seed: bytes
    entries: tuple[StoredEntry, ...]


class Ledger(NamedTuple):
    """A table's rows in scoring's database; None for the time of the result where a run does not read it."""

    rounds: tuple[tuple[int, list[int], list[int]], ...] = ()
    """Number, points by seat, totals by seat."""
    results: tuple[tuple[list[list[int]], list[int]], ...] = ()
    """Ranking (groups of seats, best first), totals by seat."""
    players: tuple[tuple[str, int], ...] = ()
    """Player id of each person, and the person's place from 1."""
    counts: tuple[tuple[int, str, int], ...] = ()
    """Seat, name of what is counted, sum over all rounds."""
    finished_milliseconds: int | None = None


class Outage(NamedTuple):
    """A time in which an engine was missing; milliseconds since 1970 UTC."""

    began: int
    ended: int


class Lag(NamedTuple):
    """How late an entry may be received on a stream that is open, judged of entries stored after a time."""

    most_milliseconds: int
    since_milliseconds: int = 0
    is_of_hampered: bool = False
    """Whether it is judged of hampered viewers too, since messages are recorded where they are sent."""


@dataclass(slots=True)
class TableRecord:
    """A table as those of its viewers lived it who are played here, and what the services say of it afterwards."""

    table_id: str
    game: str
    seats: int
    commitment: str = ""
    """As the lobby showed it before the first deal; empty where nobody looked."""
    viewers: list[SeatRecord] = field(default_factory=list)
    timed_until_milliseconds: int | None = None
    """From when on nobody thought any more, so that the game would end: what was sent later says nothing of times."""
    is_finished: bool = False
    """Whether somebody here saw the end of the game."""
    replays: list[str] = field(default_factory=list)
    """What GetReplay gave, to several viewers perhaps."""
    sheet: bytes | None = None
    """What GetScoreSheet gave once the result was on it: a GetScoreSheetResponse."""
    stored: StoredTable | None = None
    """The table's rows in the engines' database, read in one transaction after the viewers' last message.

    None where the database is out of reach.
    """
    ledger: Ledger | None = None
    """The table's rows in scoring's database; None where the database is out of reach."""
    outages: tuple[Outage, ...] = ()
    """The times in which an engine was missing, as the engines' database has them; judged where `stored` is there."""
    late_milliseconds: int | None = 2_500
    """So much after a deadline an engine may act, outages aside: see docs/guarantees.md; None for any time."""
    lag: Lag | None = None
    """None where it is not judged how late entries are received."""
