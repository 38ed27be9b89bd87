"""The record of one table: what its viewers sent and received, and what services and databases have of it.

The judge gets nothing else. Everything here can be pickled. Bytes are messages of the contract as they were sent or
received; times are milliseconds since 1970 UTC of the players' machine.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from croupier_api.v1.errors_pb2 import ErrorReason
from croupier_loadtest.judge.rules.interface import Standing
from croupier_loadtest.judge.violations import Invariant


class Opened(NamedTuple):
    """A stream was opened, the first is number 0; without `after_sequence` it must begin with a snapshot."""

    at_milliseconds: int
    after_sequence: int | None


class Closed(NamedTuple):
    """A stream ended, or broke; a stream without this is open until its last message."""

    at_milliseconds: int
    stream: int


class Received(NamedTuple):
    """A message of a stream: a PlayTableResponse, or a WatchTableResponse, which parses as one."""

    at_milliseconds: int
    stream: int
    body: bytes


class Expected(NamedTuple):
    """The refusal that an attempt must get: the gRPC status code and the reason, unspecified for any."""

    name: str
    code: int
    reason: ErrorReason.ValueType


class Sent(NamedTuple):
    """An action that was sent, with the refusal that is expected, if any. `action` is an Action of the contract.

    A retry under the same request id after a lost connection is not recorded again; a deliberate repeat is.
    """

    at_milliseconds: int
    request_id: str
    action: bytes
    expected_sequence: int | None
    expected: Expected | None = None


class SentRequest(NamedTuple):
    """A request other than an action that was sent, with its repeats.

    `body` is the type and the values of its entry in the log, such as ("propose", "restart_same"), ("vote", 7, True) or
    ("away", True).
    """

    at_milliseconds: int
    request_id: str
    body: tuple[str | int, ...]


class Answered(NamedTuple):
    """The answer to a request: its sequence, or a refusal with the gRPC status code, the reason and the rule.

    The reason is unspecified for a refusal without one, or with one that the contract does not have.
    """

    at_milliseconds: int
    request_id: str
    sequence: int | None
    code: int = 0
    reason: ErrorReason.ValueType = ErrorReason.ERROR_REASON_UNSPECIFIED
    rule: str = ""
    message: str = ""


class Viewed(NamedTuple):
    """An answer of GetView: a Snapshot."""

    at_milliseconds: int
    snapshot: bytes


class ShownSeat(NamedTuple):
    """The viewer's seat in a list or on a stream of their tables: a MySeat with the turn of a game.

    The turn is that of some moment between the two times.
    """

    since_milliseconds: int
    answered_milliseconds: int
    body: bytes


class ReportedViolation(NamedTuple):
    """A violation that a player or the harness found."""

    invariant: Invariant
    sequence: int
    detail: str


@dataclass(slots=True)
class SeatRecord:
    """Everything that one viewer sent and received; `seat` is None for a spectator and before the first snapshot."""

    player_id: str
    seat: int | None = None
    behaviour: str = ""
    opened: list[Opened] = field(default_factory=list)
    closed: list[Closed] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    sent_requests: list[SentRequest] = field(default_factory=list)
    answered: list[Answered] = field(default_factory=list)
    viewed: list[Viewed] = field(default_factory=list)
    shown_seats: list[ShownSeat] = field(default_factory=list)
    reported: list[ReportedViolation] = field(default_factory=list)
    client_seed: bytes = b""
    """The player's contribution to the shuffles, empty for none."""
    timeouts: list[int] = field(default_factory=list)
    """The sequences of received entries that acted for a seat after its time had run out."""
    left_milliseconds: int | None = None
    """When the viewer left before the game was over; from then on nothing is expected of them."""
    reads_slowly: bool = False
    """Whether the viewer itself delays what it receives."""
    impaired: bool = False
    """Whether the run kept this player from acting, or made them leave: their time may run out."""
    thinks_milliseconds: int | None = None
    """The longest time before this player acts; None where the run has no such bound."""

    def has_left(self, at_milliseconds: int) -> bool:
        """Return whether the viewer had left at that time."""
        return self.left_milliseconds is not None and self.left_milliseconds <= at_milliseconds


class StoredEntry(NamedTuple):
    """A row of the log; times in milliseconds since 1970 UTC, `body` as JSON.

    `committed_milliseconds` is the time of the commit where the run knows it (the simulation does).
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
    """A table's rows in scoring's database; the time of the result is None where the run does not read it."""

    rounds: tuple[tuple[int, list[int], list[int]], ...] = ()
    """Number, points by seat, totals by seat."""
    results: tuple[tuple[list[list[int]], list[int]], ...] = ()
    """Ranking (groups of seats, best first), totals by seat."""
    players: tuple[tuple[str, int, str], ...] = ()
    """Player id of each person, their place from 1, and their outcome, which is empty if the game does not count."""
    counts: tuple[tuple[int, str, int], ...] = ()
    """Seat, name of the count, sum over all rounds."""
    finished_milliseconds: int | None = None
    conduct: tuple[tuple[int, bool, bool], ...] = ()
    """By seat the number of time-outs, whether the engine played for it at the end, and because its player had left."""


class Outage(NamedTuple):
    """A time without a running engine, or without a service; milliseconds since 1970 UTC."""

    began: int
    ended: int


MAX_ENTRIES = 10_000
MAX_ROUNDS = 1_000
ABANDONED_MILLISECONDS = 180_000
"""The limits of a table by the engine's defaults."""


NO_DECK: Mapping[str, int] = {}


class DescribedGame(NamedTuple):
    """A game as the services describe it."""

    rules_version: int = 0
    """The version of the rules that new tables have."""
    deck: Mapping[str, int] = NO_DECK
    """The numbers of the game's own cards by notation; empty for standard cards."""
    standing: Standing = Standing()
    """How finished games count."""
    rules: frozenset[str] = frozenset()
    """The ids of the rules on its page; empty if it has none."""


UNDESCRIBED = DescribedGame()
"""A game that no client asked about."""


class DeliveryLimit(NamedTuple):
    """The limit on the delay of entries on an open stream, for entries stored after a time."""

    max_milliseconds: int
    since_milliseconds: int = 0
    applies_to_impaired: bool = False
    """Whether it holds for impaired viewers too, since messages are recorded where they are sent."""


@dataclass(slots=True)
class TableRecord:
    """A table as the viewers of this process saw it, and the results and rows that were read afterwards."""

    table_id: str
    game: str
    seats: int
    commitment: str = ""
    """The lobby's, from before the first deal; empty if no client read it."""
    described: DescribedGame = UNDESCRIBED
    viewers: list[SeatRecord] = field(default_factory=list)
    timed_until_milliseconds: int | None = None
    """The time at which the run began to drain: actions that were sent later are not timed."""
    is_private: bool = False
    """Whether the table does not exist to players without a seat."""
    is_finished: bool = False
    """Whether a viewer here received the end of the game."""
    replays: list[str] = field(default_factory=list)
    """Answers of GetReplay, possibly to several viewers."""
    sheet: bytes | None = None
    """The answer of GetScoreSheet with the result: a GetScoreSheetResponse."""
    stored: StoredTable | None = None
    """The table's rows in the engines' database, read in one transaction after the viewers' last message.

    None where the run cannot read the database.
    """
    ledger: Ledger | None = None
    """The table's rows in scoring's database; None where the run cannot read it."""
    interruptions: tuple[Outage, ...] = ()
    """The times in which the run kept services or databases from answering, and tables recovered from that."""
    outages: tuple[Outage, ...] = ()
    """The outages in the engines' database; judged where `stored` is set."""
    late_milliseconds: int | None = 2_500
    """The maximum delay of an engine's action after a deadline, outages aside (docs/guarantees.md); None for any."""
    max_entries: int = MAX_ENTRIES
    """The number of entries with which the operator lets a table end; judged where `stored` is set."""
    max_rounds: int = MAX_ROUNDS
    """The number of rounds with which the operator lets a table end; judged where `stored` is set."""
    abandoned_milliseconds: int = ABANDONED_MILLISECONDS
    """The time after which the operator lets a table end whose people are all away."""
    delivery: DeliveryLimit | None = None
    """The limit on the delay of entries; None for none."""
