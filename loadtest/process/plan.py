"""The plan of a run, as the load processes receive it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import Any

from croupier_client import Endpoints, Tls
from loadtest.mix import ALL_GAMES, read_mix, read_weights
from loadtest.players.attackers.registry import ATTACKS
from loadtest.players.user_context import LoadSettings
from loadtest.scenarios import SCENARIOS, Scenario, UserKind, read_behaviours

MATCHERS_PER_CRITERIA = 24
MIN_CONNECTIONS = 4
STREAMS_PER_CONNECTION = 40
"""A gateway accepts 100 streams of one connection, and queues the rest."""
PLAYERS_PER_GROUP = 4
STOPPING_SECONDS = 30.0
"""The time limit of users who are stopped in the middle of a game."""
JUDGING_SECONDS = 900.0
"""The time limit of the judge for the rest of the records when all games are over."""


def drain_seconds(scenario: Scenario) -> float:
    """Return the time limit of a load process to drain: to end its games, and to judge them."""
    return scenario.grace_seconds + STOPPING_SECONDS + JUDGING_SECONDS


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """A scenario with the options that override it, and the endpoints of the services."""

    scenario: str
    users: int
    """The number of users at full load, in all processes together."""
    seed: int
    lobby: str = ""
    engine: str = ""
    scoring: str = ""
    mix: str = ALL_GAMES
    grace_seconds: float | None = None
    silence_seconds: float = 30.0
    think_seconds: float | None = None
    """The median of think times, if not the scenario's; 0 for none."""
    judged_share: float | None = None
    behaviours: str = ""
    """In the format of read_behaviours, if not the scenario's."""
    attacks: str = ""
    """In the format of read_weights: attacks with the factor of their pace; all if empty."""
    calm_seconds: float = 0.0
    """The time from the first user to the first attack."""
    authorities: str | None = None
    """The authorities for TLS (PEM), the system's if empty; None for no TLS."""

    def with_endpoints(self, endpoints: Endpoints) -> "LoadPlan":
        """Return the same plan for these services."""
        tls = endpoints.tls
        authorities = None if tls is None else (tls.authorities or b"").decode()
        return replace(
            self,
            lobby=endpoints.lobby,
            engine=endpoints.engine,
            scoring=endpoints.scoring,
            authorities=authorities,
        )

    @property
    def endpoints(self) -> Endpoints:
        """The endpoints of the services."""
        tls = None if self.authorities is None else Tls(self.authorities.encode() or None)
        return Endpoints(lobby=self.lobby, engine=self.engine, scoring=self.scoring, tls=tls)

    @property
    def connections(self) -> int:
        """The number of connections to each service that the players of one process share."""
        if not self.lobby == self.engine == self.scoring:
            return MIN_CONNECTIONS
        streams = self._users_of(UserKind.GROUP) * (PLAYERS_PER_GROUP - 1) + self.users
        return max(MIN_CONNECTIONS, ceil(streams / STREAMS_PER_CONNECTION))

    def resolved(self) -> Scenario:
        """Return the scenario with all overrides; raises ValueError for unknown behaviours."""
        scenario = SCENARIOS[self.scenario]
        think = scenario.think_time.median_seconds if self.think_seconds is None else self.think_seconds
        return replace(
            scenario,
            grace_seconds=scenario.grace_seconds if self.grace_seconds is None else self.grace_seconds,
            judged_share=scenario.judged_share if self.judged_share is None else self.judged_share,
            behaviours=read_behaviours(self.behaviours) if self.behaviours else scenario.behaviours,
            think_time=replace(scenario.think_time, median_seconds=think),
        )

    @property
    def ports(self) -> list[int]:
        """The ports of the services to which players have streams."""
        addresses = ",".join((self.lobby, self.engine)).split(",")
        return [int(address.rpartition(":")[2]) for address in addresses]

    def settings(self) -> LoadSettings:
        """Return the settings that all users share."""
        criteria = 1 + self._users_of(UserKind.MATCHER) // MATCHERS_PER_CRITERIA
        return LoadSettings(
            self.resolved(),
            read_mix(self.mix),
            self.seed,
            criteria,
            self.silence_seconds,
            self.endpoints,
            read_weights(self.attacks, ATTACKS) if self.attacks else {},
            self.calm_seconds,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the plan as a dictionary for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, plan: Mapping[str, Any]) -> "LoadPlan":
        """Return the plan from the dictionary of to_json."""
        return cls(**plan)

    def _users_of(self, kind: UserKind) -> int:
        """Return the approximate number of users of a kind."""
        shares = SCENARIOS[self.scenario].users_per_table
        return round(self.users * shares.get(kind, 0.0) / sum(shares.values()))
