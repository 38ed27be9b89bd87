"""Runs simulations, one seed after another; a seed always yields the same run."""

import asyncio
import gc
import json
from collections import Counter
from collections.abc import Coroutine, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TextIO

from croupier.engine.api.game_texts import rules_page
from croupier.engine.api.table_codec import encode_game
from croupier.engine.storage.schema import METADATA as ENGINE_METADATA
from croupier.games.registry import installed_games
from croupier.lobby.storage.schema import METADATA as LOBBY_METADATA
from croupier.runtime.translations import ENGLISH
from croupier.scoring.schema import METADATA as SCORING_METADATA
from croupier_api.v1 import engine_pb2
from croupier_loadtest.judge.rules.interface import ABANDONED
from croupier_loadtest.judge.standings import check_standings
from croupier_loadtest.judge.verdict import judge
from croupier_loadtest.judge.violations import Invariant, Violation
from croupier_loadtest.players.described_games import described_game
from croupier_loadtest.record import DescribedGame, TableRecord
from croupier_loadtest.simulation.database import Schema
from croupier_loadtest.simulation.engine_replica import EngineReplica
from croupier_loadtest.simulation.loop import Deadlock, VirtualLoop
from croupier_loadtest.simulation.short_games import chosen_short_games
from croupier_loadtest.simulation.simulation import Simulation
from croupier_loadtest.simulation.trace import Trace

CLEAN_UP_SECONDS = 5.0
MAX_ROUNDS = 20
MAX_SHOWN = 5


@dataclass(frozen=True, slots=True)
class SeedResult:
    """The result of a seed."""

    seed: int
    scenario: str
    games: tuple[str, ...]
    """The games that were chosen; none for all."""
    digest: str
    violations: tuple[Violation, ...]
    virtual_seconds: float
    numbers: Counter[str]
    faults: Counter[str]
    unjudged: frozenset[str]
    """The games whose rules no judge knows."""

    def line(self) -> str:
        """Return the result in one line."""
        numbers = " ".join(f"{name}={count}" for name, count in sorted(self.numbers.items()))
        faults = ", ".join(f"{count} {name}" for name, count in sorted(self.faults.items())) or "none"
        return f"seed {self.seed} {self.digest} {numbers} {self.virtual_seconds:.0f}s; faults: {faults}"

    def report(self) -> str:
        """Return the violations and the command that repeats the run."""
        shown = [
            f"BROKEN: {found.invariant} at {found.table_id or 'no table'} entry {found.sequence}: {found.detail[:1000]}"
            for found in self.violations[:MAX_SHOWN]
        ]
        more = [f"and {len(self.violations) - MAX_SHOWN} more"] if len(self.violations) > MAX_SHOWN else []
        scenario = f" --scenario {self.scenario}" if self.scenario else ""
        chosen = f" --games {','.join(self.games)}" if self.games else ""
        command = f".venv/bin/python -m croupier_loadtest.simulation --seed {self.seed}{scenario}{chosen}"
        return "\n".join([*shown, *more, f"repeat with: {command} --trace trace.txt"])


class Simulator:
    """Holds the empty databases and SQLAlchemy's statement cache that all runs share.

    It plays the installed games of these ids, or all; raises ValueError for an unknown one.
    """

    def __init__(self, games: tuple[str, ...] = ()) -> None:
        self._names, self._games = games, chosen_short_games(games)
        self._described = {game.game: _described(game.game) for game in self._games}
        metadata = {"engine": ENGINE_METADATA, "lobby": LOBBY_METADATA, "scoring": SCORING_METADATA}
        self._schemas = {kind: Schema(each) for kind, each in metadata.items()}
        gc.collect()
        gc.freeze()

    def run(self, seed: int, file: TextIO | None = None, scenario: str = "") -> SeedResult:
        """Run the simulation of a seed to its end, and judge its tables."""
        loop = VirtualLoop()
        trace = Trace(loop.time, file)
        with _without_garbage_collection(loop):
            simulation = Simulation(seed, loop, trace, self._schemas, self._games, scenario)
            loop.call_soon(simulation.start)
            try:
                loop.run_forever()
            except Deadlock as stuck:
                simulation.findings.add(Invariant.TABLE_STUCK, str(stuck))
            trace.is_open = False
            virtual_seconds, records = loop.time(), simulation.records()
            numbers = _numbers(simulation, records)
            _clean_up(loop, simulation)
        for record in records:
            record.described = self._described[record.game]
        verdicts = [judge(record) for record in records]
        numbers["verified"] = sum(verdict.is_verified for verdict in verdicts)
        unjudged = {record.game for record, verdict in zip(records, verdicts, strict=True) if verdict.has_unknown_rules}
        found = (violation for verdict in verdicts for violation in verdict.violations)
        violations = [*simulation.findings.violations, *found]
        outcomes = [verdict.outcome for verdict in verdicts if verdict.outcome is not None]
        if len(outcomes) == len(verdicts):
            violations += check_standings(outcomes, simulation.boards, simulation.statistics, self._described)
        return SeedResult(
            seed,
            scenario,
            self._names,
            trace.digest,
            tuple(violations),
            virtual_seconds,
            numbers,
            simulation.faults.counts,
            frozenset(unjudged),
        )


def _described(game_id: str) -> DescribedGame:
    game = installed_games()[game_id]
    return described_game(encode_game(game), rules_page(game, ENGLISH).markdown)


def _numbers(simulation: Simulation, records: Sequence[TableRecord]) -> Counter[str]:
    stored = [record.stored for record in records if record.stored is not None]
    bodies = [json.loads(entry.body) for table in stored for entry in table.entries]
    away = [body["is_away"] for body in bodies if body["t"] == "away"]
    answers = [answer for record in records for viewer in record.viewers for answer in viewer.answered]
    return Counter(
        tables=len(records),
        entries=len(bodies),
        acknowledged=sum(answer.sequence is not None for answer in answers),
        resumes=simulation.observer.resumes,
        restarts=sum(replica.starts - 1 for replica in simulation.replicas),
        races_lost=sum(replica.races_lost for replica in simulation.replicas if isinstance(replica, EngineReplica)),
        timeouts=sum(body.get("by") == engine_pb2.ACTED_BY_TIMEOUT for body in bodies),
        archived=len(simulation.observer.archived),
        compensations=sum(body["t"] == "compensate" for body in bodies),
        leaves=away.count(True),
        returns=away.count(False),
        rematches=len(simulation.observer.lobby.rematches),
        updates=simulation.observer.lobby.updates,
        lists=simulation.observer.lobby.lists,
        abandoned=sum(body.get("limit") == ABANDONED for body in bodies),
    )


def _clean_up(loop: VirtualLoop, simulation: Simulation) -> None:
    """End all remaining tasks of the run, so that none is garbage collected while it runs."""
    for replica in simulation.replicas:
        loop.create_task(replica.close())
    _run_on(loop)
    for _ in range(MAX_ROUNDS):
        tasks = [task for task in asyncio.all_tasks(loop) if not task.done()]
        if not tasks:
            break
        loop.thaw()
        for task in tasks:
            task.cancel()
        _run_on(loop)
        # Work that is repeated when it is cancelled, such as an append, would never end.
        loop.set_task_factory(_cancelled_task)
    if simulation.run is not None and simulation.run.done() and not simulation.run.cancelled():
        simulation.run.result()  # Raises a failure of the simulation itself.
    for database in simulation.databases.values():
        database.close()


def _cancelled_task(
    loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any] | Generator[Any, None, Any], **options: Any
) -> asyncio.Task[Any]:
    task: asyncio.Task[Any] = asyncio.Task(work, loop=loop, **options)
    task.cancel()
    return task


def _run_on(loop: VirtualLoop) -> None:
    loop.call_later(CLEAN_UP_SECONDS, loop.stop)
    loop.run_forever()


@contextmanager
def _without_garbage_collection(loop: VirtualLoop) -> Iterator[None]:
    """Disable garbage collection, which would close generators at undetermined times."""
    gc.collect()
    gc.disable()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        asyncio.set_event_loop(None)
        loop.close()
        gc.enable()
