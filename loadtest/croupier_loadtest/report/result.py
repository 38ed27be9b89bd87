"""The result of a run, as result.json has it, and its verdict; all other formats derive from it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from pydantic import TypeAdapter

from croupier.runtime.printed_text import escaped
from croupier_loadtest.report.figures import number

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of the measurement."""

    scenario: str
    seed: int
    command: str
    """The command that repeats the run."""
    started_milliseconds: int
    seconds: float
    """The time under load, without warm-up and drain."""
    machine: str
    cores: int
    versions: Mapping[str, str]
    """By package, and of Python."""
    backend: str
    """The services under load: processes of this machine with their database, or addresses."""
    processes: int
    """The number of load processes."""
    transport: str = "grpc"
    """The transport of players' tables."""


@dataclass(frozen=True, slots=True)
class Latency:
    """The latency of an operation in milliseconds; from a histogram with three significant digits."""

    name: str
    """An RPC ("rpc SubmitAction"), an action of a game ("thulla play"), or a figure of its own ("action acknowledged",
    "action seen by all": from sent to seen at the last seat of the table)."""
    count: int
    p50: float
    p90: float
    p95: float
    p99: float
    p999: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of the run; latencies are of actions, sent to acknowledged, in milliseconds."""

    seconds: float
    """From the beginning of the run to the end of this interval."""
    players: int
    tables: int
    actions_per_second: float
    p50: float
    p95: float
    p99: float
    failures: int
    generator_cpu: float
    """CPU cores of the busiest load process."""
    server_cpu: float
    """CPU cores of all services; 0 where unknown."""
    server_memory_bytes: int


@dataclass(frozen=True, slots=True)
class LoadStep:
    """A step of rising load."""

    tables: int
    actions_per_second: float
    p50: float
    p99: float
    generator_cpu: float
    server_cpu: float
    passed: bool
    """Whether this step kept the limits."""


@dataclass(frozen=True, slots=True)
class ViolationSummary:
    """The violations of one invariant: their number, and the first."""

    invariant: str
    count: int
    table_id: str
    sequence: int
    detail: str
    replay: str = ""
    """The file beside the result with the replay, or the transcript."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Failed calls, which are no violations: their number, and the first message."""

    name: str
    count: int
    first: str


@dataclass(frozen=True, slots=True)
class ServiceUsage:
    """The resources that an instance of a service used."""

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
class CounterComparison:
    """A counter of services and clients; `slack` is the number of events whose outcome clients do not know."""

    name: str
    services: float
    clients: float
    slack: float
    agrees: bool


@dataclass(frozen=True, slots=True)
class Check:
    """A limit of the scenario, and the measured value."""

    name: str
    limit: str
    measured: str
    passed: bool


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a run."""

    conditions: Conditions
    tables_opened: int
    tables_finished: int
    tables_judged: int
    tables_verified: int
    """Judged tables that the judge has played again from the replay by its own rules."""
    games: Mapping[str, int]
    """Finished tables by game."""
    actions: int
    """Actions acknowledged under load."""
    actions_per_second: float
    checks_made: Mapping[str, int]
    """The number of checks by kind, such as "entries", "views", "refusals", "deals"."""
    latencies: tuple[Latency, ...] = ()
    intervals: tuple[Interval, ...] = ()
    steps: tuple[LoadStep, ...] = ()
    """Empty unless load rises in steps."""
    knee: int | None = None
    """The index of the last step that passed."""
    refusals: Mapping[str, int] = field(default_factory=dict)
    """Refusals by reason."""
    probes: Mapping[str, int] = field(default_factory=dict)
    """Attempts that must be refused, by kind."""
    calls_broken: Mapping[str, int] = field(default_factory=dict)
    """Calls whose connection the load test broke on purpose, by method: no failures."""
    failures: tuple[Failure, ...] = ()
    violations: tuple[ViolationSummary, ...] = ()
    services: tuple[ServiceUsage, ...] = ()
    compared: tuple[CounterComparison, ...] = ()
    server_cpu_milliseconds_per_thousand_actions: float = 0.0
    generator_cpu: float = 0.0
    """CPU cores of the busiest load process, of 1."""
    bottleneck: str = ""
    """A sentence where the generator and not the backend is at its limit; else empty."""
    checks: tuple[Check, ...] = ()
    passed: bool = False
    format: int = FORMAT_VERSION


def to_json(result: Result) -> str:
    """Return the text of result.json."""
    return json.dumps(asdict(result), indent=1, ensure_ascii=False) + "\n"


def from_json(text: str | bytes) -> Result:
    """Return the result that to_json wrote; raises ValueError for anything else."""
    return TypeAdapter(Result).validate_json(text)


def reasons(result: Result) -> tuple[str, ...]:
    """Return the reasons why a run has failed, the gravest first; empty if it has passed."""
    found = []
    if result.violations:
        kinds = ", ".join(escaped(violation.invariant) for violation in result.violations)
        found.append(f"violations: {number(sum(violation.count for violation in result.violations))} ({kinds})")
    if not result.tables_finished:
        found.append("no game was finished, so nothing is verified")
    found += [
        escaped(f"{check.name} {check.measured}, limit {check.limit}") for check in result.checks if not check.passed
    ]
    return tuple(found) if found or result.passed else ("the run has not passed, for no known limit",)


def verdict(result: Result) -> str:
    """Return the verdict in one line."""
    found = reasons(result)
    return f"not fit to ship: {'; '.join(found)}" if found else "fit to ship"
