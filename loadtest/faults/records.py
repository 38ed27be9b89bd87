"""What the clients of a run saw, as plain values: what was promised to them, and all that their streams brought.

Messages are kept in canonical bytes (deterministic serialization). Times are seconds of the harness's monotonic clock,
except where milliseconds since 1970 UTC are named.
"""

from dataclasses import dataclass, field
from typing import NamedTuple


class Acknowledged(NamedTuple):
    """An action that an engine promised to have stored as this entry; `action` is a serialized Action."""

    seat: int
    request_id: str
    action: bytes
    sequence: int


class Heard(NamedTuple):
    """An update as it came: a serialized TableUpdate, and LegalActions (empty if none)."""

    sequence: int
    update: bytes
    legal_actions: bytes
    at: float


class Opened(NamedTuple):
    """A snapshot as it came."""

    sequence: int
    snapshot: bytes
    at: float


@dataclass(slots=True)
class Stream:
    """Everything that one viewer was sent, over all his reconnects, in the order in which it came."""

    seat: int | None = None
    """None for a spectator, and before the first message."""
    messages: list[Opened | Heard] = field(default_factory=list)
    client: int = 0
    """Which client it belongs to."""
    leaves: bool = False
    """Whether its player goes away now and then."""
    time_outs: dict[int, str] = field(default_factory=dict)
    """What the client was about when the engine acted for its seat, by the entry."""
    hampered: bool = False
    """Whether the run itself stood in the way of this client, or let its player go away: then his time may run out."""


class Move(NamedTuple):
    """When an action was first heard of by anyone, and when it was stored (milliseconds since 1970 UTC)."""

    at: float
    stored_milliseconds: int


@dataclass(slots=True)
class TableRecord:
    """A table as the clients knew it."""

    table_id: str
    game: str
    seats: int
    players: tuple[str, ...] = ()
    """The players' ids by seat, empty for computer players."""
    streams: list[Stream] = field(default_factory=list)
    acknowledged: list[Acknowledged] = field(default_factory=list)
    has_leavers: bool = False
    finished: bool = False
    """Whether a client saw the end of the game."""
    head: int = 0
    """The last entry that any client heard of as it came."""
    moves: list[Move] = field(default_factory=list)

    @property
    def last_seen(self) -> int:
        """The last entry that any client knows of: also one that it did not hear, but came back after."""
        return max([self.head, *(stream.messages[-1].sequence for stream in self.streams if stream.messages)])

    def first_heard(self) -> dict[int, float]:
        """When the first client heard of each entry."""
        first: dict[int, float] = {}
        for stream in self.streams:
            for message in stream.messages:
                if isinstance(message, Heard):
                    first[message.sequence] = min(message.at, first.get(message.sequence, message.at))
        return first

    def heard(self, sequence: int, stored_milliseconds: int, is_move: bool, now: float) -> None:
        """Note when an entry was first heard of."""
        if sequence > self.head:
            self.head = sequence
            if is_move:
                self.moves.append(Move(now, stored_milliseconds))
