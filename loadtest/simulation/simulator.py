"""Runs worlds, one seed after the other, each the same whenever it is run."""

import asyncio
import gc
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO
from unittest.mock import patch

from croupier.engine import caretaker, streams
from croupier.engine.schema import METADATA as ENGINE_METADATA
from croupier.lobby.schema import METADATA as LOBBY_METADATA
from croupier.scoring.schema import METADATA as SCORING_METADATA
from loadtest.judge.standings import standings_broken
from loadtest.judge.verdict import Verdict, judge
from loadtest.judge.violations import Invariant, Violation
from loadtest.record import StoredEntry, TableRecord
from loadtest.simulation.database import Schema
from loadtest.simulation.engine_replica import EngineReplica
from loadtest.simulation.loop import Stuck, VirtualLoop
from loadtest.simulation.trace import Trace
from loadtest.simulation.world import World

HEARTBEAT_SECONDS = 4.0
"""Shorter than in production, so that memory is tidied within the few seconds of a run."""
ARCHIVE_SECONDS = 3.0
CLEAN_UP_SECONDS = 5.0
MAX_ROUNDS = 20
BY_TIMEOUT = 1
MAX_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run went."""

    seed: int
    scenario: str
    digest: str
    violations: tuple[Violation, ...]
    virtual_seconds: float
    numbers: Counter[str]
    faults: Counter[str]

    def line(self) -> str:
        """The run in a line."""
        numbers = " ".join(f"{name}={count}" for name, count in sorted(self.numbers.items()))
        faults = ", ".join(f"{count} {name}" for name, count in sorted(self.faults.items())) or "none"
        return f"seed {self.seed} {self.digest} {numbers} {self.virtual_seconds:.0f}s; faults: {faults}"

    def report(self) -> str:
        """What is wrong, and the command that repeats it; empty if nothing is."""
        if not self.violations:
            return ""
        shown = [
            f"BROKEN: {found.invariant} at {found.table_id or 'no table'} entry {found.sequence}: {found.detail[:1000]}"
            for found in self.violations[:MAX_SHOWN]
        ]
        more = [f"and {len(self.violations) - MAX_SHOWN} more"] if len(self.violations) > MAX_SHOWN else []
        scenario = f" --scenario {self.scenario}" if self.scenario else ""
        command = f".venv/bin/python -m loadtest.simulation --seed {self.seed}{scenario} --trace trace.txt"
        return "\n".join([*shown, *more, f"repeat with: {command}"])


class Simulator:
    """Holds what all runs share: empty databases, and SQLAlchemy's memory of statements."""

    def __init__(self) -> None:
        metadata = {"engine": ENGINE_METADATA, "lobby": LOBBY_METADATA, "scoring": SCORING_METADATA}
        self._schemas = {kind: Schema(each) for kind, each in metadata.items()}
        gc.collect()
        gc.freeze()

    def run(self, seed: int, file: TextIO | None = None, scenario: str = "") -> Outcome:
        """Run the world of a seed, of any scenario unless one is named, to its end, and judge its tables."""
        loop = VirtualLoop()
        trace = Trace(loop.time, file)
        with _settled(loop):
            world = World(seed, loop, trace, self._schemas, scenario)
            with (
                patch.object(streams, "LONGEST_QUEUE_MESSAGES", world.plan.queue_messages),
                patch.object(caretaker, "HEARTBEAT_SECONDS", HEARTBEAT_SECONDS),
                patch.object(caretaker, "ARCHIVE_SECONDS", ARCHIVE_SECONDS),
            ):
                loop.call_soon(world.start)
                try:
                    loop.run_forever()
                except Stuck as stuck:
                    world.findings.add(Invariant.TABLE_STUCK, str(stuck))
                trace.is_open = False
                virtual_seconds, records = loop.time(), world.records()
                numbers = _numbers(world, records)
                _clean_up(loop, world)
        verdicts = [judge(record) for record in records]
        numbers["proved"] = sum(verdict.is_proved for verdict in verdicts)
        violations = [*world.findings.violations, *_violations(world, verdicts)]
        return Outcome(seed, scenario, trace.digest, tuple(violations), virtual_seconds, numbers, world.faults.counts)


def _violations(world: World, verdicts: Sequence[Verdict]) -> Iterator[Violation]:
    for verdict in verdicts:
        yield from verdict.violations
    outcomes = [verdict.outcome for verdict in verdicts if verdict.outcome is not None]
    if len(outcomes) == len(verdicts):
        yield from standings_broken(outcomes, world.boards, world.statistics)


def _numbers(world: World, records: Sequence[TableRecord]) -> Counter[str]:
    bodies = [json.loads(entry.body) for record in records for entry in _entries(record)]
    answers = [answer for record in records for viewer in record.viewers for answer in viewer.answered]
    return Counter(
        tables=len(records),
        entries=len(bodies),
        acknowledged=sum(answer.sequence is not None for answer in answers),
        resumes=world.observer.resumes,
        restarts=sum(replica.lives - 1 for replica in world.replicas),
        races_lost=sum(replica.races_lost for replica in world.replicas if isinstance(replica, EngineReplica)),
        timeouts=sum(body.get("by") == BY_TIMEOUT for body in bodies),
        archived=len(world.observer.archived),
        credits=sum("credited" in body for body in bodies),
    )


def _entries(record: TableRecord) -> Sequence[StoredEntry]:
    return record.stored.entries if record.stored is not None else ()


def _clean_up(loop: VirtualLoop, world: World) -> None:
    """Let everything end that the run left, so that nothing is collected in the middle of its work."""
    for replica in world.replicas:
        loop.create_task(replica.close())
    _run_on(loop)
    for _ in range(MAX_ROUNDS):
        tasks = [task for task in asyncio.all_tasks(loop) if not task.done()]
        if not tasks:
            break
        for process in loop.processes:
            loop.run_again(process.thaw())
        for task in tasks:
            task.cancel()
        _run_on(loop)
    if world.run is not None and world.run.done() and not world.run.cancelled():
        world.run.result()  # Raises what the simulation itself did wrong.
    for database in world.databases.values():
        database.close()


def _run_on(loop: VirtualLoop) -> None:
    loop.call_later(CLEAN_UP_SECONDS, loop.stop)
    loop.run_forever()


@contextmanager
def _settled(loop: VirtualLoop) -> Iterator[None]:
    """Collecting garbage at times of its own would close generators at times that no seed decides."""
    gc.collect()
    gc.disable()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        asyncio.set_event_loop(None)
        loop.close()
        gc.enable()
