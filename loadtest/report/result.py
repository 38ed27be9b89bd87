"""The result of a run as it is written to result.json; every other form is made from it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Conditions:
    """Under which conditions was measured."""

    scenario: str
    seed: int
    command: str
    """The one line that repeats the run."""
    started_milliseconds: int
    seconds: float
    """How long load was put on, without the time that games got to end."""
    machine: str
    cores: int
    versions: Mapping[str, str]
    """By package: croupier, grpcio, locust and so on, and Python."""
    backend: str
    """What was put under load: processes of this machine with their database, or addresses."""
    processes: int
    """Processes that played."""


@dataclass(frozen=True, slots=True)
class Latency:
    """How long something took, in milliseconds; from a histogram with three significant digits."""

    name: str
    """An RPC ("rpc SubmitAction"), an action of a game ("thulla play"), or a figure of its own ("action acknowledged",
    "action seen by all": from sent to seen at the last seat of the table)."""
    count: int
    p50: float
    p90: float
    p95: float
    p99: float
    p999: float
    most: float


@dataclass(frozen=True, slots=True)
class Moment:
    """A few seconds of the run; latencies are of actions, sent to acknowledged, in milliseconds."""

    seconds: float
    """Since the beginning, at the end of this slice."""
    players: int
    tables: int
    actions_per_second: float
    p50: float
    p95: float
    p99: float
    failures: int
    generator_cpu: float
    """Cores that the busiest process of the generator used."""
    server_cpu: float
    """Cores that all services used; 0 where that is not known."""
    server_memory_bytes: int


@dataclass(frozen=True, slots=True)
class Step:
    """A step of rising load, as the curve shows it."""

    tables: int
    actions_per_second: float
    p50: float
    p99: float
    generator_cpu: float
    server_cpu: float
    passed: bool
    """Whether this step kept the limits."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Violations of one kind: how many, and the first."""

    invariant: str
    count: int
    table_id: str
    sequence: int
    detail: str
    replay: str = ""
    """The file beside the result that holds the replay, or what was heard where there is none."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Calls that failed, which is no violation: how many, and the first message."""

    name: str
    count: int
    first: str


@dataclass(frozen=True, slots=True)
class ServiceUse:
    """What an instance of a service used."""

    instance: str
    cpu_seconds: float
    memory_first_bytes: int
    """After the first minutes, or at the beginning of a shorter run."""
    memory_last_bytes: int
    files_first: int
    files_last: int
    streams_last: int = 0
    tables_last: int = 0


@dataclass(frozen=True, slots=True)
class Compared:
    """A figure that the services count and the clients count too; `slack` is what could not be known by clients."""

    name: str
    services: float
    clients: float
    slack: float
    agrees: bool


@dataclass(frozen=True, slots=True)
class Check:
    """A limit of the scenario and what was measured."""

    name: str
    limit: str
    measured: str
    passed: bool


@dataclass(frozen=True, slots=True)
class Result:
    """All that is known of a run."""

    conditions: Conditions
    tables_opened: int
    tables_finished: int
    tables_judged: int
    """Tables that the judge has gone through."""
    tables_proved: int
    """Those of them that were played again from the replay by the judge's own rules."""
    games: Mapping[str, int]
    """Finished tables by game."""
    actions: int
    """Actions acknowledged while load was put on."""
    actions_per_second: float
    checks_made: Mapping[str, int]
    """How often what was checked, such as "entries", "views", "refusals", "deals"."""
    latencies: tuple[Latency, ...] = ()
    moments: tuple[Moment, ...] = ()
    steps: tuple[Step, ...] = ()
    """Empty where load did not rise in steps."""
    knee: int | None = None
    """Which step was the last that passed."""
    refusals: Mapping[str, int] = field(default_factory=dict)
    """Refusals by reason."""
    probes: Mapping[str, int] = field(default_factory=dict)
    """Attempts that had to be refused, by kind."""
    failures: tuple[Failure, ...] = ()
    violations: tuple[Broken, ...] = ()
    services: tuple[ServiceUse, ...] = ()
    compared: tuple[Compared, ...] = ()
    server_cpu_milliseconds_per_thousand_actions: float = 0.0
    generator_cpu: float = 0.0
    """Cores that the busiest process of the generator used, of 1."""
    bottleneck: str = ""
    """Says so where the generator and not the backend was at its limit."""
    checks: tuple[Check, ...] = ()
    passed: bool = False
    format: int = FORMAT_VERSION
