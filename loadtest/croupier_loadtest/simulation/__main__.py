"""The command line of the simulation: `python -m croupier_loadtest.simulation --seeds 1000`."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import cache, partial
from pathlib import Path
from typing import TextIO

from croupier_loadtest.judge.rules.registry import judges
from croupier_loadtest.measures import RULES_NOT_JUDGED
from croupier_loadtest.simulation.scenarios import SCENARIOS
from croupier_loadtest.simulation.short_games import chosen_short_games
from croupier_loadtest.simulation.simulator import SeedResult, Simulator


def main(arguments: Sequence[str] | None = None) -> int:
    """Run seeds until one fails; returns the exit code, 1 if one has failed."""
    parser = _parser()
    given = parser.parse_args(arguments)
    games = tuple(given.games.split(",")) if given.games else ()
    try:
        chosen_short_games(games)
        judges()
    except ValueError as fault:
        parser.error(str(fault))
    seeds = [given.seed] if given.seed is not None else list(range(given.first, given.first + given.seeds))
    began = time.perf_counter()
    outcomes: list[SeedResult] = []
    for outcome in _outcomes(seeds, given.jobs, games, given.scenario, given.trace):
        outcomes.append(outcome)
        if not given.quiet:
            print(outcome.line(), flush=True)
        if outcome.violations:
            print(outcome.report(), flush=True)
            if not given.go_on:
                break
    print(summary(outcomes, time.perf_counter() - began))
    return int(any(outcome.violations for outcome in outcomes))


def _outcomes(
    seeds: Sequence[int], jobs: int, games: tuple[str, ...], scenario: str, trace: Path | None
) -> Iterator[SeedResult]:
    if jobs > 1:
        with ProcessPoolExecutor(jobs) as pool:
            yield from pool.map(partial(_run, games, scenario), seeds)
        return
    with trace.open("w") if trace else nullcontext() as file:
        yield from (_run(games, scenario, seed, file) for seed in seeds)


_simulator = cache(Simulator)
"""Returns the simulator of this process for some games."""


def _run(games: tuple[str, ...], scenario: str, seed: int, file: TextIO | None = None) -> SeedResult:
    return _simulator(games).run(seed, file, scenario)


def summary(outcomes: Sequence[SeedResult], seconds: float) -> str:
    """Return the summary of all runs."""
    numbers: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    for outcome in outcomes:
        numbers.update(outcome.numbers)
        faults.update(outcome.faults)
    broken = sum(bool(outcome.violations) for outcome in outcomes)
    virtual = sum(outcome.virtual_seconds for outcome in outcomes)
    unjudged = sorted({game for outcome in outcomes for game in outcome.unjudged})
    return "\n".join(
        (
            f"{len(outcomes)} seeds, {broken} broken, in {seconds:.1f} s: "
            f"{len(outcomes) / seconds:.1f} seeds a second, {virtual / seconds:.0f} seconds a second",
            "numbers: " + ", ".join(f"{count} {name}" for name, count in sorted(numbers.items())),
            f"faults: {faults.total()}: " + ", ".join(f"{count} {name}" for name, count in sorted(faults.items())),
            *([f"{RULES_NOT_JUDGED}{', '.join(unjudged)}"] if unjudged else []),
        )
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m croupier_loadtest.simulation",
        description="Runs the whole system in one thread with virtual time and random faults, once for each seed, and "
        "judges every table. Exit code 1 if there is a violation.",
    )
    parser.add_argument("--seeds", type=int, default=100, help="the number of seeds (100)")
    parser.add_argument("--first", type=int, default=1, help="the first seed (1)")
    parser.add_argument("--seed", type=int, help="run this seed only")
    parser.add_argument("--games", default="", metavar="GAME,...", help="the games that are played (all installed)")
    parser.add_argument("--jobs", type=int, default=1, help="the number of processes (1)")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="write the trace to this file (with one job)")
    parser.add_argument("--scenario", choices=SCENARIOS, default="", help="concentrate on one situation")
    parser.add_argument("--go-on", action="store_true", help="continue after a seed that fails")
    parser.add_argument("--quiet", action="store_true", help="print no line for each seed")
    return parser


if __name__ == "__main__":
    sys.exit(main())
