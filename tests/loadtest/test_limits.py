"""The checks of a scenario's limits."""

from collections.abc import Mapping, Sequence

import pytest

from loadtest.measures import ACKNOWLEDGED, Measures
from loadtest.runner.collector import Collector, checks
from loadtest.scenarios import Limits

LIMITS = Limits(p99_milliseconds=100, failed_share=0.01, failed_by_code={"INTERNAL": 0}, generator_cpu=0.9)
LATENCY, OF_A_KIND, FAILED, INTERNAL = (
    *("99 of 100 actions", "99 of 100 actions of each kind"),
    *("failed calls", "calls failed with INTERNAL"),
)
QUICK = [(ACKNOWLEDGED, 0.05)]


def not_kept(
    took: Sequence[tuple[str, float]],
    failed: Sequence[str] = (),
    cpu: float = 0.5,
    failed_processes: Sequence[str] = (),
    broken: int = 0,
) -> dict[str, str]:
    """Return the limits of a run of a thousand calls that were not kept, with the measured values."""
    collector, measures = Collector(), Measures()
    measures.count("calls", 1000 + broken)
    measures.count("calls broken PlayTable", broken)
    for name, seconds in took:
        measures.record_time(name, seconds)
    for name in failed:
        measures.record_failure(name, "why")
    collector.receive("0", {"batch": measures.take(), "gauges": {"users": 1, "tables": 1, "waiting": 0, "cpu": cpu}})
    collector.begin_draining()
    return {check.name: check.measured for check in checks(LIMITS, collector, failed_processes) if not check.passed}


@pytest.mark.parametrize(
    ("took", "failed", "cpu", "broken"),
    [
        (QUICK, [], 0.9, []),
        ([*QUICK, (ACKNOWLEDGED, 0.2)], [], 0.5, [LATENCY]),
        ([], [], 0.5, [LATENCY]),
        ([*QUICK, *[("solo play", 0.2)] * 999], [], 0.5, []),
        ([*QUICK, *[("solo play", 0.2)] * 1000], [], 0.5, [OF_A_KIND]),
        (QUICK, ["UNAVAILABLE"] * 10, 0.5, []),
        (QUICK, ["UNAVAILABLE"] * 11, 0.5, [FAILED]),
        (QUICK, ["INTERNAL"], 0.5, [INTERNAL]),
        (QUICK, [], 0.95, ["generator"]),
        (QUICK, ["load test: KeyError"] * 20 + ["judging"] * 20, 0.5, ["the load test itself"]),
    ],
    ids=[
        *("all limits are kept", "slow actions", "no actions", "a rare kind", "a slow kind"),
        *("few failures", "many failures", "one of a code", "a busy generator", "failures of the load test itself"),
    ],
)
def test_a_limit_that_is_not_kept_is_named(
    took: list[tuple[str, float]], failed: list[str], cpu: float, broken: list[str]
) -> None:
    assert list(not_kept(took, failed, cpu)) == broken


@pytest.mark.parametrize("broken", [0, 5000])
def test_calls_that_the_load_test_broke_are_outside_of_the_rate_of_failures(broken: int) -> None:
    assert not not_kept(QUICK, ["UNAVAILABLE"] * 10, broken=broken)
    assert not_kept(QUICK, ["UNAVAILABLE"] * 11, broken=broken) == {FAILED: "1.100% (11)"}


def attacked(calm: float, under_attack: float, counts: Sequence[str]) -> dict[str, str]:
    """Return the limits of a run with attacks that were not kept."""
    collector, measures = Collector(), Measures()
    gauges = {"users": 1, "tables": 1, "waiting": 0, "cpu": 0.5}
    measures.record_time(ACKNOWLEDGED, calm)
    collector.receive("0", {"batch": measures.take(), "gauges": gauges})
    collector.end_calm()
    measures.record_time(ACKNOWLEDGED, under_attack)
    for name in counts:
        measures.count(name)
    collector.receive("0", {"batch": measures.take(), "gauges": gauges})
    collector.begin_draining()
    limits = Limits(p99_milliseconds=1000, failed_share=0.01, attacked_to_calm=2)
    return {check.name: check.measured for check in checks(limits, collector, ()) if not check.passed}


PLAYERS_REFUSED, SLOWED = "calls of players refused by a limit", "99 of 100 actions under attack"
REFUSED_ATTACK = "attack replays from one network: player_calls"


@pytest.mark.parametrize(
    ("calm", "under_attack", "counts", "broken"),
    [
        (0.01, 0.015, [REFUSED_ATTACK, "refused TABLE_FULL"], {}),
        (0.01, 0.03, [REFUSED_ATTACK], {SLOWED: "30.0 ms"}),
        (0.01, 0.01, [REFUSED_ATTACK, "refused TOO_MANY_STREAMS"], {PLAYERS_REFUSED: "TOO_MANY_STREAMS 1"}),
        (0.01, 0.01, ["attack replays from one network: OK"], {"attack replays from one network": "OK 1"}),
        (0.01, 0.01, ["attack replays from many networks: OK"], {}),
    ],
    ids=["kept", "players wait", "players are refused", "an attack reached no limit", "many networks"],
)
def test_attacks_are_limited_and_players_are_not(
    calm: float, under_attack: float, counts: Sequence[str], broken: Mapping[str, str]
) -> None:
    assert attacked(calm, under_attack, counts) == broken


def test_a_failed_check_has_the_measured_value() -> None:
    slow = not_kept([*QUICK, *[("solo play", 0.2)] * 1000])
    assert slow[OF_A_KIND].endswith("ms (solo play)")
    own = not_kept(QUICK, ["load test: KeyError", "judging"], failed_processes=["worker 3"])
    assert own == {
        "the load test itself": "load test: KeyError: why; judging: why; worker 3 ended early, and its counts are lost"
    }
