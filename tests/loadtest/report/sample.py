"""Sample results of runs."""

from dataclasses import replace
from math import exp, sin

from croupier_loadtest.report.result import (
    Check,
    Conditions,
    CounterComparison,
    Failure,
    Interval,
    Latency,
    LoadStep,
    Result,
    ServiceUsage,
    ViolationSummary,
)

CONDITIONS = Conditions(
    scenario="evening",
    seed=7,
    command="make load SCENARIO=evening TABLES=1000 SEED=7",
    started_milliseconds=1_790_000_000_000,
    seconds=600.0,
    machine="Linux x86_64, Intel Xeon at 2.4 GHz, 8 GB",
    cores=2,
    versions={"croupier": "0.1.0", "grpcio": "1.80.0", "locust": "2.45.0", "Python": "3.11.7"},
    backend="one lobby, engine and scoring of this machine on SQLite",
    processes=1,
)
LATENCIES = (
    Latency("action acknowledged", 123_456, 3.1, 8.4, 12.5, 41.0, 92.0, 180.0),
    Latency("action seen by all", 123_400, 4.0, 9.9, 14.0, 48.0, 101.0, 201.0),
    Latency("rpc SubmitAction", 125_000, 2.9, 8.1, 12.0, 40.0, 90.0, 179.0),
    Latency("rpc OpenTable", 1_100, 12.0, 25.0, 31.0, 60.0, 140.0, 12_400.0),
    Latency("thulla play", 60_000, 3.0, 8.0, 12.0, 39.0, 88.0, 150.0),
)


def interval(at: int) -> Interval:
    """Return an interval of ten minutes of load that rises to a thousand tables."""
    share = 1 - exp(-at / 10)
    wave = 1 + 0.15 * sin(at / 3)
    return Interval(
        seconds=at * 5.0,
        players=int(3900 * share),
        tables=int(1000 * share),
        actions_per_second=210 * share * wave,
        p50=3 * wave,
        p95=12 * wave * wave,
        p99=(300.0 if at == 60 else 38.0) * wave,
        failures=4 if at == 60 else 0,
        generator_cpu=0.55 * share * wave,
        server_cpu=0.8 * share * wave,
        server_memory_bytes=int((180 + 240 * share) * 2**20),
    )


def step(tables: int, p50: float, p99: float) -> LoadStep:
    """Return a step of rising load, which passes if its p99 does."""
    return LoadStep(tables, tables * 0.9, p50, p99, tables / 2500, tables / 1300, p99 < 100)


PASSED = Result(
    conditions=CONDITIONS,
    tables_opened=1_180,
    tables_finished=1_102,
    tables_judged=1_180,
    tables_verified=1_102,
    games={"thulla": 260, "one_ten": 221, "jossing": 204, "one_oh_one": 215, "solo": 202},
    actions=123_456,
    actions_per_second=205.76,
    checks_made={"entries": 210_000, "views": 820_000, "refusals": 1_240, "deals": 3_300},
    latencies=LATENCIES,
    intervals=tuple(map(interval, range(1, 121))),
    refusals={"NOT_YOUR_TURN": 420, "ILLEGAL_ACTION": 610, "STALE_SEQUENCE": 210},
    probes={"out of turn": 420, "illegal card": 610, "stale": 210},
    calls_broken={"PlayTable": 83, "SubmitAction": 2},
    failures=(Failure("rpc OpenTable", 4, "UNAVAILABLE: the engine is starting"),),
    services=(
        ServiceUsage("engine-1", 402.5, 180 * 2**20, 191 * 2**20, 40, 41, 3900, 1000),
        ServiceUsage("lobby-1", 61.0, 96 * 2**20, 97 * 2**20, 22, 22),
        ServiceUsage("scoring-1", 22.4, 88 * 2**20, 88 * 2**20, 18, 18),
    ),
    compared=(
        CounterComparison("actions applied", 123_470, 123_456, 20, True),
        CounterComparison("tables finished", 1_102, 1_102, 0, True),
    ),
    server_cpu_milliseconds_per_thousand_actions=3_260.0,
    generator_cpu=0.63,
    checks=(
        Check("violations", "none", "0", passed=True),
        Check("p99 of action acknowledged", "under 250 ms", "41 ms", passed=True),
        Check("calls that failed", "under 0.1 %", "0.003 %", passed=True),
    ),
    passed=True,
)
"""A complete run without violations."""

FAILED = replace(
    PASSED,
    steps=(step(200, 3.0, 12), step(400, 3.4, 19), step(800, 5.2, 62), step(1000, 9.5, 160), step(1200, 30, 900)),
    knee=2,
    violations=(
        ViolationSummary(
            "hidden_card_seen", 3, "tbl_01J9ZK", 17, "seat 2 was shown 9♦ of seat 0", "hidden_card_seen.jsonl"
        ),
        ViolationSummary("metrics_differ", 1, "", 0, "the services count 123,999 actions, the clients 123,456"),
    ),
    bottleneck="The generator was at its limit: a process used 0.98 of one core. The backend may carry more than this.",
    checks=(*PASSED.checks[1:], Check("violations", "none", "4", passed=False)),
    passed=False,
)
"""A run with rising load and violations."""

EMPTY = Result(
    conditions=CONDITIONS,
    tables_opened=0,
    tables_finished=0,
    tables_judged=0,
    tables_verified=0,
    games={},
    actions=0,
    actions_per_second=0.0,
    checks_made={},
)
"""A run that tested nothing."""

HOSTILE = "<script>alert(1)</script>\x1b[31m\x00 & \"'[red]"


def hostile() -> Result:
    """Return a result whose foreign texts are all hostile."""
    return replace(
        FAILED,
        conditions=replace(CONDITIONS, scenario=HOSTILE, command=HOSTILE, machine=HOSTILE, versions={HOSTILE: HOSTILE}),
        games={HOSTILE: 1},
        refusals={HOSTILE: 1},
        probes={HOSTILE: 1},
        calls_broken={HOSTILE: 1},
        checks_made={HOSTILE: 1},
        latencies=(replace(LATENCIES[0], name=HOSTILE),),
        failures=(Failure(HOSTILE, 1, HOSTILE),),
        violations=(ViolationSummary(HOSTILE, 1, HOSTILE, 1, HOSTILE, HOSTILE),),
        services=(replace(PASSED.services[0], instance=HOSTILE),),
        compared=(CounterComparison(HOSTILE, 1, 2, 0, agrees=False),),
        checks=(Check(HOSTILE, HOSTILE, HOSTILE, passed=False),),
        bottleneck=HOSTILE,
    )
