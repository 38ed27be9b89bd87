"""Judges a run by the limits of its scenario."""

from collections.abc import Iterator, Sequence

from loadtest.measures import ACKNOWLEDGED, percentile_milliseconds
from loadtest.mix import KINDS
from loadtest.report.result import Check
from loadtest.runner.collector import Collector
from loadtest.scenarios import Limits

OWN_FAULTS = "load test: "
NOT_JUDGED = "judging"
MIN_OF_A_KIND = 1000


def checks(limits: Limits, collector: Collector, unwell: Sequence[str]) -> Iterator[Check]:
    """What must be kept beside the invariants; `unwell` are processes of the load test that did not end well."""
    yield _latency(limits, collector)
    yield _slowest_kind(limits, collector)
    yield from _failures(limits, collector)
    cpu = collector.max_cpu
    yield Check("generator", f"at most {limits.generator_cpu:g} cores", f"{cpu:.2f} cores", cpu <= limits.generator_cpu)
    yield _own_faults(collector, unwell)


def _latency(limits: Limits, collector: Collector) -> Check:
    histogram = collector.histograms.get(ACKNOWLEDGED)
    p99 = percentile_milliseconds(histogram, 99) if histogram is not None else 0.0
    limit, measured = f"at most {limits.p99_milliseconds:g} ms", f"{p99:.1f} ms"
    return Check("99 of 100 actions", limit, measured, histogram is not None and p99 <= limits.p99_milliseconds)


def _slowest_kind(limits: Limits, collector: Collector) -> Check:
    """Of each action of each game that was done often enough to say something of 99 in 100."""
    kinds = {
        name: percentile_milliseconds(histogram, 99)
        for name, histogram in collector.histograms.items()
        if name.startswith(tuple(KINDS)) and histogram.get_total_count() >= MIN_OF_A_KIND
    }
    name, p99 = max(kinds.items(), key=lambda kind: kind[1], default=("none was done often", 0.0))
    limit, measured = f"at most {limits.p99_milliseconds:g} ms", f"{p99:.1f} ms ({name})"
    return Check("99 of 100 actions of each kind", limit, measured, p99 <= limits.p99_milliseconds)


def _failures(limits: Limits, collector: Collector) -> Iterator[Check]:
    """All failed calls, and those with the codes that have limits of their own."""
    failed = [one for one in collector.failures if not one.name.startswith((OWN_FAULTS, NOT_JUDGED))]
    yield _share("failed calls", limits.failed_share, sum(one.count for one in failed), collector)
    for code, most in limits.failed_by_code.items():
        count = sum(one.count for one in failed if one.name.split()[0] == code)
        yield _share(f"calls failed with {code}", most, count, collector)


def _share(name: str, most: float, failed: int, collector: Collector) -> Check:
    share = failed / max(1, collector.counts["calls"] + collector.counts["actions"])
    return Check(name, f"at most {most:.2%} of calls", f"{share:.3%} ({failed})", share <= most)


def _own_faults(collector: Collector, unwell: Sequence[str]) -> Check:
    own = [f"{one.name}: {one.first}" for one in collector.failures if one.name.startswith((OWN_FAULTS, NOT_JUDGED))]
    told = "; ".join([*own, *(f"{name} ended early" for name in unwell)])
    return Check("the load test itself", "no faults", told or "none", not told)
