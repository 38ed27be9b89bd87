"""Reads the metrics of all instances over a run: their resources, and the increases of their counters."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import NamedTuple, TypeAlias

from prometheus_client.parser import text_string_to_metric_families

from croupier_loadtest.monitor.growth import Reading, settled_reading
from croupier_loadtest.report.result import Check, ServiceUsage

READ_SECONDS = 3.0
KEPT_TYPES = frozenset({"counter", "gauge"})

Labels: TypeAlias = tuple[tuple[str, str], ...]
"""Label names and values, sorted by name."""
Key: TypeAlias = tuple[str, Labels]
"""The name and labels of a sample."""
START_TIME = "process_start_time_seconds"
FORMING = ("state", "FORMING")
MEMORY_BYTES = ("process_resident_memory_bytes", "envoy_server_memory_physical_size")
"""The metrics of an instance's memory: of a service, and of the gateway."""


@dataclass(frozen=True, slots=True)
class Scrape:
    """The counters and gauges of an instance, at a time in seconds of the reader's clock."""

    seconds: float
    samples: Mapping[Key, float]

    def total(self, name: str) -> float:
        """Return the sum of all samples of a name, 0 without any."""
        return sum(value for (sample, _), value in self.samples.items() if sample == name)


@dataclass(frozen=True, slots=True)
class FailedScrape:
    """A page that could not be read, and the reason in one line."""

    seconds: float
    reason: str


def scrape(address: str, seconds: float) -> Scrape | FailedScrape:
    """Read the page of one instance at host:port; waits READ_SECONDS at most for each part of it."""
    try:
        # Not by urllib, which would use a proxy of the environment.
        with closing(HTTPConnection(address, timeout=READ_SECONDS)) as connection:
            connection.request("GET", "/metrics")
            response = connection.getresponse()
            body = response.read()
        if response.status != 200:
            raise ValueError(f"status {response.status} {response.reason}")
        return Scrape(seconds, dict(samples_of(body.decode())))
    except (OSError, HTTPException, ValueError) as fault:
        return FailedScrape(seconds, f"{address} serves no metrics: {str(fault) or type(fault).__name__}")


def samples_of(page: str) -> Iterator[tuple[Key, float]]:
    """Yield the counters and gauges of a page in Prometheus' text format; raises ValueError for anything else."""
    for family in text_string_to_metric_families(page):
        if family.type in KEPT_TYPES and not family.name.endswith("_created"):
            for sample in family.samples:
                yield (sample.name, tuple(sorted(sample.labels.items()))), sample.value


class Usage(NamedTuple):
    """The resources of all instances together: CPU cores since the reading before, and memory; 0 where unknown."""

    cpu_cores: float = 0.0
    memory_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Increases:
    """The increase of each counter and gauge since the beginning, of all instances together.

    It is whole if every instance was read at the beginning and just now, and none was restarted: counts between the
    last reading and the end of a process are lost.
    """

    samples: Mapping[Key, float]
    is_whole: bool


class ServiceMonitor:
    """Reads all instances on demand.

    `instances` has the metrics address (host:port) of each by name; `clock` returns monotonic seconds.
    """

    def __init__(
        self,
        instances: Mapping[str, str],
        clock: Callable[[], float],
        read: Callable[[str, float], Scrape | FailedScrape] = scrape,
    ) -> None:
        self.clock = clock
        self._instances = dict(instances)
        self._read = read
        self._states = {instance: _Instance() for instance in instances}

    def sample(self) -> None:
        """Read all instances; one that cannot be read is marked as missing."""
        for instance, address in self._instances.items():
            self._states[instance].take(self._read(address, self.clock()))

    @property
    def histories(self) -> Mapping[str, Sequence[Reading]]:
        """The readings of each instance, oldest first."""
        return {name: state.readings for name, state in self._states.items()}

    @property
    def had_tables(self) -> bool:
        """Whether any instance had tables of earlier players at the first reading."""
        return any(readings[0].tables for readings in self.histories.values() if readings)

    def check(self) -> Check:
        """Return whether every instance could be read at the beginning and at the end."""
        missed = "; ".join(f"{instance}: {one.missed}" for instance, one in self._states.items() if one.missed)
        limit = "all read at the beginning and at the end"
        return Check("services monitored", limit, missed or f"{len(self._states)} read", passed=not missed)

    def usage(self) -> Usage:
        """Return the current use of resources."""
        known = [readings for readings in self.histories.values() if readings]
        cores = 0.0
        for before, after in (readings[-2:] for readings in known if len(readings) > 1):
            if (passed := after.seconds - before.seconds) > 0:
                cores += (after.cpu_seconds - before.cpu_seconds) / passed
        return Usage(cores, sum(readings[-1].memory_bytes for readings in known))

    def usages(self) -> tuple[ServiceUsage, ...]:
        """Return the resources that each instance used over the run; except those that were never read."""
        return tuple(
            ServiceUsage(
                instance=instance,
                cpu_seconds=readings[-1].cpu_seconds,
                memory_first_bytes=settled_reading(readings).memory_bytes,
                memory_last_bytes=readings[-1].memory_bytes,
                files_first=readings[0].files,
                files_last=readings[-1].files,
                streams_last=readings[-1].streams,
                tables_last=readings[-1].tables,
            )
            for instance, readings in self.histories.items()
            if readings
        )

    def increases(self) -> Increases:
        """Return the increases of all counters since the first sample."""
        total: Counter[Key] = Counter()
        for state in self._states.values():
            total.update(state.increases())
        return Increases(dict(total), all(state.is_whole for state in self._states.values()))


@dataclass(slots=True)
class _Instance:
    """The readings of one instance."""

    readings: list[Reading] = field(default_factory=list)
    missed: str = ""
    """The reason why it could not be read at the beginning, or the last time; else empty."""
    _first: Scrape | None = None
    _last: Scrape | None = None
    _counted: defaultdict[Key, float] = field(default_factory=lambda: defaultdict(float))
    _restarts: int = 0
    _first_failure: str = ""

    @property
    def is_whole(self) -> bool:
        return not self.missed and not self._restarts and self._first is not None

    def take(self, read: Scrape | FailedScrape) -> None:
        """Add a reading, or the reason why there is none."""
        if isinstance(read, FailedScrape):
            self.missed = read.reason
            if self._first is None:
                self._first_failure = read.reason
            return
        self.missed = self._first_failure
        self._count(read)
        # Forming tables are omitted: one that is never started stays for an hour.
        of_lobby = [
            (labels, value) for (name, labels), value in read.samples.items() if name == "croupier_lobby_tables"
        ]
        running = sum(value for labels, value in of_lobby if FORMING not in labels)
        self.readings.append(
            Reading(
                seconds=read.seconds,
                cpu_seconds=self._counted["process_cpu_seconds_total", ()],
                memory_bytes=int(max(read.total(name) for name in MEMORY_BYTES)),
                files=int(read.total("process_open_fds")),
                streams=int(max(read.total("croupier_streams"), read.total("croupier_rpc_open_calls"))),
                tables=int(read.total("croupier_tables_in_memory") + running),
                restarts=self._restarts,
                loop_step_seconds=read.total("croupier_loop_longest_step_seconds"),
            )
        )

    def _count(self, read: Scrape) -> None:
        if self._last is None:
            self._first = self._last = read
            return
        is_new = _was_restarted(self._last, read)
        before = {} if is_new else self._last.samples
        for key, value in read.samples.items():
            if _is_counter(key):
                self._counted[key] += value - before.get(key, 0.0)
        self._restarts += is_new
        self._last = read

    def increases(self) -> Mapping[Key, float]:
        """Return the increases of the counters and gauges."""
        if self._first is None or self._last is None:
            return {}
        first, last = self._first.samples, self._last.samples
        gauges = {key for key in (*first, *last) if not _is_counter(key)}
        return {**self._counted, **{key: last.get(key, 0.0) - first.get(key, 0.0) for key in gauges}}


def _is_counter(key: Key) -> bool:
    return key[0].endswith("_total")


def _was_restarted(before: Scrape, after: Scrape) -> bool:
    """Return whether an instance was restarted: its start time differs, or a counter went down."""
    if before.total(START_TIME) != after.total(START_TIME):
        return True
    return any(after.samples.get(key, 0.0) < value for key, value in before.samples.items() if _is_counter(key))
