"""One run: the world of a seed, from its first sign-in to the last check."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from random import Random
from typing import Any, cast

from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.caretaker import Retention
from croupier.engine.replay import ReplayFault, verify_replay
from loadtest.simulation import audit
from loadtest.simulation.chaos import Chaos, keep_alive
from loadtest.simulation.database import Change, InlineEngine, Schema, SimulatedDatabase
from loadtest.simulation.engine_replica import EngineReplica
from loadtest.simulation.faults import Faults, chance_of
from loadtest.simulation.loop import Process, VirtualLoop
from loadtest.simulation.network import Network
from loadtest.simulation.news import NewsHub
from loadtest.simulation.plan import Manner, Plan, Seating, plan_of
from loadtest.simulation.players import Person
from loadtest.simulation.referee import WATCH_ENGINES, Referee
from loadtest.simulation.replica import Replica, Surroundings
from loadtest.simulation.replicas import LobbyReplica, ScoringReplica
from loadtest.simulation.stopwatch import Span
from loadtest.simulation.trace import Trace
from loadtest.simulation.verdict import Verdict

PLAYING_SECONDS = 400.0
"""Once faults have stopped, every game is over by then."""
SETTLING_SECONDS = 60.0
"""Once every game is over, scoring and lobby know it by then."""
FORGETTING_SECONDS = 90.0
"""Then nothing of it is left in memory."""
CALMING_SECONDS = 5.0
LAG_MILLISECONDS = 4_000
"""Who follows a table sees what was stored within this time, whichever engine it was that stored it."""
IDLE_MILLISECONDS = 20_000
NOBODY = Manner(0.1, 0.0, 0.0, 0.0, 0.0, 0.0)
WATCH_SCORING = """
CREATE TEMP TRIGGER round_changed AFTER UPDATE ON rounds BEGIN SELECT noted('changed', NEW.table_id); END;
CREATE TEMP TRIGGER result_changed AFTER UPDATE ON results BEGIN SELECT noted('changed', NEW.table_id); END;
"""


class World:
    """Everything that a seed makes."""

    def __init__(
        self,
        seed: int,
        loop: VirtualLoop,
        trace: Trace,
        schemas: Mapping[str, Schema],
        scenario: str = "",
    ) -> None:
        self.seed = seed
        self.loop = loop
        self.trace = trace
        self.process = Process("world")
        self.plan: Plan = plan_of(self.chance("plan"), scenario)
        self.verdict = Verdict(loop.stop)
        self.faults = Faults(seed, self.plan.weather, trace)
        self.referee = Referee(self.verdict, loop.now_milliseconds, self._interruptions, trace)
        self.network = Network(self.referee, self.faults, self.chance("routes"), trace)
        self.hub = NewsHub(self.faults, self.chance("hub"))
        self.databases = {
            "engine": SimulatedDatabase("engine", schemas["engine"], WATCH_ENGINES, self.faults, self._committed),
            "lobby": SimulatedDatabase("lobby", schemas["lobby"], "", self.faults, lambda _: None),
            "scoring": SimulatedDatabase(
                "scoring", schemas["scoring"], WATCH_SCORING, self.faults, self._ledger_changed
            ),
        }
        self.surroundings = Surroundings(
            loop, self.network, self.hub, self.databases, self._access(), self.chance, self.verdict, trace,
            Retention(IDLE_MILLISECONDS, self.plan.log_milliseconds, 0),
        )  # fmt: skip
        self.replicas = list(self._replicas())
        self.people: list[Person] = []
        self.matched: Counter[str] = Counter()

    def chance(self, name: str) -> Random:
        """A source of chance for one part of the world."""
        return chance_of(self.seed, name)

    def _access(self) -> Mapping[str, AsyncEngine]:
        return {kind: cast("AsyncEngine", InlineEngine(database)) for kind, database in self.databases.items()}

    def _replicas(self) -> Iterator[Replica]:
        counts = {EngineReplica: self.plan.engines, LobbyReplica: self.plan.lobbies, ScoringReplica: self.plan.scorings}
        for kind, count in counts.items():
            for number in range(1, count + 1):
                yield kind(f"{kind.kind}-{number}", self.surroundings)

    def _interruptions(self) -> Iterable[Span]:
        return list(self.databases["engine"].raw.execute("SELECT began, ended FROM interruptions"))

    def _committed(self, changes: list[Change]) -> None:
        for kind, *said in changes:
            if kind == "news":
                self.hub.tell(kind, said[0], json.loads(said[1]))
        self.referee.committed([change for change in changes if change[0] != "news"])

    def _ledger_changed(self, changes: list[Change]) -> None:
        self.verdict.fail("an entry of the ledger never changes", str(changes))

    # The run

    def start(self) -> None:
        """Begin."""
        self.process.start(self._run())

    async def _run(self) -> None:
        try:
            await self._live()
        except Exception as error:
            self.verdict.fail("the simulation itself holds", repr(error))
            raise
        self.loop.stop()

    async def _live(self) -> None:
        for replica in self.replicas:
            replica.start()
        alive = asyncio.create_task(keep_alive(self.replicas))
        playing = [self._go(self._sitting(number, seating)) for number, seating in enumerate(self.plan.tables, 1)]
        looking = self._go(self._look_for_lag())
        chaos = Chaos(self.plan, self.surroundings, self.replicas, self.faults, self.chance("chaos"))
        await chaos.run(playing)
        self.trace.note("calm")
        for person in self.people:
            person.is_calm = True
        _, late = await asyncio.wait(playing, timeout=PLAYING_SECONDS)
        looking.cancel()
        if late:
            self.verdict.fail("every game comes to its end", "; ".join(self._late()))
            return
        await self._judge()
        alive.cancel()
        await asyncio.gather(*(replica.stop() for replica in self.replicas))

    async def _look_for_lag(self) -> None:
        """What is stored is soon seen, once databases are up; runs until cancelled."""
        is_fair = self.faults.databases_are_fair and "stop database" not in self.plan.disasters
        await asyncio.sleep(0 if is_fair else self.plan.stormy_seconds + CALMING_SECONDS)
        while True:
            for call in self.network.open_calls:
                if (
                    not call.client_has_ended
                    and not call.server_has_ended
                    and not (call.is_broken or call.is_read_slowly)
                ):
                    self.referee.check_lag(call, LAG_MILLISECONDS)
            await asyncio.sleep(1.0)

    def _go(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return asyncio.create_task(work)

    def _late(self) -> Iterator[str]:
        for table_id, record in self.referee.tables.items():
            if not record.state.is_over:
                yield f"{table_id} {record.config.game} stands at {record.entries[-1:]}"
        yield f"{len(self.referee.tables)} tables of {len(self.plan.tables)} were opened"

    def _person(self, name: str, manner: Manner) -> Person:
        person = Person(name, manner, self.network, self.chance(name), self.referee, self.verdict)
        self.people.append(person)
        return person

    async def _sitting(self, number: int, seating: Seating) -> None:
        """One table: people come together, play, and are watched."""
        people = [self._person(f"player-{number}-{place}", manner) for place, manner in enumerate(seating.people)]
        if seating.matched:
            tables = await asyncio.gather(*(self._at(person, person.be_matched(seating)) for person in people))
            table_id = tables[0]
            for person, found in zip(people, tables, strict=True):
                self._go(self._check_seated(person, found))
        else:
            table_id = await self._at(people[0], people[0].host(seating))
            await asyncio.gather(*(self._at(person, person.join(table_id)) for person in people[1:]))
            await asyncio.gather(*(self._at(person, person.get_ready(table_id)) for person in people))
            tables = [table_id] * len(people)
        for person in people:
            self.matched[self.referee.players[person.name]] += 1
        if seating.nobody_comes:
            await self._until_over(table_id)
            return
        watching = [self._person(f"watcher-{number}-{place}", NOBODY) for place in range(seating.spectators)]
        await asyncio.gather(
            *(self._at(person, person.play(found)) for person, found in zip(people, tables, strict=True)),
            *(self._at(person, person.watch(table_id)) for person in watching),
        )

    async def _until_over(self, table_id: str) -> None:
        while not self._is_over(table_id):  # noqa: ASYNC110 - time is virtual here
            await asyncio.sleep(0.5)

    def _is_over(self, table_id: str) -> bool:
        return table_id in self.referee.tables and self.referee.tables[table_id].state.is_over

    async def _at(self, person: Person, work: Coroutine[Any, Any, Any]) -> Any:
        """Let a person do something in his own process."""
        return await person.process.start(work)

    async def _check_seated(self, person: Person, table_id: str) -> None:
        record = self.referee.tables.get(table_id)
        player_id = self.referee.players[person.name]
        seated = record is not None and any(seat.player_id == player_id for seat in record.config.seats)
        self.verdict.expect(seated, "who is matched has a seat", person.name, table_id)

    # The judgement

    async def _judge(self) -> None:
        await self._within(
            SETTLING_SECONDS, "lobby and scoring know every end", lambda: [
                *audit.unfinished(self.referee, self.databases["lobby"]),
                *audit.unsettled(self.referee, self.databases["scoring"]),
            ],
        )  # fmt: skip
        await self._check_replays()
        await self._within(
            FORGETTING_SECONDS,
            "nothing is left over",
            lambda: [
                *audit.left_over(self.replicas, self.network),
                *audit.waiting_tickets(self.databases["lobby"]),
            ],
        )
        for invariant, faults in (
            ("the log is what was committed", audit.wrong_logs(self.referee, self.databases["engine"])),
            ("everybody has his seat once", audit.wrong_seats(self.referee, self.matched)),
            ("everybody saw the whole game", audit.wrong_views(self.referee, self.people)),
        ):
            for fault in faults:
                self.verdict.fail(invariant, fault)

    async def _within(self, seconds: float, invariant: str, faults: Callable[[], list[str]]) -> None:
        until = self.loop.time() + seconds
        while (found := faults()) and self.loop.time() < until:
            self.trace.note("waits", invariant, "; ".join(found)[:500])
            await asyncio.sleep(1.0)
        if found:
            self.verdict.fail(invariant, "; ".join(found))

    async def _check_replays(self) -> None:
        person = self.people[0]
        for table_id, record in self.referee.tables.items():
            text = await self._at(person, person.replay(table_id))
            try:
                summary = verify_replay(text)
            except ReplayFault as fault:
                self.verdict.fail("every replay verifies", f"{table_id}: {fault}")
                return
            self.verdict.expect(
                summary.totals == record.state.game.scores, "a replay tells the result", table_id, summary
            )
