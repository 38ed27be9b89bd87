"""Plays people in greenlets, as they come and go, until time is up and the last games are over."""

from collections.abc import Coroutine, Sequence
from itertools import count
from random import Random

import gevent
from gevent.event import Event

from croupier_client import Endpoints
from loadtest.conductor.plain.client import CountedClient, PlainClient, PlainConnections, prepare_grpc
from loadtest.conductor.plain.greenlets import play_together, played
from loadtest.conductor.plain.judging import PlainJudging
from loadtest.measures import Batch, Measures
from loadtest.network import break_connections
from loadtest.players.behaviours import BEHAVIOURS
from loadtest.players.door import ANSWER_SECONDS, NO_ANSWER, backend_fault
from loadtest.players.tables import Tables
from loadtest.players.visit import Visit, seconds_to_storm, tell_fault
from loadtest.players.world import Manners, PlayerClient
from loadtest.scenarios import Kind

FAREWELL_SECONDS = 30.0
"""How long those who are stopped get to leave their tables."""


class PlainWorld(Visit):
    """The world of one user of a gathering."""

    def __init__(self, gathering: "Gathering") -> None:
        super().__init__(gathering)
        self._time_up = gathering.time_up

    async def sleep(self, seconds: float) -> None:
        """Let time pass; not longer than until time is up."""
        self._time_up.wait(seconds)

    async def pause(self, seconds: float) -> None:
        """Let time pass, also when time is up."""
        gevent.sleep(seconds)

    async def together(self, behaviours: Sequence[Coroutine[None, None, None]]) -> None:
        """Let several people do something at the same time."""
        play_together(behaviours)


class Gathering:
    """All people of one Locust process; nothing else may have made channels of grpc in it before."""

    def __init__(self, manners: Manners, endpoints: Endpoints, measures: Measures, ports: Sequence[int] = ()) -> None:
        prepare_grpc()
        self.manners = manners
        self.measures = measures
        self.time_up = Event()
        chance = Random(f"{manners.seed} judging")
        self._judging = PlainJudging(measures, manners.scenario.judged_share, chance)
        self.tables = Tables(measures, self._judging.hand_over)
        self._connections = PlainConnections(endpoints)
        self._ports = frozenset(ports)
        self._people: dict[str, tuple[PlainWorld, gevent.Greenlet]] = {}
        self._numbers = count()

    @property
    def is_time_up(self) -> bool:
        """Whether no new games are begun."""
        return bool(self.time_up.is_set())

    def caller(self, name: str) -> CountedClient:
        """A blocking client for a player of this name, for this run."""
        secret = f"load test {self.manners.seed} {name}"
        return CountedClient(self._connections, secret, name, self.measures, self.time_up)

    def guest(self, name: str) -> PlayerClient:
        """A player's client as behaviour wants it."""
        endpoints, patience = self._connections.endpoints, self.manners.matching_seconds
        return PlainClient(self.caller(name), endpoints, patience, self.time_up)

    def fault(self) -> str:
        """Why these services cannot be put under load, as one line; empty if they can."""
        looking = gevent.spawn(lambda: played(backend_fault(self.guest("at the door"), self.manners.games)))
        looking.join(timeout=ANSWER_SECONDS)
        told: str = looking.get(block=False) if looking.ready() else NO_ANSWER
        return told

    def new_name(self, kind: str) -> str:
        """A name that nobody else has here."""
        return f"plain-{kind}-{next(self._numbers)}"

    def come(self, kind: Kind) -> str:
        """Somebody comes; gives his name."""
        name, world = self.new_name(kind), PlainWorld(self)
        playing = gevent.spawn(self._play, BEHAVIOURS[kind](world, name))
        self._people[name] = (world, playing)
        playing.link(lambda _: self._people.pop(name))
        return name

    def _play(self, behaviour: Coroutine[None, None, None]) -> None:
        try:
            played(behaviour)
        except Exception as error:  # noqa: BLE001 - whatever it is makes the run red
            tell_fault(self.measures, error)

    def leave(self, name: str) -> None:
        """Somebody is to leave, after the game that he is in."""
        if name in self._people:
            self._people[name][0].let_leave()

    def await_departure(self, name: str) -> None:
        """Wait until somebody has gone."""
        if name in self._people:
            self._people[name][1].join()

    def storms(self) -> None:
        """Break all connections again and again, until time is up, if the scenario wants it."""
        period_seconds = self.manners.scenario.storm_seconds
        while period_seconds and not self.time_up.wait(seconds_to_storm(period_seconds)):
            self.measures.count("connections broken", break_connections(self._ports))

    def last_orders(self) -> None:
        """No new games and no thinking."""
        self.time_up.set()
        self.tables.hurry()

    def end(self, grace_seconds: float, judging_seconds: float) -> None:
        """Let games end for so long, then stop, and wait for the referee."""
        playing = [greenlet for _, greenlet in self._people.values()]
        gevent.joinall(playing, timeout=grace_seconds)
        gevent.killall(playing, timeout=FAREWELL_SECONDS)
        for record in self.tables.remaining():
            played(self._judging.hand_over(record))
        self._judging.finish(judging_seconds)

    def batch(self, cpu: float) -> dict[str, Batch]:
        """What was measured since the last batch, as swarms tell it; `cpu` are the cores that were used meanwhile."""
        waiting = self._judging.waiting
        gauges = {"people": len(self._people), "tables": len(self.tables), "waiting": waiting, "cpu": cpu}
        return {"batch": self.measures.take(), "gauges": gauges}

    def close(self) -> None:
        """End the referee's process and all connections."""
        self._judging.close()
        self._connections.close()
