"""The context of a user's task: clients, time, records and random numbers."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from math import ceil
from random import Random
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from croupier_client import CroupierError, Endpoints, Internal
from croupier_client.sockets import GRPC
from croupier_loadtest.judge.violations import Invariant, Violation
from croupier_loadtest.measures import Measures
from croupier_loadtest.mix import MixEntry
from croupier_loadtest.players.client import NewClient, PlayerClient
from croupier_loadtest.players.counting import record_failed
from croupier_loadtest.players.recorder import TableRecords
from croupier_loadtest.scenarios import Scenario, UserKind

if TYPE_CHECKING:
    from playwright.async_api import Browser

STOPPING_POLL_SECONDS = 1.0
MATCHERS_PER_CRITERIA = 24
MIN_CONNECTIONS = 4
STREAMS_PER_CONNECTION = 40
"""A gateway accepts 100 streams of one connection, and queues the rest."""
PLAYERS_PER_GROUP = 4


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """The settings of a run that all users share, in every process; seconds."""

    scenario: Scenario
    """With the options that override it."""
    games: tuple[MixEntry, ...]
    seed: int
    users: int = 1
    """The number of users at full load, in all processes together."""
    silence_seconds: float = 30.0
    """The silence after which a stream is compared with GetView."""
    endpoints: Endpoints = field(default_factory=lambda: Endpoints("", "", ""))
    transport: str = GRPC
    """The transport of tables' streams."""
    attacks: Mapping[str, int] = field(default_factory=dict)
    """The attacks that attackers make, with the factor of their pace."""
    installed: tuple[MixEntry, ...] = ()
    """All installed games, of which attackers take those that are offered."""
    calm_seconds: float = 0.0
    """The time before attackers begin."""

    @property
    def match_criteria(self) -> int:
        """The number of different games that matched players search for at once: with too many, few find a match."""
        return 1 + self._users_of(UserKind.MATCHER) // MATCHERS_PER_CRITERIA

    @property
    def connections(self) -> int:
        """The number of connections to each service that the players of one process share."""
        if len({*self.endpoints.by_service().values()}) > 1:
            return MIN_CONNECTIONS
        streams = self._users_of(UserKind.GROUP) * (PLAYERS_PER_GROUP - 1) + self.users
        return max(MIN_CONNECTIONS, ceil(streams / STREAMS_PER_CONNECTION))

    @property
    def has_pages(self) -> bool:
        """Whether people play at pages of the web table, whose calls nobody counts."""
        return UserKind.PAGES in self.scenario.users_per_table

    @property
    def ports(self) -> frozenset[int]:
        """The ports of the services to which players have streams."""
        streams = self.endpoints.engine if self.transport == GRPC else self.endpoints.websocket
        addresses = f"{self.endpoints.lobby},{streams}".split(",")
        return frozenset(int(address.rpartition(":")[2]) for address in addresses)

    def _users_of(self, kind: UserKind) -> int:
        """Return the approximate number of users of a kind."""
        shares = self.scenario.users_per_table
        return round(self.users * shares.get(kind, 0.0) / sum(shares.values())) if shares else 0

    def to_json(self) -> dict[str, Any]:
        """Return the settings as a dictionary for JSON."""
        settings: dict[str, Any] = TypeAdapter(LoadSettings).dump_python(self, mode="json")
        return settings

    @staticmethod
    def from_json(settings: Mapping[str, Any]) -> "LoadSettings":
        """Return the settings from the dictionary of to_json."""
        return TypeAdapter(LoadSettings).validate_python(settings)


@dataclass(slots=True)
class UserContext:
    """The context of one user."""

    settings: LoadSettings
    measures: Measures
    tables: TableRecords
    _draining: asyncio.Event
    """Set when the run drains."""
    _new_client: NewClient
    browser: "Browser | None" = None
    """The browser of this process, in a scenario with pages."""
    _is_leaving: bool = False

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
