"""Judges a run by the limits of its scenario."""

from collections.abc import Iterator, Sequence

from loadtest.conductor.collector import Collector
from loadtest.measures import ACKNOWLEDGED, percentile_milliseconds
from loadtest.results.result import Check
from loadtest.scenarios import Limits

OWN_FAULTS = "load test: "
NOT_JUDGED = "judging"


def checks(limits: Limits, collector: Collector, unwell: Sequence[str]) -> Iterator[Check]:
    """What must be kept beside the invariants; `unwell` are processes of the load test that did not end well."""
    yield _latency(limits, collector)
    yield _failures(limits, collector)
    cpu = collector.most_cpu
    yield Check("generator", f"at most {limits.generator_cpu:g} cores", f"{cpu:.2f} cores", cpu <= limits.generator_cpu)
    yield _own_faults(collector, unwell)


def _latency(limits: Limits, collector: Collector) -> Check:
    histogram = collector.histograms.get(ACKNOWLEDGED)
    p99 = percentile_milliseconds(histogram, 99) if histogram is not None else 0.0
    limit, measured = f"at most {limits.p99_milliseconds:g} ms", f"{p99:.1f} ms"
    return Check("99 of 100 actions", limit, measured, histogram is not None and p99 <= limits.p99_milliseconds)


def _failures(limits: Limits, collector: Collector) -> Check:
    failed = sum(one.count for one in collector.failures if not one.name.startswith((OWN_FAULTS, NOT_JUDGED)))
    share = failed / max(1, collector.counts["calls"] + collector.counts["actions"])
    limit, measured = f"at most {limits.failed_share:.2%} of calls", f"{share:.3%} ({failed})"
    return Check("failed calls", limit, measured, share <= limits.failed_share)


def _own_faults(collector: Collector, unwell: Sequence[str]) -> Check:
    own = [f"{one.name}: {one.first}" for one in collector.failures if one.name.startswith((OWN_FAULTS, NOT_JUDGED))]
    told = "; ".join([*own, *(f"{name} ended early" for name in unwell)])
    return Check("the load test itself", "no faults", told or "none", not told)
