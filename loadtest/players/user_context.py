"""The context of a user's task: clients, time, records and random numbers."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from croupier_client import CroupierError, Endpoints, Internal
from loadtest.judge.violations import Invariant, Violation
from loadtest.measures import Measures
from loadtest.mix import MixEntry
from loadtest.players.client import NewClient, PlayerClient
from loadtest.players.counting import record_failed
from loadtest.players.tables import TableRecords
from loadtest.scenarios import Scenario

STOPPING_POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """The settings that all users of a run share; seconds."""

    scenario: Scenario
    games: Sequence[MixEntry]
    seed: int
    match_criteria: int = 1
    """The number of different games that matched players search for at once: with too many, few find a match."""
    silence_seconds: float = 30.0
    """The silence after which a stream is compared with GetView."""
    endpoints: Endpoints = field(default_factory=lambda: Endpoints("", "", ""))
    """The services, for attackers, each of whom has connections of their own."""
    attacks: Mapping[str, int] = field(default_factory=dict)
    """The attacks that attackers make, with the factor of their pace; all at their own pace if empty."""
    calm_seconds: float = 0.0
    """The time before attackers begin."""


class UserContext:
    """The context of one user; `draining` is set when the run drains."""

    def __init__(
        self,
        settings: LoadSettings,
        measures: Measures,
        tables: TableRecords,
        draining: asyncio.Event,
        new_client: NewClient,
    ) -> None:
        self.settings = settings
        self.measures = measures
        self.tables = tables
        self._draining = draining
        self._new_client = new_client
        self._is_leaving = False

    @property
    def is_stopping(self) -> bool:
        """Whether this user begins no new game, and acts without think times."""
        return self._is_leaving or self._draining.is_set()

    def stop_after_game(self) -> None:
        """Begin no further game."""
        self._is_leaving = True

    async def sleep(self, seconds: float) -> None:
        """Sleep, but not longer than until the run drains."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._draining.wait()

    async def until_stopping(self) -> None:
        """Wait until this user begins no new game."""
        while not self.is_stopping:
            await self.sleep(STOPPING_POLL_SECONDS)

    def guest(self, name: str) -> PlayerClient:
        """Return a client of a new guest, by a name that is unique in this run."""
        return self._new_client(name, self.measures, self.sleep)

    def random(self, name: str) -> Random:
        """Return a random source by name, the same whenever the run is repeated."""
        return Random(f"{self.settings.seed} {name}")


def count_failure(measures: Measures, operation: str, error: CroupierError) -> None:
    """Count a failure outside of a table; an internal error of a service is a violation."""
    if isinstance(error, Internal):
        measures.record_violations([Violation(Invariant.INTERNAL_ERROR, "", 0, f"{operation}: {error}")])
    else:
        record_failed(measures, operation, error)
