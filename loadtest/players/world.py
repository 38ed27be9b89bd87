"""What behaviour needs of the world that it is played in; two drivers are the swarm and plain Locust users."""

from collections.abc import Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from random import Random
from typing import Protocol

from croupier_api.v1 import lobby_pb2
from croupier_client import CroupierError, Internal, Table, Unavailable
from croupier_client.callers import AsyncCaller
from croupier_client.client import ClientCore
from loadtest.judge.violations import Invariant, Violation
from loadtest.measures import Measures
from loadtest.mix import Kind as GameKind
from loadtest.players.cheats import Attempt
from loadtest.players.tables import Tables
from loadtest.record import SeatRecord
from loadtest.scenarios import Scenario


class Followed(Protocol):
    """A table that somebody follows: what the client's table is, recorded."""

    @property
    def table(self) -> Table:
        """What is known of the table."""

    async def changed(self, *, after: int | None = None, timeout_seconds: float | None = None) -> None:
        """Wait until the table is beyond a sequence, or the game is over; raises TimedOut."""


class Seat(Followed, Protocol):
    """A table that somebody plays at."""

    async def your_turn(self, *, timeout_seconds: float | None = None) -> bool:
        """Wait until the viewer may act (True) or the game is over (False); raises TimedOut."""

    async def attempt(self, attempt: Attempt, *, request_id: str = "", by_call: bool = False) -> int:
        """Send an action, in the stream or by a call of its own, under a name if one is given; gives its sequence.

        Raises CroupierError if it is refused, TimedOut if it is not known how it went.
        """

    def drop(self) -> None:
        """Lose the stream, as a phone does; it is resumed."""


class PlayerClient(ClientCore, AsyncCaller):
    """A player's client, timed and recorded."""

    async def sign_in(self) -> lobby_pb2.Player:
        """Sign in now."""
        raise NotImplementedError

    def seat(self, table_id: str, record: SeatRecord) -> AbstractAsyncContextManager[Seat]:
        """The stream of a player at a table; the record says in which manner he reads."""
        raise NotImplementedError

    def gallery(self, table_id: str, record: SeatRecord) -> AbstractAsyncContextManager[Followed]:
        """The stream of a spectator."""
        raise NotImplementedError

    async def matched(self, *, game: str, seats: int, client_seed: bytes) -> lobby_pb2.Table:
        """Be matched with others; raises CroupierError, TimedOut if nobody else comes."""
        raise NotImplementedError

    async def send_bytes(self, path: str, body: bytes) -> CroupierError | None:
        """Call an rpc of the engine with these bytes; gives the refusal."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Manners:
    """What is the same for all players of a run; seconds."""

    scenario: Scenario
    games: Sequence[GameKind]
    seed: int
    wishes: int = 1
    """Of how many different games people may wish to be matched at a time: too many, and they wait in vain."""
    silence_seconds: float = 30.0
    """A stream that brought nothing for so long is compared with GetView."""
    matching_seconds: float = 30.0
    """How long somebody waits for others who wish for the same game."""


class World(Protocol):
    """Where behaviour takes place."""

    manners: Manners
    measures: Measures
    tables: Tables

    @property
    def is_time_up(self) -> bool:
        """Whether no new games are begun, and nobody thinks any more."""

    def now(self) -> float:
        """Seconds of a clock that only goes forward."""

    async def sleep(self, seconds: float) -> None:
        """Let time pass; not longer than until time is up."""

    async def pause(self, seconds: float) -> None:
        """Let time pass, also when time is up."""

    async def together(self, behaviours: Sequence[Coroutine[None, None, None]]) -> None:
        """Let several people do something at the same time."""

    def guest(self, name: str) -> PlayerClient:
        """A new player of this name, for this run."""

    def random(self, name: str) -> Random:
        """Chance of its own for a name, the same whenever the run is repeated."""


def tell_failure(measures: Measures, what: str, error: CroupierError) -> None:
    """Count what failed away from a table; a fault of a service's program breaks an invariant there as well."""
    if isinstance(error, Internal):
        measures.broken([Violation(Invariant.INTERNAL_ERROR, "", 0, f"{what}: {error}")])
    else:
        measures.failed(f"{what}: {error.code.name} {error.reason}".strip(), str(error))


def is_failure(error: CroupierError) -> bool:
    """Whether a service failed, rather than said no."""
    return isinstance(error, Unavailable | Internal)
