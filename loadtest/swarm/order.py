"""What a Locust worker and its swarm tell each other, as lines of JSON over the child's standard streams."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import Any

from croupier_client import Endpoints, Tls
from loadtest.mix import ALL_GAMES, read_mix
from loadtest.players.world import Manners
from loadtest.scenarios import SCENARIOS, Kind, Scenario, read_manners

MATCHERS_OF_A_WISH = 24
USUAL_CONNECTIONS = 4
STREAMS_OF_A_CONNECTION = 40
"""A front door takes 100 of one connection, and keeps the rest waiting."""
PEOPLE_OF_A_PARTY = 4
JUDGING_SECONDS = 900.0
"""How long the referee gets for what he has not gone through when all games are over."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a run is: a scenario with what was told otherwise, and where the services are."""

    scenario: str
    tables: int
    seconds: float
    seed: int
    lobby: str
    engine: str
    scoring: str
    mix: str = ALL_GAMES
    grace_seconds: float | None = None
    silence_seconds: float = 30.0
    think_seconds: float | None = None
    """The median, if not the scenario's; 0 for none."""
    judged_share: float | None = None
    manners: str = ""
    """As read_manners reads them, if not the scenario's."""
    authorities: str | None = None
    """TLS, by these certificates (PEM) or, if empty, by the usual ones; None for no TLS."""

    @property
    def endpoints(self) -> Endpoints:
        """Where the services are."""
        tls = None if self.authorities is None else Tls(self.authorities.encode() or None)
        return Endpoints(lobby=self.lobby, engine=self.engine, scoring=self.scoring, tls=tls)

    @property
    def connections(self) -> int:
        """How many connections to each service the players of a process share, even if all people are there."""
        if not self.lobby == self.engine == self.scoring:
            return USUAL_CONNECTIONS
        people = self.people()
        streams = people.get(Kind.PARTY, 0) * (PEOPLE_OF_A_PARTY - 1) + sum(people.values())
        return max(USUAL_CONNECTIONS, ceil(streams / STREAMS_OF_A_CONNECTION))

    def resolved(self) -> Scenario:
        """The scenario with all that was told otherwise."""
        scenario = replace(SCENARIOS[self.scenario], tables=self.tables, seconds=self.seconds)
        if self.grace_seconds is not None:
            scenario = replace(scenario, grace_seconds=self.grace_seconds)
        if self.judged_share is not None:
            scenario = replace(scenario, judged_share=self.judged_share)
        if self.manners:
            scenario = replace(scenario, manners=read_manners(self.manners))
        if self.think_seconds is not None:
            scenario = replace(scenario, thinking=replace(scenario.thinking, median_seconds=self.think_seconds))
        return scenario

    def people(self) -> dict[Kind, int]:
        """How many of each kind come at full load; at least one of each that the scenario has."""
        return {kind: max(1, round(share * self.tables)) for kind, share in self.resolved().crowd.items()}

    @property
    def ports(self) -> list[int]:
        """The ports of the services to which players have streams."""
        addresses = ",".join((self.lobby, self.engine)).split(",")
        return [int(address.rpartition(":")[2]) for address in addresses]

    def for_all(self) -> Manners:
        """What is the same for all players."""
        wishes = 1 + self.people().get(Kind.MATCHER, 0) // MATCHERS_OF_A_WISH
        return Manners(self.resolved(), read_mix(self.mix), self.seed, wishes, self.silence_seconds)

    def to_json(self) -> dict[str, Any]:
        """As a dictionary that JSON holds."""
        return asdict(self)

    @classmethod
    def from_json(cls, order: Mapping[str, Any]) -> "Order":
        """What to_json gave."""
        return cls(**order)
