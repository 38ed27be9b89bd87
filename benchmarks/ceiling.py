"""The highest load of one engine on SQLite, one on PostgreSQL, and two on PostgreSQL: `make ceiling`.

Nobody thinks, and tables are added step by step, each step a run of the load test's scenario `ceiling` on services of
its own, until 99 of 100 actions take more than 100 ms, something breaks, or the load process is at its own limit.
Exit code 0 if a load was found that keeps all limits and nothing broke, 1 if not, 2 if nothing could be tested.
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

from croupier.runtime.schema_versions import migrate_database
from loadtest.mix import ALL_GAMES
from loadtest.postgres import PostgresServer, postgres_server
from loadtest.report.encoding import from_json
from loadtest.report.result import Broken, Result, Step
from loadtest.report.text import to_text
from loadtest.report.verdict import reasons
from loadtest.report.write import write_results

FINE, BROKEN, NOT_RUN = 0, 1, 2
SERVICES = ("croupier.lobby", "croupier.engine", "croupier.scoring")
LOCUST = (sys.executable, "-m", "locust", "-f", "loadtest/locustfile.py", "--headless", "--only-summary")
GRACE_SECONDS = 60
CHANCES = 2
MAX_TABLES = 20_000
NARROWINGS = 2
"""How often a load between the last good and the first bad one is tried."""


class Setup(NamedTuple):
    """What is put under load."""

    engines: int
    is_on_postgres: bool


SETUPS: Mapping[str, Setup] = {"sqlite": Setup(1, False), "postgres": Setup(1, True), "two-engines": Setup(2, True)}


def search(keeps: Callable[[int], bool], first: int, most: int = MAX_TABLES, narrowings: int = NARROWINGS) -> None:
    """Try loads until it is known about where `keeps` begins to return False.

    The load is doubled until it is too high; where not even the first is good it is halved until one is, or there is
    nothing lower than one. Then loads between the last good and the first bad one are tried, so often.
    """
    good, bad = 0, min(first, most)
    while keeps(bad):
        if bad == most:
            return
        good, bad = bad, min(2 * bad, most)
    while bad - good > 1 and (narrowings > 0 or not good):
        middle = (good + bad) // 2
        narrowings -= bool(good)
        good, bad = (middle, bad) if keeps(middle) else (good, middle)


def is_good(result: Result) -> bool:
    """Whether all limits were kept, and the load process was not at its own."""
    return result.passed and not result.bottleneck


def step_of(result: Result, tables: int) -> Step:
    """A step as the curve shows it; its CPU is that of an average moment."""
    acknowledged = next((one for one in result.latencies if one.name == "action acknowledged"), None)
    cpu = [moment.server_cpu for moment in result.moments]
    return Step(
        tables=tables,
        actions_per_second=result.actions_per_second,
        p50=acknowledged.p50 if acknowledged else 0.0,
        p99=acknowledged.p99 if acknowledged else 0.0,
        generator_cpu=result.generator_cpu,
        server_cpu=sum(cpu) / len(cpu) if cpu else 0.0,
        passed=is_good(result),
    )


def ceiling(results: Mapping[int, Result]) -> Result:
    """The result of the highest good step, or of the lowest where none is, with the curve of all and what broke at any.

    `results` are by number of tables, and not empty.
    """
    steps = tuple(step_of(results[tables], tables) for tables in sorted(results))
    knee = max((at for at, step in enumerate(steps) if step.passed), default=None)
    first_bad = next((results[step.tables] for step in steps if not step.passed), None)
    violations = _together(broken for step in steps for broken in results[step.tables].violations)
    return replace(
        results[steps[knee or 0].tables],
        steps=steps,
        knee=knee,
        violations=violations,
        bottleneck=first_bad.bottleneck if first_bad else "",
        passed=knee is not None and not violations,
    )


def _together(found: Iterable[Broken]) -> tuple[Broken, ...]:
    kinds: dict[str, Broken] = {}
    for broken in found:
        before = kinds.setdefault(broken.invariant, replace(broken, count=0))
        kinds[broken.invariant] = replace(before, count=before.count + broken.count)
    return tuple(kinds.values())


def climbed(given: argparse.Namespace, name: str, server: PostgresServer | None) -> Result:
    """Find a ceiling, or what is known of it when Ctrl-C comes; raises RuntimeError if nothing is."""
    results: dict[int, Result] = {}
    runs = count(1)

    def keeps(tables: int) -> bool:
        """Whether a load keeps the limits; one that was slow once gets another chance, for machines have hiccups."""
        for _ in range(CHANCES):
            results[tables] = result = _measured(given, name, server, tables, next(runs))
            print(_line(step_of(result, tables), result), flush=True)
            if is_good(result) or result.violations or result.bottleneck:
                break
        return is_good(result)

    try:
        search(keeps, given.first)
    except KeyboardInterrupt:
        if not results:
            raise RuntimeError("interrupted before a step was measured") from None
    return ceiling(results)


def _measured(given: argparse.Namespace, name: str, server: PostgresServer | None, tables: int, run: int) -> Result:
    folder = Path(given.results) / name / f"{run}-{tables}"
    command = [*LOCUST, "--tags=ceiling", f"--tables={tables}", f"--run-time={given.seconds}", f"--mix={given.mix}"]
    command += [f"--grace={GRACE_SECONDS}", f"--results={folder}", f"--engines={SETUPS[name].engines}"]
    command += [f"--seed={given.seed + run}"] if given.seed is not None else []
    if server is not None:
        # A new database for each step: the services of each have tables of their own.
        url = server.create_database(f"ceiling_{name}_{run}".replace("-", "_"))
        asyncio.run(migrate_database(url, SERVICES))
        command.append(f"--database={url}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    file = folder / "result.json"
    if not file.exists():
        raise RuntimeError(f"a step could not be measured: {done.stderr.strip()[-500:]}")
    return from_json(file.read_text())


def _line(step: Step, result: Result) -> str:
    measured = (
        f"{step.tables:>6} tables  {step.actions_per_second:7,.0f} actions/s  p50 {step.p50:6.1f} ms  "
        f"p99 {step.p99:7.1f} ms  {result.server_cpu_milliseconds_per_thousand_actions:5,.0f} ms CPU per thousand  "
        f"services {step.server_cpu:.2f}, generator {step.generator_cpu:.2f} cores"
    )
    over = "; ".join([*reasons(result), *([result.bottleneck] if result.bottleneck else [])])
    return measured if step.passed else f"{measured}  OVER: {over}"


def main(arguments: Sequence[str]) -> int:
    """Find all ceilings; returns the exit code."""
    given = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    codes = []
    try:
        with ExitStack() as stack:
            needs_server = any(SETUPS[name].is_on_postgres for name in given.on)
            server = stack.enter_context(postgres_server({})) if needs_server else None
            for name in given.on:
                print(f"\n{name}", flush=True)
                result = climbed(given, name, server if SETUPS[name].is_on_postgres else None)
                write_results(result, Path(given.results) / name)
                print(to_text(result), flush=True)
                codes.append(FINE if result.passed else BROKEN)
    except RuntimeError as fault:
        print(f"ceiling: {fault}", file=sys.stderr)
        return NOT_RUN
    return max(codes)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ceiling", description=__doc__)
    parser.add_argument("--on", nargs="+", choices=SETUPS, default=list(SETUPS), help="what is put under load (all)")
    parser.add_argument("--seconds", type=int, default=15, help="how long each step is measured (15)")
    parser.add_argument("--first", type=int, default=25, metavar="TABLES", help="tables of the first step (25)")
    parser.add_argument("--mix", default=ALL_GAMES, metavar="GAME[=WEIGHT],...", help=f"what is played ({ALL_GAMES})")
    parser.add_argument("--seed", type=int, help="fixes players and their decisions; else they are drawn")
    parser.add_argument("--results", default=f"results/{time.strftime('%Y%m%d-%H%M%S')}-ceiling", metavar="FOLDER")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
