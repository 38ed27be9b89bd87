"""`python -m loadtest.process`: plays the users that its parent starts, and reports what it measures every second.

Orders come as lines of JSON on standard input, first the plan; reports go as lines of JSON to standard output.
"""

import asyncio
import gc
import json
import os
import sys
import time
from contextlib import suppress
from random import Random
from typing import Any, NoReturn

from croupier_client import CroupierError
from loadtest.measures import Measures
from loadtest.orphans import end_with_parent
from loadtest.players.client import Connections, new_clients
from loadtest.process.check import backend_fault
from loadtest.process.judging import Judging
from loadtest.process.load import Load
from loadtest.process.plan import JUDGING_SECONDS, Plan
from loadtest.process.standings import standings_of
from loadtest.scenarios import Kind

REPORT_SECONDS = 1.0
MAX_LINE_BYTES = 256_000_000
"""The outcomes of all tables of a run are one line."""
STANDARD_OUTPUT = 1


def main() -> NoReturn:
    """Play until the parent ends the run, or is gone."""
    gc.set_threshold(50_000, 20, 100)
    from uvloop import new_event_loop

    end_with_parent()
    runner = asyncio.Runner(loop_factory=new_event_loop)
    runner.run(_run())
    # Everything has been reported. What still hangs, a stream to services that have gone perhaps, does not matter.
    os._exit(0)


async def _run() -> None:
    orders = await _standard_input()
    plan = Plan.from_json(json.loads(await orders.readline()))
    manners, measures = plan.for_all(), Measures()
    connections = Connections(plan.endpoints, plan.connections)
    judging = Judging(measures, manners.scenario.judged_share, Random(f"{plan.seed} judging"))
    new_client = new_clients(connections, plan.seed)
    program = Program(plan, Load(manners, new_client, judging.take, measures), judging)
    try:
        await program.run(orders)
    finally:
        judging.close()
        await connections.close()


class Program:
    """What the process does from its first order to its last."""

    def __init__(self, plan: Plan, load: Load, judging: Judging) -> None:
        self._plan = plan
        self._load = load
        self._judging = judging
        self._cpu = (time.process_time(), time.monotonic())

    async def run(self, orders: asyncio.StreamReader) -> None:
        """Obey until there are no more orders."""
        client = self._load.world().guest("check")
        if fault := await backend_fault(client, self._load.manners.games):
            _say({"fault": fault})
            return
        _say({"ready": True})
        scenario = self._load.manners.scenario
        beside = [
            asyncio.create_task(self._report_often()),
            asyncio.create_task(self._load.storms(scenario.storm_seconds, frozenset(self._plan.ports))),
        ]
        try:
            while line := await orders.readline():
                await self._obey(json.loads(line))
        finally:
            for task in beside:
                task.cancel()

    async def _obey(self, order: dict[str, Any]) -> None:
        match order["do"]:
            case "start":
                self._load.start(order["name"], Kind(order["kind"]))
            case "stop":
                self._load.stop(order["name"])
            case "drain":
                await self._load.drain(self._load.manners.scenario.grace_seconds)
                await self._judging.finish(JUDGING_SECONDS)
                self._report(drained=True)
            case "compare":
                await self._compare(order["tables"])
                self._report(compared=True)

    async def _compare(self, tables: list[dict[str, Any]]) -> None:
        try:
            self._load.measures.broken(await standings_of(self._load.world().guest("check"), tables))
        except CroupierError as error:
            self._load.measures.failed("load test: reading standings", str(error))

    async def _report_often(self) -> None:
        while True:
            await asyncio.sleep(REPORT_SECONDS)
            self._report()

    def _report(self, **more: bool) -> None:
        before, self._cpu = self._cpu, (time.process_time(), time.monotonic())
        cpu = (self._cpu[0] - before[0]) / max(self._cpu[1] - before[1], 1e-3)
        load = self._load
        gauges = {"users": load.users, "tables": len(load.tables), "waiting": self._judging.waiting, "cpu": cpu}
        _say({"batch": load.measures.take(), "gauges": gauges, **more})


async def _standard_input() -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


def _say(message: dict[str, Any]) -> None:
    # The parent reads all the time; one that is gone is noticed at the end of the orders.
    with suppress(BrokenPipeError):
        os.write(STANDARD_OUTPUT, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main()
