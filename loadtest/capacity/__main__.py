"""`python -m loadtest.capacity`: how many tables are held in memory with streams, and asleep; and how they wake."""

import asyncio
import os
import platform
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from croupier_client import CroupierError
from loadtest.backend import Backend, BackendMissing, own_backend
from loadtest.capacity import asleep, idle
from loadtest.capacity.crowd import CONNECTIONS, Say
from loadtest.capacity.options import CapacityOptions, read_capacity_options
from loadtest.report.capacity import CapacityResult, capacity_json, capacity_text
from loadtest.report.write import ReportFault, check_folder
from loadtest.swarm.client import Connections

FINE, BROKEN, NOT_RUN, INTERRUPTED = 0, 1, 2, 130
T = TypeVar("T")
Flags: TypeAlias = Mapping[str, Sequence[str]]
Measure: TypeAlias = Callable[[CapacityOptions, Backend, Connections, list[str], Say], Coroutine[Any, Any, T]]


def main(arguments: Sequence[str]) -> int:
    """Measure what was asked for; gives the exit code."""
    options = read_capacity_options(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        check_folder(options.results)
        result = measured(options, _say)
    except (BackendMissing, ReportFault, CroupierError) as fault:
        print(f"loadtest.capacity: {fault}", file=sys.stderr, flush=True)
        return NOT_RUN
    except TimeoutError:
        print(f"loadtest.capacity: not within {options.limit_seconds:g} s: see --limit-seconds", file=sys.stderr)
        return NOT_RUN
    except KeyboardInterrupt:
        return INTERRUPTED
    (options.results / "capacity.json").write_text(capacity_json(result))
    (options.results / "summary.txt").write_text(capacity_text(result))
    print(capacity_text(result), end="", flush=True)
    print(f"result      {options.results / 'capacity.json'}", flush=True)
    return FINE if result.passed else BROKEN


def measured(options: CapacityOptions, say: Say) -> CapacityResult:
    """Measure each part against services of its own; raises BackendMissing, CroupierError, TimeoutError."""
    started, failures = time.time_ns() // 1_000_000, list[str]()

    def part(name: str, flags: Flags, measure: Measure[T]) -> T | None:
        if name not in options.parts:
            return None
        return _part(flags, lambda backend, connections: measure(options, backend, connections, failures, say))

    return CapacityResult(
        command=options.command,
        seed=options.seed,
        started_milliseconds=started,
        machine=f"{platform.system()} {platform.machine()}",
        cores=os.cpu_count() or 0,
        backend="1 engine on SQLite, on this machine",
        idle=part("idle", idle.FLAGS, idle.idle_capacity),
        asleep=part("asleep", asleep.flags(options), asleep.asleep_capacity),
        failures=tuple(failures),
    )


def _part(flags: Flags, measure: Callable[[Backend, Connections], Coroutine[Any, Any, T]]) -> T:
    from uvloop import new_event_loop

    with own_backend(extra_flags=flags) as backend, asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(_over_connections(backend, measure))


async def _over_connections(backend: Backend, measure: Callable[[Backend, Connections], Coroutine[Any, Any, T]]) -> T:
    connections = Connections(backend.endpoints, CONNECTIONS)
    try:
        return await measure(backend, connections)
    finally:
        await connections.close()


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
