"""News between engines in the simulated world: as with LISTEN and NOTIFY, after a commit, late, or not at all."""

import asyncio
import json
from collections.abc import Mapping
from random import Random

from croupier.engine.news import NewsListener
from croupier.engine.postgres_news import OWN_NEWS_SECONDS
from croupier.games.facts import Seat
from croupier.runtime.notifications import PROBE_SECONDS
from loadtest.simulation.calls import Pipe
from loadtest.simulation.faults import Faults
from loadtest.simulation.loop import PROCESS


class NewsHub:
    """Hands news to every engine that listens."""

    def __init__(self, faults: Faults, chance: Random) -> None:
        self._faults = faults
        self._chance = chance
        self._listening: list[Pipe] = []

    def publish(self, *values: object) -> None:
        """Publish to every engine; a connection that loses a message is lost itself, which its engine notices later."""
        payload = json.dumps(values)
        for pipe in list(self._listening):
            if not pipe.receiver.alive:
                self._listening.remove(pipe)
            elif self._faults.occurs("lost_news", pipe.receiver.name):
                self._listening.remove(pipe)
                pipe.receiver.later(self._chance.uniform(0, PROBE_SECONDS), pipe.cut, "lost")
            else:
                pipe.send(payload)

    def listen(self) -> Pipe:
        """A new connection of the engine that asks."""
        pipe = Pipe(PROCESS.get(), self._faults)
        self._listening.append(pipe)
        return pipe


class SimulatedNews:
    """The News of one engine."""

    def __init__(self, hub: NewsHub, engine_id: str, chance: Random) -> None:
        self._hub = hub
        self._engine_id = engine_id
        self._chance = chance

    async def tell_reaction(self, table_id: str, seat: Seat, reaction: str) -> None:
        """Tell the other engines of a reaction."""
        self._hub.publish("reaction", self._engine_id, table_id, seat, reaction)

    async def run(self, listener: NewsListener) -> None:
        """Listen; runs until cancelled."""
        while True:
            pipe = self._hub.listen()
            listener.news_were_missed()
            while (payload := await pipe.take()) != "lost":
                self._receive(listener, *json.loads(payload))
            await asyncio.sleep(self._chance.uniform(0.05, 0.5))

    def _receive(self, listener: NewsListener, kind: str, origin: str, *values: object) -> None:
        if kind == "reaction":
            table_id, seat, reaction = values
            if origin != self._engine_id:
                listener.seat_reacted(str(table_id), int(str(seat)), str(reaction))
            return
        heads: Mapping[str, int] = values[0]  # type: ignore[assignment]
        if origin == self._engine_id:
            asyncio.get_running_loop().call_later(OWN_NEWS_SECONDS, listener.logs_grew, heads)
        else:
            listener.logs_grew(heads)
