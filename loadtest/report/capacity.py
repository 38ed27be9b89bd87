"""What services can hold while nobody acts: tables with streams in memory, and tables asleep in the log."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from loadtest.report.figures import UNKNOWN, duration, known, milliseconds, number, size
from loadtest.report.result import Latency


@dataclass(frozen=True, slots=True)
class Wave:
    """Some more tables, and then a stream for each of their seats; memory is the engine's own, in bytes."""

    tables: int
    streams: int
    before_bytes: int
    with_tables_bytes: int
    with_streams_bytes: int


@dataclass(frozen=True, slots=True)
class IdleCapacity:
    """Tables in memory with seated players and open streams, where nobody acts."""

    limit_bytes: int
    """The engine's memory at which no more were opened."""
    seats: int
    """Of each table."""
    waves: tuple[Wave, ...]
    seconds: float
    reached: bool
    """Whether memory came to its limit, and not the number of tables or the time to theirs."""

    @property
    def tables(self) -> int:
        """How many were open in the end."""
        return sum(wave.tables for wave in self.waves)

    @property
    def streams(self) -> int:
        """How many were open in the end."""
        return sum(wave.streams for wave in self.waves)

    @property
    def bytes_per_table(self) -> float:
        """What a table in memory takes that nobody follows."""
        return sum(wave.with_tables_bytes - wave.before_bytes for wave in self.waves) / max(1, self.tables)

    @property
    def bytes_per_stream(self) -> float:
        """What a stream takes on top of its table."""
        return sum(wave.with_streams_bytes - wave.with_tables_bytes for wave in self.waves) / max(1, self.streams)


@dataclass(frozen=True, slots=True)
class AsleepCapacity:
    """Tables in the log alone, which nobody follows, and what it takes to wake them."""

    tables: int
    opening_seconds: float
    falling_asleep_seconds: float
    memory_before_bytes: int
    """Of the engine, before there was any table."""
    memory_most_bytes: int
    """While tables were opened."""
    memory_asleep_bytes: int
    """With all tables asleep."""
    database_bytes: int
    """The engine's database; 0 where that is not known."""
    woken: int
    waking_at_a_time: int
    latencies: tuple[Latency, ...]
    different: tuple[str, ...]
    """Tables that were not as they had been left, and in what."""

    @property
    def tables_per_second(self) -> float:
        """How fast they were opened, through the lobby."""
        return self.tables / self.opening_seconds if self.opening_seconds else 0.0


@dataclass(frozen=True, slots=True)
class CapacityResult:
    """All that is known of a run; parts that were not asked for are None."""

    command: str
    seed: int
    started_milliseconds: int
    machine: str
    cores: int
    backend: str
    idle: IdleCapacity | None
    asleep: AsleepCapacity | None
    failures: tuple[str, ...] = ()
    """Openings that failed and were made up for by others."""

    @property
    def passed(self) -> bool:
        """Whether every table that was woken was as it had been left."""
        return self.asleep is None or not self.asleep.different


def capacity_json(result: CapacityResult) -> str:
    """The text of capacity.json."""
    body = asdict(result) | {"passed": result.passed}
    if result.idle is not None:
        body["idle"] |= {
            "tables": result.idle.tables,
            "streams": result.idle.streams,
            "bytes_per_table": result.idle.bytes_per_table,
            "bytes_per_stream": result.idle.bytes_per_stream,
        }
    if result.asleep is not None:
        body["asleep"] |= {"tables_per_second": result.asleep.tables_per_second}
    return json.dumps(body, indent=1, ensure_ascii=False) + "\n"


def capacity_text(result: CapacityResult) -> str:
    """The summary as it is printed and kept; the last line is the verdict."""
    return "".join(f"{line}\n" for line in _lines(result))


def _lines(result: CapacityResult) -> Iterator[str]:
    if result.idle is not None:
        yield from _idle(result.idle)
    if result.asleep is not None:
        yield from _asleep(result.asleep)
    if result.failures:
        yield f"failed      {number(len(result.failures))} openings, first: {result.failures[0]}"
    yield f"conditions  {result.backend}, seed {result.seed}, {result.machine}, {result.cores} cores"
    yield f"repeat      {result.command}"
    different = len(result.asleep.different) if result.asleep else 0
    yield f"verdict     {'fine' if result.passed else f'{number(different)} tables were not as they had been left'}"


def _idle(idle: IdleCapacity) -> Iterator[str]:
    last = idle.waves[-1].with_streams_bytes if idle.waves else 0
    end = f"the limit of {size(idle.limit_bytes)} was reached" if idle.reached else "stopped before the limit"
    yield (
        f"idle        {number(idle.tables)} tables with {idle.seats} players each and {number(idle.streams)} streams "
        f"in {size(last)} of the engine's memory: {end} after {duration(idle.seconds)}"
    )
    per_table, per_stream = size(idle.bytes_per_table), size(idle.bytes_per_stream)
    yield f"            {per_table} per table without streams, {per_stream} per stream on top"


def _asleep(asleep: AsleepCapacity) -> Iterator[str]:
    yield (
        f"asleep      {number(asleep.tables)} tables, opened through the lobby in {duration(asleep.opening_seconds)}: "
        f"{number(asleep.tables_per_second)} a second; {duration(asleep.falling_asleep_seconds)} until all had left "
        "memory"
    )
    yield (
        f"            the engine's memory: {size(asleep.memory_before_bytes)} before, "
        f"{size(asleep.memory_most_bytes)} at most, {size(asleep.memory_asleep_bytes)} with all asleep; "
        f"its database: {known(asleep.database_bytes, size(asleep.database_bytes))}, "
        f"{_per_table(asleep.database_bytes, asleep.tables)} a table"
    )
    yield (
        f"woken       {number(asleep.woken)} tables chosen by chance, {asleep.waking_at_a_time} at a time, "
        f"{number(asleep.woken - len(asleep.different))} of them as they had been left"
    )
    for latency in asleep.latencies:
        times = ", ".join(f"{name} {milliseconds(getattr(latency, name))}" for name in ("p50", "p95", "p99", "most"))
        yield f"            {latency.name}: {times} ({number(latency.count)})"
    yield from (f"            different: {one}" for one in asleep.different[:10])


def _per_table(count: int, tables: int) -> str:
    return size(count / tables) if count and tables else UNKNOWN
