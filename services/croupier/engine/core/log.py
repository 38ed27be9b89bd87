"""A table's log: the configuration, which is fixed when the table opens, and the entries."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from croupier.engine.core.shuffles import commitment
from croupier.games.facts import Seat
from croupier.games.interface import Event, OptionValue
from croupier.runtime.table_access import SEATED, TableAccess

MAX_BOT_DELAY_MILLISECONDS = 10_000
"""No table may have a longer bot delay."""
AWAY_MILLISECONDS = 3_000
"""The time for each action of a seat whose time ran out, at tables of earlier versions and by default."""
REQUEST_HASH_BYTES = 5
"""Two of 10,000 requests have the same hash in one table of 20,000; a repeat of the first is then refused."""


class ActedBy(IntEnum):
    """The origin of the decision on an action; the numbers are those of the contract and of stored logs."""

    PLAYER = 0
    TIMEOUT = 1
    BOT = 2


@dataclass(frozen=True, slots=True)
class SeatConfig:
    """The player of a seat, or a computer player if `bot` names one."""

    player_id: str
    name: str
    bot: str = ""


@dataclass(frozen=True, slots=True)
class ClockConfig:
    """The time for each action, the reserve for the whole game, and the time before a computer player acts.

    `abandoned_milliseconds`: the time after which a table ends whose people are all away, unless an action has more. It
    is 0 at tables of earlier versions, where the engine plays on for them. `away_milliseconds`: the time for each
    action of a seat whose time ran out, and whose player has not acted since, unless an action has less.
    """

    action_milliseconds: int
    reserve_milliseconds: int
    bot_delay_milliseconds: int
    abandoned_milliseconds: int = 0
    away_milliseconds: int = AWAY_MILLISECONDS


@dataclass(frozen=True, slots=True)
class TableConfig:
    """The configuration of a table. A prepared table has no seats but that of its host, and no access for others.

    `package` is that of its rules with its version, for example "croupier-hearts 1.2.0"; empty for croupier's own.
    """

    table_id: str
    game: str
    rules_version: int
    seat_count: int
    options: Mapping[str, OptionValue]
    clock: ClockConfig
    seed: bytes
    seats: tuple[SeatConfig, ...] = ()
    client_seeds: tuple[bytes, ...] = ()
    access: TableAccess = SEATED
    package: str = field(default="", compare=False)

    @property
    def commitment(self) -> str:
        """SHA-256 of the secret seed, in hexadecimal."""
        return commitment(self.seed)


class Proposed(NamedTuple):
    """A seat made a proposal of Game.proposals; `expires_at` is in milliseconds since 1970 UTC."""

    seat: Seat
    proposal: str
    expires_at: int


class Voted(NamedTuple):
    """A seat agreed with the proposal of the entry `proposal_sequence`, or refused it."""

    seat: Seat
    proposal_sequence: int
    agree: bool


class AwaySet(NamedTuple):
    """The player of a seat left it to the engine, or returned to it."""

    seat: Seat
    is_away: bool


class ClockCompensated(NamedTuple):
    """The seats to act got back the milliseconds of an outage."""

    milliseconds: int


class TableEnded(NamedTuple):
    """The table reached a limit of the operator and ends: "entries", "rounds" or "abandoned"."""

    limit: str


ProposalEvent: TypeAlias = Proposed | Voted
NonGameEvent: TypeAlias = ProposalEvent | AwaySet | ClockCompensated | TableEnded
"""Events that the game does not receive; replays omit them, except for the end of a table."""
LoggedEvent: TypeAlias = Event | NonGameEvent
"""All events that an entry may hold."""


class Entry(NamedTuple):
    """One line of a log: times in milliseconds since 1970 UTC; `deadline` is 0 if no seat is to act after it."""

    sequence: int
    at: int
    deadline: int
    event: LoggedEvent
    acted_by: ActedBy = ActedBy.PLAYER
    request_id: str | bytes = ""
    """The id that the player's client chose; bytes are its hash, which a packed log keeps instead."""


def request_hash(request_id: str) -> bytes:
    """Return the hash of a request id in packed logs, of REQUEST_HASH_BYTES."""
    return hashlib.blake2s(request_id.encode(), digest_size=REQUEST_HASH_BYTES).digest()
