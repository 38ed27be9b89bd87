"""Runs worlds, one seed after the other, each the same whenever it is run."""

import asyncio
import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

from croupier.engine import caretaker, streams
from croupier.engine.log import ActedBy
from croupier.engine.schema import METADATA as ENGINE_METADATA
from croupier.lobby.schema import METADATA as LOBBY_METADATA
from croupier.scoring.schema import METADATA as SCORING_METADATA
from loadtest.simulation.database import Schema
from loadtest.simulation.engine_replica import EngineReplica
from loadtest.simulation.loop import Stuck, VirtualLoop
from loadtest.simulation.trace import Trace
from loadtest.simulation.verdict import Violation
from loadtest.simulation.world import World

HEARTBEAT_SECONDS = 4.0
"""Shorter than in production, so that memory is tidied within the few seconds of a run."""
ARCHIVE_SECONDS = 3.0
COMMAND = ".venv/bin/python -m loadtest.simulation --seed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run went."""

    seed: int
    digest: str
    violation: Violation | None
    virtual_seconds: float
    numbers: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    recent: tuple[str, ...] = ()

    def line(self) -> str:
        """The run in a line."""
        numbers = " ".join(f"{name}={count}" for name, count in sorted(self.numbers.items()))
        faults = ", ".join(f"{count} {name}" for name, count in sorted(self.faults.items())) or "none"
        return f"seed {self.seed} {self.digest} {numbers} {self.virtual_seconds:.0f}s; faults: {faults}"


class Simulator:
    """Holds what all runs share: empty databases, and SQLAlchemy's memory of statements."""

    def __init__(self) -> None:
        metadata = {"engine": ENGINE_METADATA, "lobby": LOBBY_METADATA, "scoring": SCORING_METADATA}
        self._schemas = {kind: Schema(each) for kind, each in metadata.items()}
        gc.collect()
        gc.freeze()

    def run(self, seed: int, file: TextIO | None = None, scenario: str = "") -> Outcome:
        """Run the world of a seed, of any scenario unless one is named, to its end or until an invariant breaks."""
        loop = VirtualLoop()
        trace = Trace(loop.time, file)
        with _settled(loop):
            world = World(seed, loop, trace, self._schemas, scenario)
            with (
                _changed(streams, "LONGEST_QUEUE_MESSAGES", world.plan.queue_messages),
                _changed(caretaker, "HEARTBEAT_SECONDS", HEARTBEAT_SECONDS),
                _changed(caretaker, "ARCHIVE_SECONDS", ARCHIVE_SECONDS),
            ):
                loop.call_soon(world.start)
                try:
                    loop.run_forever()
                except Stuck as stuck:
                    world.verdict.fail("something is always left to do", str(stuck))
                trace.is_open = False
                virtual_seconds = loop.time()
                _clean_up(loop, world)
                for database in world.databases.values():
                    database.close()
        return Outcome(
            seed,
            trace.digest,
            world.verdict.violation,
            virtual_seconds,
            _numbers(world),
            world.faults.counts,
            tuple(trace.recent),
        )


def _numbers(world: World) -> Counter[str]:
    records = world.referee.tables.values()
    return Counter(
        tables=len(records),
        entries=sum(len(record.entries) for record in records),
        acknowledged=world.referee.acknowledged,
        resumes=world.referee.resumes,
        restarts=sum(replica.lives - 1 for replica in world.replicas),
        races_lost=sum(replica.races_lost for replica in world.replicas if isinstance(replica, EngineReplica)),
        played_for=sum(entry.acted_by is ActedBy.TIMEOUT for record in records for entry in record.entries),
        archived=world.referee.archived,
        credits=sum(record.stopwatch.credited_milliseconds > 0 for record in records),
    )


def _clean_up(loop: VirtualLoop, world: World) -> None:
    """Let everything end that the run left, so that nothing is collected in the middle of its work."""
    for replica in world.replicas:
        replica.let_go()
    for _ in range(20):
        tasks = [task for task in asyncio.all_tasks(loop) if not task.done()]
        if not tasks:
            break
        for process in loop.processes:
            loop.run_again(process.thaw())
        for task in tasks:
            task.cancel()
        loop.call_later(5.0, loop.stop)
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


@contextmanager
def _changed(module: object, name: str, value: object) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)
