"""Measurements of moves: their latencies, and what the processes used; and the table that `make bench` prints."""

import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

SERVER = "server"
"""The process that has a core for itself while it is measured: an engine, or the bare server."""
EVENT_LOOP, TRANSPORT, OTHER_THREADS = "event loop", "transport", "writer and poller"
"""Python does not name its threads for the kernel: the writer of SQLite cannot be told from the poller of grpc.aio."""
PYTHON_THREAD = "python"
HEADER = ("part", "variant", "figures", "ratio (min to max)")


@dataclass(frozen=True, slots=True)
class Usage:
    """The CPU seconds of a process and of its kinds of threads, and the voluntary context switches of all threads."""

    cpu_seconds: float
    thread_seconds: Counter[str]
    switches: int

    def since(self, before: "Usage") -> "Usage":
        """Return what was used after an earlier reading; threads that ended since then are left out."""
        return Usage(
            self.cpu_seconds - before.cpu_seconds,
            self.thread_seconds - before.thread_seconds,
            self.switches - before.switches,
        )


@dataclass(frozen=True, slots=True)
class Measurement:
    """One round: seconds from each move to its answer, duration in seconds, and the usage of each process."""

    latencies: Sequence[float]
    seconds: float
    used: Mapping[str, Usage]

    @property
    def moves_per_second(self) -> float:
        return len(self.latencies) / self.seconds

    @property
    def p50_milliseconds(self) -> float:
        return statistics.median(self.latencies) * 1000

    @property
    def p99_milliseconds(self) -> float:
        return statistics.quantiles(self.latencies, n=100)[98] * 1000

    def cpu_microseconds(self, process: str = SERVER) -> float:
        """Return the CPU time of a process for each move."""
        return self.used[process].cpu_seconds / len(self.latencies) * 1e6

    def thread_microseconds(self, process: str, kind: str) -> float:
        """Return the CPU time of a kind of threads for each move."""
        return self.used[process].thread_seconds[kind] / len(self.latencies) * 1e6

    def switches(self, process: str = SERVER) -> float:
        """Return the voluntary context switches of a process for each move."""
        return self.used[process].switches / len(self.latencies)

    def core_percent(self, process: str = SERVER) -> float:
        """Return the CPU of a process in percent of a core."""
        return self.used[process].cpu_seconds / self.seconds * 100


def merged(rounds: Sequence[Measurement]) -> Measurement:
    """Return one measurement of all rounds."""
    used = {
        name: Usage(
            sum(one.used[name].cpu_seconds for one in rounds),
            sum((one.used[name].thread_seconds for one in rounds), Counter()),
            sum(one.used[name].switches for one in rounds),
        )
        for name in rounds[0].used
    }
    return Measurement([one for each in rounds for one in each.latencies], sum(one.seconds for one in rounds), used)


def ratios(
    of: Callable[[Measurement], float], measured: Sequence[Measurement], baseline: Sequence[Measurement]
) -> list[float]:
    """Return the ratio of a figure to that of the baseline, for each round."""
    return [of(one) / of(base) for one, base in zip(measured, baseline, strict=True)]


def latencies(measured: Measurement) -> str:
    """Return the text of two percentiles."""
    return f"p50 {measured.p50_milliseconds:5.2f}, p99 {measured.p99_milliseconds:6.2f} ms"


def usage(pid: int) -> Usage:
    """Return what a process has used so far."""
    process = psutil.Process(pid)
    threads, switches = Counter[str](), 0
    times = {thread.id: thread.user_time + thread.system_time for thread in process.threads()}
    for thread, name, status in _threads(pid):
        threads[kind_of_thread(name, is_main=thread == pid)] += times.get(thread, 0.0)  # type: ignore[assignment]
        switches += voluntary_switches(status)
    return Usage(sum(process.cpu_times()[:2]), threads, switches)


def kind_of_thread(name: str, *, is_main: bool) -> str:
    """Return the kind of a thread of a service by its name in the kernel."""
    if is_main:
        return EVENT_LOOP
    return OTHER_THREADS if name.startswith(PYTHON_THREAD) else TRANSPORT


def voluntary_switches(status: str) -> int:
    """Return the voluntary context switches of a thread by its file `status` in /proc."""
    found = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status, re.MULTILINE)
    return int(found[1]) if found else 0


def _threads(pid: int) -> Iterator[tuple[int, str, str]]:
    """Yield the number, the name and the status of each thread that has not ended."""
    for folder in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            yield int(folder.name), (folder / "comm").read_text().strip(), (folder / "status").read_text()


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of a variant, and their ratios to a baseline, one for each round of the same run."""

    part: str
    variant: str
    figures: str
    ratios: Sequence[float] = ()
    ratio_name: str = ""
    """What is divided by what, such as "moves/s to bare grpc.aio"."""

    @property
    def ratio(self) -> str:
        """The median, the minimum and the maximum of the ratios; empty without any."""
        if not (found := self.ratios):
            return ""
        return f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f}) {self.ratio_name}"


def format_table(rows: Iterable[Row]) -> str:
    """Return aligned lines, the first with the names of the columns."""
    lines = [HEADER, *((row.part, row.variant, row.figures, row.ratio) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
