"""What the services counted beside what the clients counted: the figures of `counted`, each side by side."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from math import inf

from loadtest.judge.violations import Invariant, Violation
from loadtest.report.result import Compared
from loadtest.watch.counted import COUNTED, UNHEARD_TABLES, Counted, key
from loadtest.watch.watch import Increases, Watch

AT_LEAST = ", at least"
AT_MOST = ", at most"
PAUSE_SECONDS = 0.5


def compare(increases: Increases, clients: Mapping[str, int], *, shared: bool = False) -> tuple[Compared, ...]:
    """All figures that either side counted; `clients` has what `counted` tells clients to count.

    They are equal within the slack if the clients are the only ones. Where others use the services too (`shared`), or
    nobody heard all that is counted, the services have counted at least as much, and the figure is called so. Where a
    service was started again, or could not be read, they have counted at most as much. Where neither can be asked, the
    figure is left out.
    """
    return tuple(row for one in COUNTED for row in _compared(one, increases, clients, shared=shared))


def await_agreement(
    watch: Watch,
    clients: Mapping[str, int],
    *,
    within_seconds: float,
    sleep: Callable[[float], None],
    shared: bool = False,
) -> tuple[Compared, ...]:
    """Read the services until all figures agree, or as they are when that has not come about in time.

    What ended just now may be counted a moment later: streams that a client ended, and results, which the engine
    hands over to scoring after the players have heard of them. Where there are no instances to read, there are no
    figures.
    """
    if not watch.histories:
        return ()
    deadline = watch.clock() + within_seconds
    while True:
        watch.sample()
        rows = compare(watch.increases(), clients, shared=shared)
        if all(row.agrees for row in rows) or watch.clock() >= deadline:
            return rows
        sleep(PAUSE_SECONDS)


def differences(compared: tuple[Compared, ...]) -> tuple[Violation, ...]:
    """What does not agree."""
    return tuple(
        Violation(
            Invariant.METRICS_DIFFER,
            "",
            0,
            f"{row.name}: the services counted {row.services:g}, the clients {row.clients:g}, "
            f"not knowing of {row.slack:g}",
        )
        for row in compared
        if not row.agrees
    )


def _compared(
    counted: Counted, increases: Increases, clients: Mapping[str, int], *, shared: bool
) -> Iterator[Compared]:
    is_whole = increases.is_whole
    has_most = not shared and not (counted.needs_all_heard and clients.get(UNHEARD_TABLES))
    if not has_most and not is_whole:
        return
    suffix = AT_LEAST if not has_most else AT_MOST if not is_whole else ""
    services = _counted_by_services(counted, increases)
    for name in sorted({*services, *(name for name in clients if _belongs(name, counted.name))}):
        counts, known = services.get(name, 0), clients.get(name, 0)
        slack = _slack(counted, name, clients)
        least = known - slack if is_whole else -inf
        most = known + slack if has_most else inf
        if counts or known:
            yield Compared(name + suffix, counts, known, slack, agrees=least <= counts <= most)


def _counted_by_services(counted: Counted, increases: Increases) -> Mapping[str, float]:
    services: defaultdict[str, float] = defaultdict(float)
    for (sample, labels), increase in increases.samples.items():
        if sample in counted.metrics and (values := counted.values(dict(labels))) is not None:
            services[key(counted.name, *values)] += increase
    return services


def _slack(counted: Counted, name: str, clients: Mapping[str, int]) -> float:
    """What clients do not know of a figure."""
    if not counted.unknown:
        return 0
    values = name.removeprefix(counted.name).split()[: counted.unknown_values]
    return sum(count for unknown, count in clients.items() if _belongs(unknown, key(counted.unknown, *values)))


def _belongs(name: str, family: str) -> bool:
    return name == family or name.startswith(f"{family} ")
