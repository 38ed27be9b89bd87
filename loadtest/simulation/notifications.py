"""Simulated notifications between engines, like LISTEN and NOTIFY: after a commit, delayed, or lost."""

import asyncio
import json
from collections.abc import Mapping
from random import Random

from croupier.engine.cluster.notifier import NotificationListener
from croupier.engine.cluster.postgres_notifier import OWN_NOTIFICATION_DELAY_SECONDS
from croupier.games.facts import Seat
from croupier.runtime.notifications import CHECK_SECONDS
from loadtest.simulation.calls import Pipe
from loadtest.simulation.faults import Faults
from loadtest.simulation.loop import PROCESS


class NotificationHub:
    """Publishes notifications to every engine that listens."""

    def __init__(self, faults: Faults, random: Random) -> None:
        self._faults = faults
        self._random = random
        self._listening: list[Pipe] = []

    def publish(self, *values: object) -> None:
        """Publish to every engine; a loss also ends the engine's connection, which it notices later."""
        payload = json.dumps(values)
        for pipe in list(self._listening):
            if not pipe.receiver.alive:
                self._listening.remove(pipe)
            elif self._faults.occurs("lost_notification", pipe.receiver.name):
                self._listening.remove(pipe)
                pipe.receiver.later(self._random.uniform(0, CHECK_SECONDS), pipe.cut, "lost")
            else:
                pipe.send(payload)

    def listen(self) -> Pipe:
        """Return a new connection of the calling engine."""
        pipe = Pipe(PROCESS.get(), self._faults)
        self._listening.append(pipe)
        return pipe


class SimulatedNotifier:
    """The notifier of one engine."""

    def __init__(self, hub: NotificationHub, engine_id: str, random: Random) -> None:
        self._hub = hub
        self._engine_id = engine_id
        self._random = random

    async def notify_reaction(self, table_id: str, seat: Seat, reaction: str) -> None:
        """Publish a reaction to the other engines."""
        self._hub.publish("reaction", self._engine_id, table_id, seat, reaction)

    async def run(self, listener: NotificationListener) -> None:
        """Listen; runs until cancelled."""
        while True:
            pipe = self._hub.listen()
            listener.notifications_missed()
            while (payload := await pipe.take()) != "lost":
                self._receive(listener, *json.loads(payload))
            await asyncio.sleep(self._random.uniform(0.05, 0.5))

    def _receive(self, listener: NotificationListener, kind: str, origin: str, *values: object) -> None:
        if kind == "reaction":
            table_id, seat, reaction = values
            if origin != self._engine_id:
                listener.seat_reacted(str(table_id), int(str(seat)), str(reaction))
            return
        heads: Mapping[str, int] = values[0]  # type: ignore[assignment]
        if origin == self._engine_id:
            asyncio.get_running_loop().call_later(OWN_NOTIFICATION_DELAY_SECONDS, listener.logs_extended, heads)
        else:
            listener.logs_extended(heads)
