"""Compares the services' counters with the clients' counts, as `croupier_loadtest.monitor.counters` defines them."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from math import inf

from croupier_loadtest.judge.violations import Invariant, Violation
from croupier_loadtest.monitor.counters import COMPARED_COUNTERS, UNOBSERVED_TABLES, ComparedCounter, key
from croupier_loadtest.monitor.monitor import Increases, ServiceMonitor
from croupier_loadtest.report.result import CounterComparison

PAUSE_SECONDS = 0.5


def compare(increases: Increases, clients: Mapping[str, int], *, shared: bool = False) -> tuple[CounterComparison, ...]:
    """Compare all counters; `clients` has the clients' counts by key.

    They must be equal within the slack if no other clients use the services. If others do (`shared`), or no viewer
    received all that is counted, the services must have counted at least as much. If a service was restarted or could
    not be read, they must have counted at most as much. The names have a suffix then. If both hold, the counter is
    omitted.
    """
    return tuple(row for one in COMPARED_COUNTERS for row in _compared(one, increases, clients, shared=shared))


def await_agreement(
    monitor: ServiceMonitor,
    clients: Mapping[str, int],
    *,
    within_seconds: float,
    sleep: Callable[[float], None],
    shared: bool = False,
) -> tuple[CounterComparison, ...]:
    """Read the services until all counters agree; returns the last comparison when the time is over.

    Services count some events a little later: the end of a stream by its client, and results, which the engine reports
    to scoring after the players have received them. Without instances to read, the result is empty.
    """
    if not monitor.histories:
        return ()
    deadline = monitor.clock() + within_seconds
    while True:
        monitor.sample()
        rows = compare(monitor.increases(), clients, shared=shared)
        if all(row.agrees for row in rows) or monitor.clock() >= deadline:
            return rows
        sleep(PAUSE_SECONDS)


def differences(compared: tuple[CounterComparison, ...]) -> tuple[Violation, ...]:
    """Return a violation for each counter that does not agree."""
    details = (
        f"{row.name}: the services counted {row.services:g}, the clients {row.clients:g}, with {row.slack:g} unknown"
        for row in compared
        if not row.agrees
    )
    return tuple(Violation(Invariant.METRICS_DIFFER, "", 0, detail) for detail in details)


def _compared(
    counted: ComparedCounter, increases: Increases, clients: Mapping[str, int], *, shared: bool
) -> Iterator[CounterComparison]:
    is_whole = increases.is_whole
    has_maximum = not shared and not (counted.needs_all_observed and clients.get(UNOBSERVED_TABLES))
    if not has_maximum and not is_whole:
        return
    suffix = ", at least" if not has_maximum else ", at most" if not is_whole else ""
    services: defaultdict[str, float] = defaultdict(float)
    for (sample, labels), increase in increases.samples.items():
        if sample in counted.metrics and (values := counted.values(dict(labels))) is not None:
            services[key(counted.name, *values)] += increase
    for name in sorted({*services, *(name for name in clients if _belongs(name, counted.name))}):
        counts, known = services.get(name, 0), clients.get(name, 0)
        slack = _slack(counted, name, clients)
        minimum = known - slack if is_whole else -inf
        maximum = known + slack if has_maximum else inf
        if counts or known:
            yield CounterComparison(name + suffix, counts, known, slack, agrees=minimum <= counts <= maximum)


def _slack(counted: ComparedCounter, name: str, clients: Mapping[str, int]) -> float:
    """Return the number of events of a counter whose outcome clients do not know."""
    if not counted.unknown:
        return 0
    values = name.removeprefix(counted.name).split()[: counted.unknown_values]
    return sum(count for unknown, count in clients.items() if _belongs(unknown, key(counted.unknown, *values)))


def _belongs(name: str, family: str) -> bool:
    return name == family or name.startswith(f"{family} ")
