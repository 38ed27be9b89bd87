"""All instances of the services over a run: what each uses, and by how much what it counts has gone up."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from loadtest.report.result import Check, ServiceUse
from loadtest.watch.growth import Reading, settled_reading
from loadtest.watch.scrape import Key, Scrape, Unread, scrape

START_TIME = "process_start_time_seconds"
FORMING = ("state", "FORMING")


class Use(NamedTuple):
    """What all instances use together now: CPU cores since the reading before, and memory; 0 is what is not known."""

    cpu_cores: float = 0.0
    memory_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Increases:
    """By how much each counter went up since the beginning, and each gauge changed, all instances together.

    They are whole if every instance was read at the beginning and just now, and none was started again: what it
    counted between the last reading and its end is known to nobody.
    """

    samples: Mapping[Key, float]
    is_whole: bool


class Watch:
    """Reads all instances whenever it is asked to.

    `instances` says where each serves its metrics, host:port by its name; `clock` gives seconds that only go forward.
    """

    def __init__(
        self,
        instances: Mapping[str, str],
        clock: Callable[[], float],
        read: Callable[[str, float], Scrape | Unread] = scrape,
    ) -> None:
        self.clock = clock
        self._instances = dict(instances)
        self._read = read
        self._watched = {instance: _Watched() for instance in instances}

    def sample(self) -> None:
        """Read all instances; one that cannot be read is noted as missing, and the others go on."""
        for instance, address in self._instances.items():
            self._watched[instance].take(self._read(address, self.clock()))

    @property
    def histories(self) -> Mapping[str, Sequence[Reading]]:
        """What each instance used over time, oldest first."""
        return {instance: watched.readings for instance, watched in self._watched.items()}

    def check(self) -> Check:
        """Whether every instance could be read at the beginning and at the end."""
        told = "; ".join(f"{instance}: {one.missed}" for instance, one in self._watched.items() if one.missed)
        limit = "all read at the beginning and at the end"
        return Check("services watched", limit, told or f"{len(self._watched)} read", passed=not told)

    def use(self) -> Use:
        """What all use now."""
        known = [readings for readings in self.histories.values() if readings]
        cores = sum(_cores(readings[-2], readings[-1]) for readings in known if len(readings) > 1)
        return Use(cores, sum(readings[-1].memory_bytes for readings in known))

    def uses(self) -> tuple[ServiceUse, ...]:
        """What each instance used over the run; those that were never read are left out."""
        return tuple(_use_of(instance, readings) for instance, readings in self.histories.items() if readings)

    def increases(self) -> Increases:
        """By how much all counters went up since the first sample."""
        total: Counter[Key] = Counter()
        for watched in self._watched.values():
            total.update(watched.increases())
        return Increases(dict(total), all(watched.is_whole for watched in self._watched.values()))


@dataclass(slots=True)
class _Watched:
    """What is known of one instance."""

    readings: list[Reading] = field(default_factory=list)
    missed: str = ""
    """Why it could not be read at the beginning, or the last time."""
    _first: Scrape | None = None
    _last: Scrape | None = None
    _counted: defaultdict[Key, float] = field(default_factory=lambda: defaultdict(float))
    _restarts: int = 0
    _was_late: str = ""

    @property
    def is_whole(self) -> bool:
        return not self.missed and not self._restarts and self._first is not None

    def take(self, read: Scrape | Unread) -> None:
        """Add a reading, or note why there is none."""
        if isinstance(read, Unread):
            self.missed = read.reason
            if self._first is None:
                self._was_late = read.reason
            return
        self.missed = self._was_late
        self._count(read)
        self.readings.append(self._reading(read))

    def _count(self, read: Scrape) -> None:
        if self._last is None:
            self._first = self._last = read
            return
        is_new = _is_another_process(self._last, read)
        before = {} if is_new else self._last.samples
        for key, value in read.samples.items():
            if _is_counter(key):
                self._counted[key] += value - before.get(key, 0.0)
        self._restarts += is_new
        self._last = read

    def _reading(self, read: Scrape) -> Reading:
        return Reading(
            seconds=read.seconds,
            cpu_seconds=self._counted["process_cpu_seconds_total", ()],
            memory_bytes=int(read.total("process_resident_memory_bytes")),
            files=int(read.total("process_open_fds")),
            streams=int(max(read.total("croupier_streams"), read.total("croupier_rpc_open_calls"))),
            tables=_tables(read),
            restarts=self._restarts,
        )

    def increases(self) -> Mapping[Key, float]:
        """By how much the counters went up and the gauges changed."""
        if self._first is None or self._last is None:
            return {}
        first, last = self._first.samples, self._last.samples
        gauges = {key for key in (*first, *last) if not _is_counter(key)}
        return {**self._counted, **{key: last.get(key, 0.0) - first.get(key, 0.0) for key in gauges}}


def _is_counter(key: Key) -> bool:
    return key[0].endswith("_total")


def _is_another_process(before: Scrape, after: Scrape) -> bool:
    """Whether an instance was started again: it says so, or else a counter went down."""
    if before.total(START_TIME) != after.total(START_TIME):
        return True
    return any(after.samples.get(key, 0.0) < value for key, value in before.samples.items() if _is_counter(key))


def _tables(read: Scrape) -> int:
    """Tables that an engine has in memory, or that a lobby has on their way to an end.

    Those that only form are left out: who never starts one leaves it for an hour.
    """
    lobby = [(labels, value) for (name, labels), value in read.samples.items() if name == "croupier_lobby_tables"]
    running = sum(value for labels, value in lobby if FORMING not in labels)
    return int(read.total("croupier_tables_in_memory") + running)


def _cores(before: Reading, after: Reading) -> float:
    passed = after.seconds - before.seconds
    return (after.cpu_seconds - before.cpu_seconds) / passed if passed > 0 else 0.0


def _use_of(instance: str, readings: Sequence[Reading]) -> ServiceUse:
    first, last = readings[0], readings[-1]
    return ServiceUse(
        instance=instance,
        cpu_seconds=last.cpu_seconds,
        memory_first_bytes=settled_reading(readings).memory_bytes,
        memory_last_bytes=last.memory_bytes,
        files_first=first.files,
        files_last=last.files,
        streams_last=last.streams,
        tables_last=last.tables,
    )
