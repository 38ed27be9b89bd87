"""`python -m croupier_loadtest.process`: plays the users that its parent starts, and reports measurements every second.

Commands are lines of JSON on standard input, the first one has the settings; reports are lines of JSON on standard
output.
"""

import asyncio
import json
import os
import signal
import sys
import time
from contextlib import nullcontext, suppress
from random import Random
from typing import TYPE_CHECKING, Any, NoReturn

from croupier.runtime.server.child_process import end_with_parent
from croupier_client import CroupierError
from croupier_loadtest.measures import Measures
from croupier_loadtest.players.browser import BrowserMissing, started_browser
from croupier_loadtest.players.client import Connections, new_clients
from croupier_loadtest.players.user_context import LoadSettings
from croupier_loadtest.process.judge_queue import JudgeQueue
from croupier_loadtest.process.load import Load
from croupier_loadtest.process.standings import READERS, UnfitServices, compare_standings, offered_games
from croupier_loadtest.scenarios import UserKind
from croupier_loadtest.tuning import tune_garbage_collection

if TYPE_CHECKING:
    from playwright.async_api import Browser

REPORT_SECONDS = 1.0
MAX_LINE_BYTES = 256_000_000
"""One line has the outcomes of all tables of a run."""
STANDARD_OUTPUT = 1


def main() -> NoReturn:
    """Play until the parent ends the run, or has ended itself."""
    tune_garbage_collection()
    from uvloop import new_event_loop

    # The run ends with the commands; the parent kills a process that takes longer than the grace period.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    end_with_parent()
    runner = asyncio.Runner(loop_factory=new_event_loop)
    runner.run(_run())
    # Everything has been reported; a stream that still hangs does not matter.
    os._exit(0)


async def _run() -> None:
    commands = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    settings = LoadSettings.from_json(json.loads(await commands.readline()))
    try:
        async with started_browser() if settings.has_pages else nullcontext() as browser:
            await _play(settings, browser, commands)
    except BrowserMissing as fault:
        _send({"fault": str(fault)})


async def _play(settings: LoadSettings, browser: "Browser | None", commands: asyncio.StreamReader) -> None:
    measures = Measures()
    connections = Connections(settings.endpoints, settings.connections, settings.transport)
    judge_queue = JudgeQueue(measures, settings.scenario.judged_share, Random(f"{settings.seed} judging"))
    new_client = new_clients(connections, settings.seed, has_one_network=settings.scenario.has_one_network)
    load = Load(settings, new_client, judge_queue.add, measures, browser)
    try:
        await LoadProgram(load, judge_queue).run(commands)
    finally:
        judge_queue.close()
        await connections.close()


class LoadProgram:
    """Executes the commands of the parent."""

    def __init__(self, load: Load, judge_queue: JudgeQueue) -> None:
        self._load = load
        self._judge_queue = judge_queue
        self._cpu = (time.process_time(), time.monotonic())

    async def run(self, commands: asyncio.StreamReader) -> None:
        """Execute commands until the parent closes them."""
        client = self._load.new_context().guest("check")
        try:
            self._load.begin(await offered_games(client, self._load.settings.games))
        except UnfitServices as fault:
            _send({"fault": str(fault)})
            return
        _send({"ready": True})
        storms = self._load.break_connections_periodically()
        background = [asyncio.create_task(work) for work in (self._report_periodically(), storms)]
        try:
            while line := await commands.readline():
                await self._execute(json.loads(line))
        finally:
            for task in background:
                task.cancel()

    async def _execute(self, command: dict[str, Any]) -> None:
        match command["command"]:
            case "start":
                self._load.start(command["name"], UserKind(command["kind"]))
            case "stop":
                self._load.stop(command["name"])
            case "drain":
                seconds = await self._load.drain(self._load.settings.scenario.grace_seconds)
                await self._judge_queue.finish(seconds)
                self._report(drained=True)
            case "compare":
                await self._compare_standings(command["tables"], has_strangers=command["has_strangers"])
                self._report(compared=True)

    async def _compare_standings(self, tables: list[dict[str, Any]], *, has_strangers: bool) -> None:
        context = self._load.new_context()
        try:
            readers = [context.guest(f"check {number}") for number in range(READERS)]
            described = self._load.tables.described
            found = await compare_standings(readers, tables, described, has_strangers=has_strangers)
            self._load.measures.record_violations(found)
        except CroupierError as error:
            self._load.measures.record_failure("load test: reading standings", str(error))

    async def _report_periodically(self) -> None:
        while True:
            await asyncio.sleep(REPORT_SECONDS)
            self._report()

    def _report(self, **more: bool) -> None:
        before, self._cpu = self._cpu, (time.process_time(), time.monotonic())
        cpu = (self._cpu[0] - before[0]) / max(self._cpu[1] - before[1], 1e-3)
        load = self._load
        gauges = {"users": load.users, "tables": len(load.tables), "waiting": self._judge_queue.waiting, "cpu": cpu}
        _send({"batch": load.measures.take(), "gauges": gauges, **more})


def _send(message: dict[str, Any]) -> None:
    # The parent always reads; its end closes the commands.
    with suppress(BrokenPipeError):
        os.write(STANDARD_OUTPUT, json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main()
