"""What behaviour needs of the world that it is played in."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random

from croupier_client import CroupierError, Internal
from loadtest.judge.violations import Invariant, Violation
from loadtest.measures import Measures
from loadtest.mix import Kind as GameKind
from loadtest.players.client import NewClient, PlayerClient
from loadtest.players.tables import Tables
from loadtest.scenarios import Scenario


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


class World:
    """Where the behaviour of one user takes place; `time_up` is set when no new games are begun by anybody."""

    def __init__(
        self, manners: Manners, measures: Measures, tables: Tables, time_up: asyncio.Event, new_client: NewClient
    ) -> None:
        self.manners = manners
        self.measures = measures
        self.tables = tables
        self._time_up = time_up
        self._new_client = new_client
        self._is_leaving = False

    @property
    def is_time_up(self) -> bool:
        """Whether no new games are begun, and nobody thinks any more."""
        return self._is_leaving or self._time_up.is_set()

    def let_leave(self) -> None:
        """No further game for these people."""
        self._is_leaving = True

    async def sleep(self, seconds: float) -> None:
        """Let time pass; not longer than until time is up."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._time_up.wait()

    def guest(self, name: str) -> PlayerClient:
        """A new player of this name, for this run."""
        return self._new_client(name, self.measures, self.sleep)

    def random(self, name: str) -> Random:
        """Chance of its own for a name, the same whenever the run is repeated."""
        return Random(f"{self.manners.seed} {name}")


def tell_failure(measures: Measures, what: str, error: CroupierError) -> None:
    """Count what failed away from a table; a fault of a service's program breaks an invariant there as well."""
    if isinstance(error, Internal):
        measures.broken([Violation(Invariant.INTERNAL_ERROR, "", 0, f"{what}: {error}")])
    else:
        measures.failed(f"{what}: {error.code.name} {error.reason}".strip(), str(error))
