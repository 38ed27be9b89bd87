"""Every scenario: the users, their behaviours, the load over time, and the limits.

A new scenario is one more `Scenario` in SCENARIOS: docs/load-testing.md shows one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import exp
from random import Random
from types import MappingProxyType

from croupier_loadtest.mix import read_weights


class UserKind(StrEnum):
    """The kinds of users; each is a class of Locust users."""

    GROUP = "group"
    """People who play table after table together."""
    MATCHER = "matcher"
    """A player who is matched with others by quick match, plays, and is matched again."""
    SPECTATOR = "spectator"
    """A spectator of other people's tables."""
    BROWSER = "browser"
    """A visitor of the lobby, results and leaderboards."""
    OPENER = "opener"
    """A user who opens tables and never starts them."""
    ATTACKER = "attacker"
    """Guests who try to exhaust the services or to read private tables: every attack at once."""
    PAGES = "pages"
    """People who play table after table together, each at a page of the web table in a browser."""


class Behaviour(StrEnum):
    """The behaviours of players at a table."""

    STEADY = "steady"
    LEAVER = "leaver"
    """Leaves in the middle of a game, and returns when the run drains."""
    FLAKY = "flaky"
    """Loses the stream at random, and resumes it."""
    SLOW = "slow"
    """Reads slowly, in bursts."""
    DUPLICATE = "duplicate"
    """Sends actions again, and others under their request ids."""
    AWAY = "away"
    """Leaves the seat to the engine for a while, once at a table."""
    LATE = "late"
    """Exceeds the time for an action once at a table, and acts within the reserve."""
    ADVERSARY = "adversary"
    """Sends illegal, stale and malformed actions, also at other people's tables, and expects the exact refusal."""


@dataclass(frozen=True, slots=True)
class ThinkTime:
    """The distribution of think times: log-normal around a median, cut off at `max_seconds`."""

    median_seconds: float = 0.0
    spread: float = 0.7
    """The standard deviation of the logarithm."""
    max_seconds: float = 18.0

    def seconds(self, random: Random) -> float:
        """Return a random think time."""
        if not self.median_seconds:
            return 0.0
        return min(self.median_seconds * exp(random.gauss(0, self.spread)), self.max_seconds)


@dataclass(frozen=True, slots=True)
class Stage:
    """From `begins` (a share of the run) on, the load as a share of the full load."""

    begins: float
    load: float


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a run that passes; violations are never allowed."""

    p99_milliseconds: float
    """From an action sent to acknowledged: of all actions together, and of each kind, such as "thulla play"."""
    failed_share: float
    """The share of failed calls in all calls, retried ones included; calls that the load test breaks are neither."""
    failed_by_code: Mapping[str, float] = field(default_factory=dict)
    """The same by gRPC status code, such as "INTERNAL"."""
    generator_cpu: float = 0.9
    """CPU cores that the busiest load process may use: beyond that the run measures the generator."""
    is_growth_checked: bool = False
    """Whether memory, files, streams and tables of the services must return to their first values."""
    attacked_to_calm: float = 0.0
    """The greatest ratio of the 99th percentile under attack to that of the calm part of the run; 0 without attacks."""
    max_growth_mebibytes: Mapping[str, float] = field(default_factory=dict)
    """The memory by which an instance of each service may grow, and the size that the data folder may have."""
    loop_step_milliseconds: float = 0.0
    """The longest step of a service's event loop, with all callbacks that are due at once; 0 for any."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A kind of run; options can override the numbers of tables and seconds."""

    name: str
    description: str
    tables: int
    seconds: float
    users_per_table: Mapping[UserKind, float]
    """The number of users of each kind for each table."""
    behaviours: Mapping[Behaviour, float]
    """The weight of each behaviour."""
    limits: Limits
    think_time: ThinkTime = ThinkTime()
    stages: tuple[Stage, ...] = (Stage(0, 1),)
    arrivals_per_second: float = 20.0
    storm_seconds: float = 0.0
    """The period after which all connections break at once; 0 for never."""
    reread_share: float = 0.25
    """The share of players at the end of a game who read its whole log again."""
    judged_share: float = 1.0
    """The share of tables that the judge judges."""
    grace_seconds: float = 120.0
    """The time for running games to end when the run drains, without think times."""
    settling_seconds: float = 0.0
    """The time between the start of the first stage's users and the first measurement."""
    service_flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Flags of services that the run starts, by service; of all three services under the empty name."""
    has_gateway: bool = False
    """Whether services that the run starts have a gateway, and limit the speed of tables, as those in production.

    The gateway trusts the addresses that players name.
    """
    has_one_network: bool = False
    """Whether all players have addresses of one /24, as behind a carrier-grade NAT."""
    calm_share: float = 0.0
    """The share of the run before attackers begin."""

    def users(self, tables: float) -> dict[UserKind, int]:
        """Return the number of users of each kind at full load for a number of tables; at least one of each."""
        return {kind: max(1, round(share * tables)) for kind, share in self.users_per_table.items()}

    def load_at(self, share: float) -> float:
        """Return the load, as a share of the full load, when this share of the run is over."""
        return [stage.load for stage in self.stages if stage.begins <= share][-1]


def read_behaviours(text: str) -> dict[Behaviour, float]:
    """Return the behaviours that "adversary=3,steady" names, with their weights; raises ValueError with the cause."""
    return {Behaviour(name): weight for name, weight in read_weights(text, [*Behaviour]).items()}


NO_FAULTS = {"INTERNAL": 0, "UNKNOWN": 0}
HUMAN = ThinkTime(median_seconds=4.0)
MOSTLY_STEADY = read_behaviours("steady=88,flaky=4,leaver=1,away=2,slow=2,duplicate=2,adversary=1")
OTHERS = (UserKind.SPECTATOR, UserKind.BROWSER, UserKind.OPENER)
"""The users who do not play."""
DEFAULT_USERS_PER_TABLE = {
    UserKind.GROUP: 0.8,
    UserKind.MATCHER: 0.6,
    UserKind.SPECTATOR: 0.1,
    UserKind.BROWSER: 0.05,
    UserKind.OPENER: 0.02,
}

_ALL = (
    Scenario(
        name="smoke",
        description="some of everything, in half a minute",
        tables=10,
        seconds=12,
        users_per_table={UserKind.GROUP: 0.8, UserKind.MATCHER: 0.8} | dict.fromkeys(OTHERS, 0.2),
        behaviours=read_behaviours("steady=35,flaky=15,leaver=5,away=10,slow=5,duplicate=10,late=5,adversary=15"),
        think_time=ThinkTime(median_seconds=0.1, max_seconds=1),
        storm_seconds=8,
        reread_share=1,
        # A table without some of its players waits for time-outs. It is judged as far as it was played.
        grace_seconds=8,
        limits=Limits(p99_milliseconds=1000, failed_share=0.005),
    ),
    Scenario(
        name="evening",
        description="people play and think, and some watch",
        tables=500,
        seconds=600,
        users_per_table=DEFAULT_USERS_PER_TABLE,
        behaviours=MOSTLY_STEADY,
        think_time=HUMAN,
        limits=Limits(p99_milliseconds=500, failed_share=0.002, failed_by_code=NO_FAULTS),
        arrivals_per_second=5,
        grace_seconds=600,
    ),
    Scenario(
        name="rush",
        description="a burst of quick match, and then none",
        tables=100,
        seconds=60,
        users_per_table={UserKind.MATCHER: 3.2, UserKind.BROWSER: 0.2},
        behaviours=MOSTLY_STEADY,
        think_time=ThinkTime(median_seconds=0.5, max_seconds=5),
        stages=(Stage(0, 0.1), Stage(0.2, 1), Stage(0.7, 0.1)),
        arrivals_per_second=200,
        limits=Limits(p99_milliseconds=1000, failed_share=0.005),
    ),
    Scenario(
        name="storm",
        description="all connections break periodically",
        tables=100,
        seconds=60,
        users_per_table={UserKind.GROUP: 1, UserKind.SPECTATOR: 0.2},
        behaviours=read_behaviours("steady=70,flaky=25,slow=5"),
        think_time=ThinkTime(median_seconds=0.5, max_seconds=5),
        storm_seconds=10,
        limits=Limits(p99_milliseconds=5000, failed_share=0.005),
    ),
    Scenario(
        name="abuse",
        description="every attack, beside tables that keep playing",
        tables=20,
        seconds=120,
        users_per_table={UserKind.GROUP: 1} | dict.fromkeys(OTHERS, 0.1) | {UserKind.ATTACKER: 0.001},
        behaviours=read_behaviours("steady=60,adversary=20,duplicate=10,slow=5,leaver=5"),
        think_time=ThinkTime(median_seconds=1, max_seconds=5),
        limits=Limits(
            p99_milliseconds=1000,
            failed_share=0.01,
            attacked_to_calm=2.0,
            max_growth_mebibytes={"engine": 150, "lobby": 100, "scoring": 50, "gateway": 100, "data folder": 300},
            loop_step_milliseconds=100,
        ),
        calm_share=0.25,
        has_gateway=True,
        # Shares of networks that attackers reach in a minute: players have networks of their own.
        service_flags={
            "": (
                "--player-calls-per-second=15",
                "--player-burst=150",
                "--network-units-per-second=30",
                "--network-burst=300",
            ),
            "lobby": (
                "--sign-in-burst=15",
                "--max-player-tables=12",
                "--max-network-tables=14",
                "--max-network-streams=30",
            ),
            # More than the four of bots, at whose tables players would else reach the limit without an attack.
            "engine": ("--max-player-streams=30", "--table-entries-per-second=5", "--table-entries-burst=20"),
        },
    ),
    Scenario(
        name="nat",
        description="an evening of 500 players behind one address",
        tables=125,
        seconds=120,
        users_per_table=DEFAULT_USERS_PER_TABLE,
        behaviours=MOSTLY_STEADY,
        think_time=HUMAN,
        limits=Limits(p99_milliseconds=1000, failed_share=0.002, failed_by_code={"RESOURCE_EXHAUSTED": 0}),
        has_gateway=True,
        has_one_network=True,
    ),
    Scenario(
        name="soak",
        description="a moderate load for an hour, without growth of the services",
        # Few tables of quick people, so that the number of old tables is constant after five minutes.
        tables=30,
        seconds=3600,
        users_per_table=DEFAULT_USERS_PER_TABLE,
        behaviours=MOSTLY_STEADY,
        think_time=ThinkTime(median_seconds=0.5, max_seconds=5),
        limits=Limits(p99_milliseconds=500, failed_share=0.002, failed_by_code=NO_FAULTS, is_growth_checked=True),
        grace_seconds=600,
    ),
    Scenario(
        name="ceiling",
        description="no think times: as many actions as possible",
        tables=10,
        seconds=30,
        users_per_table={UserKind.GROUP: 1},
        behaviours=read_behaviours("steady"),
        limits=Limits(p99_milliseconds=100, failed_share=0.0, generator_cpu=2.0),
        arrivals_per_second=100,
        reread_share=0,
        settling_seconds=4,
        # The limit of a single player would be reached before that of the services.
        service_flags={"": ("--player-calls-per-second=0",)},
        judged_share=0.1,
    ),
    Scenario(
        name="pages",
        description="60 people play at pages of the web table in a browser",
        tables=20,
        seconds=180,
        users_per_table={UserKind.PAGES: 1},
        behaviours=read_behaviours("steady"),
        think_time=ThinkTime(median_seconds=2, max_seconds=10),
        limits=Limits(p99_milliseconds=3000, failed_share=0.005),
        arrivals_per_second=0.5,
        grace_seconds=600,
        has_gateway=True,
    ),
)
SCENARIOS: Mapping[str, Scenario] = MappingProxyType({scenario.name: scenario for scenario in _ALL})
