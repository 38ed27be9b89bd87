"""Every scenario: who comes, how people play, how load rises and falls, and what must be kept.

A scenario of your own is one more `Scenario` in SCENARIOS: docs/load-testing.md shows one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import exp
from random import Random
from types import MappingProxyType

from loadtest.mix import read_weights


class Kind(StrEnum):
    """Who comes; each is a class of Locust users."""

    PARTY = "party"
    """People who sit down together and play table after table."""
    MATCHER = "matcher"
    """Somebody who wishes for a game, plays with whom he is matched, and wishes again."""
    SPECTATOR = "spectator"
    """Somebody who watches tables of others."""
    BROWSER = "browser"
    """Somebody who looks through the lobby, at sheets and leaderboards."""
    OPENER = "opener"
    """Somebody who opens tables and never starts them."""


class Manner(StrEnum):
    """How somebody plays."""

    STEADY = "steady"
    LEAVER = "leaver"
    """Leaves in the middle of a game, and comes back only when time is up."""
    FLAKY = "flaky"
    """Loses the stream now and then, and resumes it."""
    SLOW = "slow"
    """Reads slowly, in bursts."""
    DUPLICATE = "duplicate"
    """Sends actions again, and others under their names."""
    LATE = "late"
    """Lets the time for an action run out once at a table, and acts within the reserve."""
    CHEAT = "cheat"
    """Sends what is illegal, stale, malformed or another's, and expects the exact refusal."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """How long people think: log-normal around a median, with a tail that ends at `most_seconds`."""

    median_seconds: float = 0.0
    spread: float = 0.7
    """The standard deviation of the logarithm."""
    most_seconds: float = 18.0

    def seconds(self, random: Random) -> float:
        """One draw."""
        if not self.median_seconds:
            return 0.0
        return min(self.median_seconds * exp(random.gauss(0, self.spread)), self.most_seconds)


@dataclass(frozen=True, slots=True)
class Stage:
    """From here on (a share of the run) so much of the full load is wanted (a share as well)."""

    begins: float
    load: float


@dataclass(frozen=True, slots=True)
class Limits:
    """What must be kept for a run to be green; violations are never allowed."""

    p99_milliseconds: float
    """Of actions from sent to acknowledged: of all together, and of each kind, such as "thulla play"."""
    failed_share: float
    """Failed calls of all calls; storms break calls, and what breaks is called again."""
    failed_by_code: Mapping[str, float] = field(default_factory=dict)
    """The same by the gRPC status code of the failure, such as "INTERNAL"."""
    generator_cpu: float = 0.9
    """Cores that the busiest process of the generator may use: beyond, it measures itself."""
    is_growth_watched: bool = False
    """Whether memory, files, streams and tables of the services must come back to what they were."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A kind of run; tables and seconds are what is usual, and can be told otherwise."""

    name: str
    meaning: str
    tables: int
    seconds: float
    crowd: Mapping[Kind, float]
    """How many of each kind come for each table that was asked for."""
    manners: Mapping[Manner, float]
    """How many of a hundred play in which manner."""
    limits: Limits
    thinking: Thinking = Thinking()
    stages: tuple[Stage, ...] = (Stage(0, 1),)
    arrivals_per_second: float = 20.0
    storm_seconds: float = 0.0
    """How often all connections break at once; 0 for never."""
    rereading: float = 0.25
    """How often a player who saw the end of a game reads its whole log again."""
    judged_share: float = 1.0
    """Of all tables, how many the judge goes through."""
    grace_seconds: float = 120.0
    """How long games get to be played to their ends afterwards, without thinking."""

    settling_seconds: float = 0.0
    """How long users play before anything is measured, once those of the first stage are there."""
    service_flags: tuple[str, ...] = ()
    """What services of the run's own are started with."""

    def people(self, tables: float) -> dict[Kind, int]:
        """How many of each kind come at full load for so many tables; at least one of each."""
        return {kind: max(1, round(share * tables)) for kind, share in self.crowd.items()}

    def load_at(self, share: float) -> float:
        """The load that is wanted when so much of the run is over."""
        return [stage.load for stage in self.stages if stage.begins <= share][-1]


def read_manners(text: str) -> dict[Manner, float]:
    """The manners that "cheat=3,steady" names, with their weights; raises ValueError naming what is wrong."""
    return {Manner(name): weight for name, weight in read_weights(text, [*Manner]).items()}


HUMAN = Thinking(median_seconds=4.0)
STEADY_PEOPLE = read_manners("steady=90,flaky=4,leaver=1,slow=2,duplicate=2,cheat=1")
USUAL_CROWD = {Kind.PARTY: 0.8, Kind.MATCHER: 0.6, Kind.SPECTATOR: 0.1, Kind.BROWSER: 0.05, Kind.OPENER: 0.02}

_ALL = (
    Scenario(
        name="smoke",
        meaning="a little of everything, in half a minute",
        tables=10,
        seconds=20,
        crowd={Kind.PARTY: 0.8, Kind.MATCHER: 0.8, Kind.SPECTATOR: 0.2, Kind.BROWSER: 0.2, Kind.OPENER: 0.2},
        manners=read_manners("steady=40,flaky=15,leaver=5,slow=5,duplicate=10,late=10,cheat=15"),
        thinking=Thinking(median_seconds=0.1, most_seconds=1),
        storm_seconds=12,
        rereading=1,
        # The storm breaks calls.
        limits=Limits(p99_milliseconds=1000, failed_share=0.05),
    ),
    Scenario(
        name="evening",
        meaning="people play and think, and some watch",
        tables=500,
        seconds=600,
        crowd=USUAL_CROWD,
        manners=STEADY_PEOPLE,
        thinking=HUMAN,
        limits=Limits(p99_milliseconds=500, failed_share=0.002, failed_by_code={"INTERNAL": 0, "UNKNOWN": 0}),
        arrivals_per_second=5,
        grace_seconds=600,
    ),
    Scenario(
        name="rush",
        meaning="everybody wants to be matched at once, and then nobody",
        tables=100,
        seconds=60,
        crowd={Kind.MATCHER: 3.2, Kind.BROWSER: 0.2},
        manners=STEADY_PEOPLE,
        thinking=Thinking(median_seconds=0.5, most_seconds=5),
        stages=(Stage(0, 0.1), Stage(0.2, 1), Stage(0.7, 0.1)),
        arrivals_per_second=200,
        limits=Limits(p99_milliseconds=1000, failed_share=0.005),
    ),
    Scenario(
        name="storm",
        meaning="all connections break, again and again",
        tables=100,
        seconds=60,
        crowd={Kind.PARTY: 1, Kind.SPECTATOR: 0.2},
        manners=read_manners("steady=70,flaky=25,slow=5"),
        thinking=Thinking(median_seconds=0.5, most_seconds=5),
        storm_seconds=10,
        limits=Limits(p99_milliseconds=5000, failed_share=0.5),
    ),
    Scenario(
        name="abuse",
        meaning="cheats, duplicates, openers who never start, slow readers",
        tables=40,
        seconds=60,
        crowd={Kind.PARTY: 1, Kind.SPECTATOR: 0.1, Kind.BROWSER: 0.1, Kind.OPENER: 0.5},
        manners=read_manners("cheat=55,duplicate=20,slow=10,leaver=5,steady=10"),
        thinking=Thinking(median_seconds=0.2, most_seconds=2),
        limits=Limits(p99_milliseconds=1000, failed_share=0.01),
    ),
    Scenario(
        name="soak",
        meaning="a moderate load for hours, and nothing may grow",
        # Few tables of quick people, so that after five minutes there are as many old tables as ever after.
        tables=30,
        seconds=3600,
        crowd=USUAL_CROWD,
        manners=STEADY_PEOPLE,
        thinking=Thinking(median_seconds=0.5, most_seconds=5),
        limits=Limits(
            p99_milliseconds=500,
            failed_share=0.002,
            failed_by_code={"INTERNAL": 0, "UNKNOWN": 0},
            is_growth_watched=True,
        ),
        grace_seconds=600,
    ),
    Scenario(
        name="ceiling",
        meaning="nobody thinks: as many moves as there can be",
        tables=10,
        seconds=30,
        crowd={Kind.PARTY: 1},
        manners=read_manners("steady"),
        limits=Limits(p99_milliseconds=100, failed_share=0.0, generator_cpu=2.0),
        arrivals_per_second=100,
        rereading=0,
        settling_seconds=4,
        # The services are to be at their limits, not at those of single players, who do not think here.
        service_flags=("--player-calls-per-second=0",),
        judged_share=0.1,
    ),
)
SCENARIOS: Mapping[str, Scenario] = MappingProxyType({scenario.name: scenario for scenario in _ALL})
