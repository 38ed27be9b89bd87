"""Real processes, real load, real faults, and everything judged."""

import argparse
import asyncio
import json
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
from loadtest.faults.deployment import CHILD, deployed
from loadtest.faults.report import lines_of, result_of
from loadtest.faults.run import Plan, Run, Tally
from loadtest.faults.scenarios import GATEWAY, POSTGRES, SHORT_GATEWAY, SHORT_POSTGRES, SHORT_SQLITE, SQLITE, Scenario

REPLICAS, SHORT_REPLICAS = Replicas(lobby=2, engine=3, scoring=2), Replicas(engine=3)
TABLES, SHORT_TABLES = 100, 16
THINK_SECONDS = 0.3


def read_arguments(given: Sequence[str]) -> argparse.Namespace:
    """What is to be run."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.faults", description=__doc__)
    names = sorted({*SQLITE, *POSTGRES, *GATEWAY})
    parser.add_argument("--scenario", action="append", choices=names, help="only this fault; may be given again")
    parser.add_argument("--times", type=int, default=1, help="how often each named fault comes")
    parser.add_argument("--on", choices=("sqlite", "postgres", "both"), default="both", help="the database")
    parser.add_argument("--gateway", action="store_true", help="all players connect to the gateway, which fails too")
    parser.add_argument("--seed", type=int, default=None, help="decides tables, players and the order of faults")
    parser.add_argument("--tables", type=int, default=None, help="tables that are played at once; 100, or 16 in short")
    parser.add_argument("--think", type=float, default=THINK_SECONDS, help="seconds that players think, the median")
    parser.add_argument("--short", action="store_true", help="a handful of faults, in a minute or two")
    parser.add_argument("--result", type=Path, default=None, help="a JSON file for the result")
    wanted = parser.parse_args(given)
    if wanted.gateway and not front_door.is_installed():
        parser.error(front_door.MISSING)
    if not wanted.gateway and GATEWAY.keys() & set(wanted.scenario or ()):
        parser.error("faults of the gateway need players who connect to it: add --gateway")
    return wanted


def chosen(known: Mapping[str, Scenario], wanted: argparse.Namespace, short: Sequence[str]) -> list[Scenario]:
    """The faults of one database in their order."""
    if wanted.gateway:
        known = {**known, **GATEWAY}
    if wanted.scenario:
        return [known[name] for name in wanted.scenario for _ in range(wanted.times) if name in known]
    if wanted.short:
        return [known[name] for name in short]
    faults = [scenario for scenario in known.values() for _ in range(scenario.times)]
    Random(wanted.seed).shuffle(faults)
    return faults


def short_faults_at_gateway(wanted: argparse.Namespace) -> list[Scenario]:
    """Those at the end of a short run that are made with players at the gateway, where Envoy is installed."""
    if not wanted.short or wanted.scenario:
        return []
    if not front_door.is_installed():
        _say(f"faults at the gateway are left out: {front_door.MISSING}")
        return []
    return [{**POSTGRES, **GATEWAY}[name] for name in SHORT_GATEWAY]


async def faults(wanted: argparse.Namespace, plan: Plan, child: str) -> Tally:
    """Make the run."""
    tally = Tally()
    folder = Path(tempfile.mkdtemp(prefix="croupier-faults-"))
    sqlite = chosen(SQLITE, wanted, SHORT_SQLITE) if wanted.on != "postgres" else []
    postgres = chosen(POSTGRES, wanted, SHORT_POSTGRES) if wanted.on != "sqlite" else []
    try:
        if sqlite:
            _say("one engine on SQLite")
            async with deployed(folder / "sqlite", None, with_gateway=plan.gateway, child=child) as deployment:
                await Run(deployment, plan, tally, _say).go(sqlite)
        if postgres:
            await _on_postgres(wanted, plan, folder / "postgres", postgres, tally, child)
    finally:
        _remove(folder, tally)
    return tally


async def _on_postgres(
    wanted: argparse.Namespace, plan: Plan, folder: Path, scenarios: list[Scenario], tally: Tally, child: str
) -> None:
    _say("three engines on PostgreSQL")
    replicas = SHORT_REPLICAS if plan.short else REPLICAS
    at_gateway = short_faults_at_gateway(wanted)
    async with deployed(folder, replicas, with_gateway=plan.gateway or bool(at_gateway), child=child) as deployment:
        await Run(deployment, plan, tally, _say).go(scenarios)
        if at_gateway:
            _say("the same with players at the gateway")
            await Run(deployment, replace(plan, gateway=True), tally, _say).go(at_gateway)


def _remove(folder: Path, tally: Tally) -> None:
    """Remove what the services wrote, unless the run found something."""
    if tally.violations or tally.defects or sys.exc_info()[0] is not None:
        _say(f"logs and data are kept in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)


def _say(line: str) -> None:
    print(line, flush=True)


def main(given: Sequence[str], child: str = CHILD) -> int:
    """Run, report, and return 1 if anything is wrong; `child` is the module that runs a service."""
    wanted = read_arguments(given)
    command = " ".join(["python -m loadtest.faults", *given])
    if wanted.seed is None:
        wanted.seed = secrets.randbelow(1_000_000)
        command += f" --seed {wanted.seed}"
    _say(f"seed {wanted.seed}; again: {command}")
    tables = wanted.tables or (SHORT_TABLES if wanted.short else TABLES)
    plan = Plan(wanted.seed, tables, wanted.think, wanted.short, wanted.gateway)

    tally = asyncio.run(faults(wanted, plan, child))
    result = result_of(tally, plan, command)
    _say("\n".join(lines_of(result)))
    if wanted.result:
        wanted.result.write_text(json.dumps(result, indent=1) + "\n")
    return 1 if result["problems"] else 0
