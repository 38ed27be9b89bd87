"""Real processes, real load, real faults, and the audit after each."""

import argparse
import asyncio
import secrets
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from croupier.cli import front_door
from croupier.cli.replicas import Replicas
from loadtest.faults.auditor import Auditor
from loadtest.faults.house import cluster, laptop
from loadtest.faults.report import faults_of, text_of, write_json
from loadtest.faults.run import Plan, Run, Tally
from loadtest.faults.scenarios import DOOR, POSTGRES, SHORT_DOOR, SHORT_POSTGRES, SHORT_SQLITE, SQLITE, Scenario

REPLICAS, SHORT_REPLICAS = Replicas(lobby=2, engine=3, scoring=2), Replicas(engine=3)
TABLES, SHORT_TABLES = 100, 24
THINK_SECONDS = 0.4


def read_arguments(given: Sequence[str]) -> argparse.Namespace:
    """What is to be run."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.faults", description=__doc__)
    names = sorted({*SQLITE, *POSTGRES, *DOOR})
    parser.add_argument("--scenario", action="append", choices=names, help="only this fault; may be given again")
    parser.add_argument("--times", type=int, default=1, help="how often each fault that is named comes")
    parser.add_argument("--on", choices=("sqlite", "postgres", "both"), default="both", help="the database")
    parser.add_argument("--door", action="store_true", help="all players come through the front door, which has faults")
    parser.add_argument("--seed", type=int, default=None, help="decides tables, players and the order of faults")
    parser.add_argument("--tables", type=int, default=None, help="tables that are played at once; 100, or 24 in short")
    parser.add_argument("--moves", type=int, default=None, help="kill engines until so many moves are acknowledged")
    parser.add_argument("--think", type=float, default=THINK_SECONDS, help="seconds that players think on average")
    parser.add_argument("--short", action="store_true", help="a handful of faults, in about a minute")
    parser.add_argument("--result", type=Path, default=None, help="a JSON file for the result")
    wanted = parser.parse_args(given)
    if wanted.door and not front_door.is_installed():
        parser.error(front_door.MISSING)
    if not wanted.door and DOOR.keys() & set(wanted.scenario or ()):
        parser.error("faults of the front door are for players who come through it: give --door too")
    return wanted


def chosen(
    on_database: Mapping[str, Scenario], wanted: argparse.Namespace, short: Sequence[str], seed: int
) -> list[Scenario]:
    """The faults of one database in their order."""
    known = {**on_database, **(DOOR if wanted.door else {})}
    if wanted.scenario:
        return [known[name] for name in wanted.scenario for _ in range(wanted.times) if name in known]
    if wanted.short:
        return [known[name] for name in short]
    faults = [scenario for scenario in known.values() for _ in range(scenario.times)]
    Random(seed).shuffle(faults)
    return faults


def short_faults_at_door(wanted: argparse.Namespace) -> list[Scenario]:
    """The few that are made with players at the front door at the end of a short run, where there is an Envoy."""
    if not wanted.short or wanted.scenario:
        return []
    if not front_door.is_installed():
        _say(f"faults at the front door are left out: {front_door.MISSING}")
        return []
    return [{**POSTGRES, **DOOR}[name] for name in SHORT_DOOR]


async def faults(wanted: argparse.Namespace, plan: Plan) -> Tally:
    """Make the run."""
    tally = Tally()
    on_sqlite = chosen(SQLITE, wanted, SHORT_SQLITE, plan.seed) if wanted.on != "postgres" else []
    on_postgres = chosen(POSTGRES, wanted, SHORT_POSTGRES, plan.seed) if wanted.on != "sqlite" else []
    at_door = short_faults_at_door(wanted) if on_postgres else []
    folder = Path(tempfile.mkdtemp(prefix="croupier-faults-"))
    try:
        if on_sqlite:
            print("one engine on SQLite", flush=True)
            async with laptop(folder / "laptop", with_door=plan.door) as house:
                with Auditor(house.databases) as auditor:
                    await Run(house, auditor, plan, tally, _say).go(on_sqlite, 0)
        if on_postgres:
            print("three engines on PostgreSQL", flush=True)
            replicas = SHORT_REPLICAS if plan.short else REPLICAS
            async with cluster(folder / "cluster", replicas, with_door=plan.door or bool(at_door)) as house:
                with Auditor(house.databases) as auditor:
                    moves = plan.moves - tally.acknowledged
                    await Run(house, auditor, plan, tally, _say).go(on_postgres, moves)
                    if at_door:
                        print("the same through the front door", flush=True)
                        await Run(house, auditor, replace(plan, door=True), tally, _say).go(at_door, 0)
    finally:
        _leave(folder, tally)
    return tally


def _leave(folder: Path, tally: Tally) -> None:
    """Remove what the services wrote, unless somebody has to look for a fault in it."""
    if tally.findings or sys.exc_info()[0] is not None:
        _say(f"logs and data are kept in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)


def _say(line: str) -> None:
    print(line, flush=True)


def main(given: Sequence[str]) -> int:
    """Run, report, and give 1 if anything is wrong."""
    wanted = read_arguments(given)
    seed = secrets.randbelow(1_000_000) if wanted.seed is None else wanted.seed
    command = " ".join(["python -m loadtest.faults", *_without_seed(given), f"--seed {seed}"])
    print(f"seed {seed}; again: {command}", flush=True)
    tables = wanted.tables or (SHORT_TABLES if wanted.short else TABLES)
    moves = wanted.moves or (0 if wanted.short or wanted.scenario else 100_000)
    plan = Plan(seed, tables, moves, wanted.think, wanted.short, wanted.door)

    tally = asyncio.run(faults(wanted, plan))
    print(text_of(tally, plan, command), flush=True)
    if wanted.result:
        write_json(tally, plan, command, wanted.result)
    return 1 if faults_of(tally, plan) else 0


def _without_seed(given: Sequence[str]) -> list[str]:
    words = list(given)
    if "--seed" in words:
        at = words.index("--seed")
        del words[at : at + 2]
    return [word for word in words if not word.startswith("--seed=")]
