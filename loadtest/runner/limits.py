"""Checks a run against the limits of its scenario."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from loadtest.histograms import percentile_milliseconds
from loadtest.measures import ACKNOWLEDGED, CALLS_BROKEN
from loadtest.mix import DEFAULT_MIX
from loadtest.players.attackers.attack_process import ATTACKS
from loadtest.players.attackers.attacker import ATTACK_PREFIX, ONE_NETWORK
from loadtest.report.result import Check
from loadtest.runner.collector import Collector
from loadtest.scenarios import Limits

OWN_FAILURES = "load test: "
NOT_JUDGED = "judging"
LIMITS = frozenset({"TOO_MANY_REQUESTS", "TOO_MANY_STREAMS", "TOO_MANY_TABLES"})
"""The reasons of refusals by limits that players never reach."""
MIN_ACTIONS_OF_A_KIND = 1000


def checks(limits: Limits, collector: Collector, failed_processes: Sequence[str]) -> Iterator[Check]:
    """Yield the checks beside the invariants; `failed_processes` are load processes that did not end well."""
    histogram = collector.histograms.get(ACKNOWLEDGED)
    p99 = percentile_milliseconds(histogram, 99) if histogram is not None else 0.0
    is_fast = histogram is not None and p99 <= limits.p99_milliseconds
    yield Check("99 of 100 actions", f"at most {limits.p99_milliseconds:g} ms", f"{p99:.1f} ms", is_fast)
    yield _slowest_kind(limits, collector)
    yield from _failures(limits, collector)
    refused = [
        f"{name} {times}" for name in sorted(LIMITS) if (times := collector.counts_under_load[f"refused {name}"])
    ]
    yield Check("calls of players refused by a limit", "none", ", ".join(refused) or "none", not refused)
    if limits.attacked_to_calm:
        yield _attacked(limits, collector)
        yield from _attacks(collector)
    cpu = collector.max_cpu
    yield Check("generator", f"at most {limits.generator_cpu:g} cores", f"{cpu:.2f} cores", cpu <= limits.generator_cpu)
    own = [f"{one.name}: {one.first}" for one in collector.failures if one.name.startswith((OWN_FAILURES, NOT_JUDGED))]
    failures = "; ".join([*own, *(f"{name} ended early, and its counts are lost" for name in failed_processes)])
    yield Check("the load test itself", "no failures", failures or "none", not failures)


def _slowest_kind(limits: Limits, collector: Collector) -> Check:
    """Return the highest 99th percentile of the actions of a game that were frequent enough."""
    kinds = {
        name: percentile_milliseconds(histogram, 99)
        for name, histogram in collector.histograms.items()
        if name.startswith(tuple(DEFAULT_MIX)) and histogram.get_total_count() >= MIN_ACTIONS_OF_A_KIND
    }
    name, p99 = max(kinds.items(), key=lambda kind: kind[1], default=("none was frequent", 0.0))
    limit, measured = f"at most {limits.p99_milliseconds:g} ms", f"{p99:.1f} ms ({name})"
    return Check("99 of 100 actions of each kind", limit, measured, p99 <= limits.p99_milliseconds)


def _failures(limits: Limits, collector: Collector) -> Iterator[Check]:
    """Yield the check of all failed calls, and of each code with a limit of its own."""
    failed = [one for one in collector.failures if not one.name.startswith((OWN_FAILURES, NOT_JUDGED))]
    yield _share("failed calls", limits.failed_share, sum(one.count for one in failed), collector)
    for code, max_share in limits.failed_by_code.items():
        count = sum(one.count for one in failed if one.name.split()[0] == code)
        yield _share(f"calls failed with {code}", max_share, count, collector)


def _attacked(limits: Limits, collector: Collector) -> Check:
    """Compare the actions under attack with those before."""
    calm, attacked = (
        percentile_milliseconds(histogram, 99) if histogram is not None else 0.0
        for histogram in (collector.calm, collector.histograms.get(ACKNOWLEDGED))
    )
    limit = f"at most {limits.attacked_to_calm:g} times the {calm:.1f} ms before"
    is_kept = 0 < attacked <= limits.attacked_to_calm * calm
    return Check("99 of 100 actions under attack", limit, f"{attacked:.1f} ms", is_kept)


def _attacks(collector: Collector) -> Iterator[Check]:
    """Check that each attack from one network reached the limit that it is about."""
    answers: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for name, times in collector.counted(ATTACK_PREFIX).items():
        attack, _, outcome = name.rpartition(": ")
        answers[attack][outcome] = times
    for attack, outcomes in sorted(answers.items()):
        expected = ATTACKS[attack.partition(" ")[0]].refusals if attack.endswith(ONE_NETWORK) else frozenset()
        measured = ", ".join(f"{outcome} {times}" for outcome, times in outcomes.items())
        limit = f"answered {' and '.join(sorted(expected))} too" if expected else "any answers"
        yield Check(f"attack {attack}", limit, measured, expected <= outcomes.keys())


def _share(name: str, max_share: float, failed: int, collector: Collector) -> Check:
    broken = sum(collector.counted(CALLS_BROKEN).values())
    share = failed / max(1, collector.counts["calls"] - broken + collector.counts["actions"])
    return Check(name, f"at most {max_share:.2%} of calls", f"{share:.3%} ({failed})", share <= max_share)
