"""What a run is, as the load processes receive it."""

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
"""A gateway takes 100 of one connection, and keeps the rest waiting."""
PEOPLE_OF_A_PARTY = 4
JUDGING_SECONDS = 900.0
"""How long the judge gets for what it has not gone through when all games are over."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A scenario with what was chosen otherwise, and where the services are."""

    scenario: str
    users: int
    """How many there are at full load, in all processes together."""
    seed: int
    lobby: str = ""
    engine: str = ""
    scoring: str = ""
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

    def at(self, endpoints: Endpoints) -> "Plan":
        """The same at these services."""
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
        """Where the services are."""
        tls = None if self.authorities is None else Tls(self.authorities.encode() or None)
        return Endpoints(lobby=self.lobby, engine=self.engine, scoring=self.scoring, tls=tls)

    @property
    def connections(self) -> int:
        """How many connections to each service the players of a process share, even if all users are there."""
        if not self.lobby == self.engine == self.scoring:
            return USUAL_CONNECTIONS
        streams = self._of(Kind.PARTY) * (PEOPLE_OF_A_PARTY - 1) + self.users
        return max(USUAL_CONNECTIONS, ceil(streams / STREAMS_OF_A_CONNECTION))

    def resolved(self) -> Scenario:
        """The scenario with all that was chosen otherwise; raises ValueError for manners that there are not."""
        usual = SCENARIOS[self.scenario]
        think = usual.thinking.median_seconds if self.think_seconds is None else self.think_seconds
        return replace(
            usual,
            grace_seconds=usual.grace_seconds if self.grace_seconds is None else self.grace_seconds,
            judged_share=usual.judged_share if self.judged_share is None else self.judged_share,
            manners=read_manners(self.manners) if self.manners else usual.manners,
            thinking=replace(usual.thinking, median_seconds=think),
        )

    @property
    def ports(self) -> list[int]:
        """The ports of the services to which players have streams."""
        addresses = ",".join((self.lobby, self.engine)).split(",")
        return [int(address.rpartition(":")[2]) for address in addresses]

    def for_all(self) -> Manners:
        """What is the same for all players."""
        wishes = 1 + self._of(Kind.MATCHER) // MATCHERS_OF_A_WISH
        return Manners(self.resolved(), read_mix(self.mix), self.seed, wishes, self.silence_seconds)

    def to_json(self) -> dict[str, Any]:
        """As a dictionary that JSON holds."""
        return asdict(self)

    @classmethod
    def from_json(cls, plan: Mapping[str, Any]) -> "Plan":
        """What to_json returned."""
        return cls(**plan)

    def _of(self, kind: Kind) -> int:
        """About how many users are of a kind."""
        crowd = SCENARIOS[self.scenario].crowd
        return round(self.users * crowd.get(kind, 0.0) / sum(crowd.values()))
