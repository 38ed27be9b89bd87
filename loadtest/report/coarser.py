"""Fewer and longer slices of a long run, so that a picture of it shows a line and no carpet."""

from collections.abc import Sequence
from math import ceil
from statistics import fmean

from loadtest.report.result import Moment

MOST_POINTS = 240


def slices_in_a_point(moments: Sequence[Moment]) -> int:
    """How many slices have to share a point, so that there are no more than MOST_POINTS."""
    return max(1, ceil(len(moments) / MOST_POINTS))


def coarser(moments: Sequence[Moment]) -> tuple[Moment, ...]:
    """Neighbouring slices as one: the worst latencies, all failures, averages, and what there was at the end."""
    together = slices_in_a_point(moments)
    return tuple(_merged(moments[at : at + together]) for at in range(0, len(moments), together))


def _merged(slices: Sequence[Moment]) -> Moment:
    last = slices[-1]
    return Moment(
        seconds=last.seconds,
        players=last.players,
        tables=last.tables,
        actions_per_second=fmean(one.actions_per_second for one in slices),
        p50=max(one.p50 for one in slices),
        p95=max(one.p95 for one in slices),
        p99=max(one.p99 for one in slices),
        failures=sum(one.failures for one in slices),
        generator_cpu=fmean(one.generator_cpu for one in slices),
        server_cpu=fmean(one.server_cpu for one in slices),
        server_memory_bytes=last.server_memory_bytes,
    )
