"""Fault runs: real processes under load, with real faults, and every table judged."""

import argparse
import asyncio
import json
import secrets
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from typing import Any

from croupier.cli.launcher import gateway
from croupier.cli.launcher.replicas import Replicas
from croupier_client.sockets import GRPC, TRANSPORTS
from croupier_loadtest import postgres
from croupier_loadtest.faults import scenarios
from croupier_loadtest.faults.deployment import CHILD, deployed
from croupier_loadtest.faults.load import FaultRunPlan
from croupier_loadtest.faults.measures import Steps, percentile
from croupier_loadtest.faults.run import MAX_TAKEOVER_SECONDS, FaultRun, RunTotals
from croupier_loadtest.faults.scenarios import GATEWAY, POSTGRES, SQLITE, FaultScenario
from croupier_loadtest.installed import chosen_games
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.measures import RULES_NOT_JUDGED

MAX_PRINTED = 20
LOST = (Invariant.ACKNOWLEDGED_LOST, Invariant.TABLE_LOST)
NAMED = (*LOST, Invariant.ACTION_DUPLICATED, Invariant.HIDDEN_CARD_SEEN)
REPLICAS, SHORT_REPLICAS = Replicas(lobby=2, engine=3, scoring=2), Replicas(engine=3)
TABLES, SHORT_TABLES = 100, 16
THINK_SECONDS = 0.3


def result_of(totals: RunTotals, plan: FaultRunPlan, command: str) -> Mapping[str, Any]:
    """Return the report as a dictionary for JSON; a clean run has no problems."""
    problems = [*map(str, totals.violations.values()), *totals.defects]
    problems += [f"{RULES_NOT_JUDGED}{game}" for game in sorted(totals.unjudged)]
    seconds = [takeover.seconds for takeover in totals.takeovers]
    if not plan.short and percentile(seconds, 0.99) >= MAX_TAKEOVER_SECONDS:
        limit = f"99 of 100 must take less than {MAX_TAKEOVER_SECONDS:g} s"
        problems.append(f"takeovers take up to {max(seconds):.2f} s: {limit}")
    steps = [takeover.steps for takeover in totals.takeovers if takeover.steps is not None]
    return {
        "seed": plan.seed,
        "command": command,
        "transport": plan.transport,
        "tables": totals.tables,
        "finished_tables": totals.finished,
        "verified_tables": totals.verified,
        "acknowledged_moves": totals.acknowledged,
        "seconds": round(totals.seconds, 1),
        "faults": [asdict(fault) for fault in totals.faults],
        "violations": Counter(one.invariant.value for one in totals.violations.values()),
        "problems": problems[:MAX_PRINTED],
        "takeover_seconds": {"tables": len(totals.takeovers), **_percentiles(seconds)},
        "takeover_steps": {name: _percentiles([getattr(one, name) for one in steps]) for name in Steps._fields},
    }


def _percentiles(seconds: Sequence[float]) -> Mapping[str, float]:
    return {"median": round(percentile(seconds, 0.5), 3), "p99": round(percentile(seconds, 0.99), 3)}


def format_result(result: Mapping[str, Any]) -> Iterator[str]:
    """Yield the report as lines of text."""
    broken, faults, takeover = result["violations"], result["faults"], result["takeover_seconds"]
    tables = f"{result['tables']}, {result['finished_tables']} played to the end, {result['verified_tables']} of them"
    yield ""
    yield f"tables               {tables} verified"
    yield f"acknowledged moves   {result['acknowledged_moves']} in {result['seconds']:.0f} s"
    yield f"faults               {len(faults)}"
    yield f"lost                 {sum(broken[name] for name in LOST)}"
    yield f"duplicated           {broken[Invariant.ACTION_DUPLICATED]}"
    yield f"hidden cards shown   {broken[Invariant.HIDDEN_CARD_SEEN]}"
    yield f"other violations     {sum(count for name, count in broken.items() if name not in NAMED)}"
    if faults:
        slowest = max(faults, key=lambda fault: fault["pause_seconds"])
        yield f"longest pause        {slowest['pause_seconds']:.1f} s ({slowest['name']})"
    if quiet := [fault["pause_seconds"] for fault in faults if fault["name"] == "rolling_restart"]:
        yield f"rolling restarts     longest pause {max(quiet):.2f} s"
    if takeover["tables"]:
        times = f"median {takeover['median']:.2f} s, 99 % within {takeover['p99']:.2f} s"
        yield f"takeover             {takeover['tables']} tables, {times}"
        for step, times_of_step in result["takeover_steps"].items():
            yield f"  {step:18} median {times_of_step['median']:.2f} s, 99 % within {times_of_step['p99']:.2f} s"
    yield from (f"  {problem}" for problem in result["problems"])
    yield f"seed                 {result['seed']}; again: {result['command']}"


def read_arguments(given: Sequence[str]) -> argparse.Namespace:
    """Return the options of a fault run."""
    parser = argparse.ArgumentParser(prog="python -m croupier_loadtest.faults", description=__doc__)
    names = sorted({*SQLITE, *POSTGRES, *GATEWAY})
    parser.add_argument("--scenario", action="append", choices=names, help="only this fault; may be given again")
    parser.add_argument("--times", type=int, default=1, help="how often each named fault is injected")
    parser.add_argument("--on", choices=("sqlite", "postgres", "both"), default="both", help="the database")
    parser.add_argument("--gateway", action="store_true", help="players connect to the gateway, which has faults too")
    parser.add_argument("--transport", choices=TRANSPORTS, default=GRPC, help="the transport of players' tables")
    parser.add_argument("--seed", type=int, default=None, help="the seed of tables, players and the order of faults")
    parser.add_argument("--tables", type=int, default=None, help="the number of concurrent tables (100, or 16)")
    parser.add_argument("--mix", default="", metavar="GAME[=WEIGHT],...", help="the games by weight (all installed)")
    parser.add_argument("--think", type=float, default=THINK_SECONDS, help="the median of think times in seconds")
    parser.add_argument("--short", action="store_true", help="few faults, in one or two minutes")
    parser.add_argument("--result", type=Path, default=None, help="a JSON file for the result")
    options = parser.parse_args(given)
    try:
        options.games = chosen_games(options.mix)
    except ValueError as fault:
        parser.error(str(fault))
    if options.gateway and not gateway.is_installed():
        parser.error(gateway.MISSING)
    if options.on != "sqlite" and not postgres.is_installed():
        parser.error(f"{postgres.MISSING}; --on sqlite does without")
    if not options.gateway and GATEWAY.keys() & set(options.scenario or ()):
        parser.error("faults of the gateway need players who connect to it: add --gateway")
    return options


def chosen_faults(
    known: Mapping[str, FaultScenario], options: argparse.Namespace, short: Sequence[str]
) -> list[FaultScenario]:
    """Return the faults of one database in order."""
    if options.gateway:
        known = {**known, **GATEWAY}
    if options.scenario:
        return [known[name] for name in options.scenario for _ in range(options.times) if name in known]
    if options.short:
        return [known[name] for name in short]
    faults = [scenario for scenario in known.values() for _ in range(scenario.times)]
    Random(options.seed).shuffle(faults)
    return faults


def gateway_faults(options: argparse.Namespace) -> list[FaultScenario]:
    """Return the last faults of a short run, which have players at the gateway, where Envoy is installed."""
    if not options.short or options.scenario:
        return []
    if not gateway.is_installed():
        _print(f"faults at the gateway are skipped: {gateway.MISSING}")
        return []
    return [{**POSTGRES, **GATEWAY}[name] for name in scenarios.SHORT_GATEWAY]


async def run_faults(options: argparse.Namespace, plan: FaultRunPlan, child: str) -> RunTotals:
    """Run all faults."""
    totals = RunTotals()
    folder = Path(tempfile.mkdtemp(prefix="croupier-faults-"))
    on_sqlite = chosen_faults(SQLITE, options, scenarios.SHORT_SQLITE) if options.on != "postgres" else []
    on_postgres = chosen_faults(POSTGRES, options, scenarios.SHORT_POSTGRES) if options.on != "sqlite" else []
    try:
        if on_sqlite:
            _print("one engine on SQLite")
            async with deployed(folder / "sqlite", None, with_gateway=plan.gateway, child=child) as deployment:
                await FaultRun(deployment, plan, totals, _print).run(on_sqlite)
        if on_postgres:
            _print("three engines on PostgreSQL")
            replicas, at_gateway = SHORT_REPLICAS if plan.short else REPLICAS, gateway_faults(options)
            with_gateway = plan.gateway or bool(at_gateway)
            async with deployed(folder / "postgres", replicas, with_gateway=with_gateway, child=child) as deployment:
                await FaultRun(deployment, plan, totals, _print).run(on_postgres)
                if at_gateway:
                    _print("players at the gateway")
                    await FaultRun(deployment, replace(plan, gateway=True), totals, _print).run(at_gateway)
    finally:
        if totals.violations or totals.defects or sys.exc_info()[0] is not None:
            _print(f"logs and data are kept in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return totals


def _print(line: str) -> None:
    print(line, flush=True)


def main(given: Sequence[str], child: str = CHILD) -> int:
    """Run, report, and return 1 if there is a problem; `child` is the module that runs a service."""
    options = read_arguments(given)
    command = " ".join(["python -m croupier_loadtest.faults", *given])
    if options.seed is None:
        options.seed = secrets.randbelow(1_000_000)
        command += f" --seed {options.seed}"
    _print(f"seed {options.seed}; again: {command}")
    tables = options.tables or (SHORT_TABLES if options.short else TABLES)
    plan = FaultRunPlan(
        options.seed, tables, options.think, options.short, options.games, options.gateway, options.transport
    )

    totals = asyncio.run(run_faults(options, plan, child))
    result = result_of(totals, plan, command)
    _print("\n".join(format_result(result)))
    if options.result:
        options.result.write_text(json.dumps(result, indent=1) + "\n")
    return 1 if result["problems"] else 0
