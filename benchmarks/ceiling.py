"""The highest load of one engine on SQLite, one on PostgreSQL, and two on PostgreSQL: `make ceiling`.

Players have no think time, and the number of tables rises in steps. Each step is a run of the load test's scenario
`ceiling` on new services. The steps end when the p99 of actions exceeds 100 ms, an invariant is violated, or the load
process is at its own limit. Exit code 0 if a load was found within all limits and without a violation, 1 if not, 2 if
nothing could be tested.
"""

import argparse
import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import NamedTuple

from croupier.runtime.database.schema_versions import migrate_database
from croupier_loadtest.measures import ACKNOWLEDGED
from croupier_loadtest.postgres import PostgresServer, postgres_server
from croupier_loadtest.report.result import LoadStep, Result, ViolationSummary, from_json, reasons
from croupier_loadtest.report.text import to_text
from croupier_loadtest.report.write import write_results

EXIT_PASSED, EXIT_FAILED, EXIT_NOT_RUN = 0, 1, 2
SERVICES = ("croupier.lobby", "croupier.engine", "croupier.scoring")
LOCUST = (sys.executable, "-m", "croupier.cli", "load", "--headless", "--only-summary")
GRACE_SECONDS = 60
MAX_ATTEMPTS = 2
MAX_TABLES = 20_000
MAX_BISECTIONS = 2
"""The number of steps between the last good and the first bad load."""


class Setup(NamedTuple):
    """A setup of services."""

    engines: int
    is_on_postgres: bool


SETUPS: Mapping[str, Setup] = {"sqlite": Setup(1, False), "postgres": Setup(1, True), "two-engines": Setup(2, True)}


def search(is_sustained: Callable[[int], bool], first: int, maximum: int = MAX_TABLES) -> None:
    """Search approximately for the load at which `is_sustained` begins to return False.

    The load is doubled until it is too high; if the first is too high it is halved until one is good, or it is one.
    Then MAX_BISECTIONS loads between the last good and the first bad one are tried.
    """
    good, bad, bisections = 0, min(first, maximum), MAX_BISECTIONS
    while is_sustained(bad):
        if bad == maximum:
            return
        good, bad = bad, min(2 * bad, maximum)
    while bad - good > 1 and (bisections > 0 or not good):
        middle = (good + bad) // 2
        bisections -= bool(good)
        good, bad = (middle, bad) if is_sustained(middle) else (good, middle)


def is_good(result: Result) -> bool:
    """Return whether the run is within all limits, and the load process is not at its own limit."""
    return result.passed and not result.bottleneck


def step_of(result: Result, tables: int) -> LoadStep:
    """Return a step of the curve, with the average CPU of its intervals."""
    acknowledged = next((one for one in result.latencies if one.name == ACKNOWLEDGED), None)
    cpu = [interval.server_cpu for interval in result.intervals]
    return LoadStep(
        tables=tables,
        actions_per_second=result.actions_per_second,
        p50=acknowledged.p50 if acknowledged else 0.0,
        p99=acknowledged.p99 if acknowledged else 0.0,
        generator_cpu=result.generator_cpu,
        server_cpu=sum(cpu) / len(cpu) if cpu else 0.0,
        passed=is_good(result),
    )


def ceiling(results: Mapping[int, Result]) -> Result:
    """Return the result of the highest good step, or of the lowest step, with the curve and violations of all steps.

    `results` are by number of tables, and not empty.
    """
    steps = tuple(step_of(results[tables], tables) for tables in sorted(results))
    knee = max((at for at, step in enumerate(steps) if step.passed), default=None)
    first_bad = next((results[step.tables] for step in steps if not step.passed), None)
    violations = _merge_violations(broken for step in steps for broken in results[step.tables].violations)
    return replace(
        results[steps[knee or 0].tables],
        steps=steps,
        knee=knee,
        violations=violations,
        bottleneck=first_bad.bottleneck if first_bad else "",
        passed=knee is not None and not violations,
    )


def _merge_violations(found: Iterable[ViolationSummary]) -> tuple[ViolationSummary, ...]:
    kinds: dict[str, ViolationSummary] = {}
    for broken in found:
        before = kinds.setdefault(broken.invariant, replace(broken, count=0))
        kinds[broken.invariant] = replace(before, count=before.count + broken.count)
    return tuple(kinds.values())


def find_ceiling(options: argparse.Namespace, name: str, server: PostgresServer | None) -> Result:
    """Find a ceiling, or return the steps so far after Ctrl-C; raises RuntimeError if there are none."""
    results: dict[int, Result] = {}
    runs = count(1)

    def is_sustained(tables: int) -> bool:
        """Return whether a load is within the limits; a slow step is repeated, because machines have pauses."""
        for _ in range(MAX_ATTEMPTS):
            results[tables] = result = _measured(options, name, server, tables, next(runs))
            print(_line(step_of(result, tables), result), flush=True)
            if is_good(result) or result.violations or result.bottleneck:
                break
        return is_good(result)

    try:
        search(is_sustained, options.first)
    except KeyboardInterrupt:
        if not results:
            raise RuntimeError("interrupted before a step was measured") from None
    return ceiling(results)


def _measured(options: argparse.Namespace, name: str, server: PostgresServer | None, tables: int, run: int) -> Result:
    folder = Path(options.results) / name / f"{run}-{tables}"
    command = [*LOCUST, "--tags=ceiling", f"--tables={tables}", f"--run-time={options.seconds}", f"--mix={options.mix}"]
    command += [f"--grace={GRACE_SECONDS}", f"--results={folder}", f"--engines={SETUPS[name].engines}"]
    command += [f"--seed={options.seed + run}"] if options.seed is not None else []
    if server is not None:
        # Each step has a new database, because its services are new.
        url = server.create_database(f"ceiling_{name}_{run}".replace("-", "_"))
        asyncio.run(migrate_database(url, SERVICES))
        command.append(f"--database={url}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    file = folder / "result.json"
    if not file.exists():
        raise RuntimeError(f"a step could not be measured: {done.stderr.strip()[-500:]}")
    return from_json(file.read_text())


def _line(step: LoadStep, result: Result) -> str:
    line = (
        f"{step.tables:>6} tables  {step.actions_per_second:7,.0f} actions/s  p50 {step.p50:6.1f} ms  "
        f"p99 {step.p99:7.1f} ms  {result.server_cpu_milliseconds_per_thousand_actions:5,.0f} ms CPU per thousand  "
        f"services {step.server_cpu:.2f}, generator {step.generator_cpu:.2f} cores"
    )
    over = "; ".join([*reasons(result), *([result.bottleneck] if result.bottleneck else [])])
    return line if step.passed else f"{line}  OVER: {over}"


def main(arguments: Sequence[str]) -> int:
    """Find all ceilings, and return the exit code."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    codes = []
    try:
        with ExitStack() as stack:
            needs_server = any(SETUPS[name].is_on_postgres for name in options.on)
            server = stack.enter_context(postgres_server({})) if needs_server else None
            for name in options.on:
                print(f"\n{name}", flush=True)
                result = find_ceiling(options, name, server if SETUPS[name].is_on_postgres else None)
                write_results(result, Path(options.results) / name)
                print(to_text(result), flush=True)
                codes.append(EXIT_PASSED if result.passed else EXIT_FAILED)
    except RuntimeError as fault:
        print(f"ceiling: {fault}", file=sys.stderr)
        return EXIT_NOT_RUN
    return max(codes)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ceiling", description=__doc__)
    parser.add_argument("--on", nargs="+", choices=SETUPS, default=list(SETUPS), help="setups (all)")
    parser.add_argument("--seconds", type=int, default=15, help="duration of each step (15)")
    parser.add_argument("--first", type=int, default=25, metavar="TABLES", help="tables of the first step (25)")
    parser.add_argument("--mix", default="", metavar="GAME[=WEIGHT],...", help="games (all installed)")
    parser.add_argument("--seed", type=int, help="fixes players and their decisions; random by default")
    parser.add_argument("--results", default=f"results/{time.strftime('%Y%m%d-%H%M%S')}-ceiling", metavar="FOLDER")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
