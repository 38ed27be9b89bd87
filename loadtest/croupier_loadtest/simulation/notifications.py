"""Simulated notifications between engines, like LISTEN and NOTIFY: after a commit, late, or lost."""

import asyncio
import json
from collections.abc import Container, Mapping
from contextlib import suppress
from random import Random

from croupier.engine.cluster.notifier import NotificationListener, decode_announcements
from croupier.engine.tables.presence import Announcement
from croupier.games.facts import Seat
from croupier.runtime.database.notifications import CHECK_SECONDS
from croupier_loadtest.simulation.calls import Pipe
from croupier_loadtest.simulation.faults import Faults
from croupier_loadtest.simulation.loop import PROCESS, Process

LATE_SECONDS = 2 * CHECK_SECONDS
LOST = "lost"
"""The last item of a lost connection."""


class NotificationHub:
    """Publishes notifications to every engine that listens and is not cut off."""

    def __init__(self, faults: Faults, random: Random, cut_off: Container[Process]) -> None:
        self._faults = faults
        self._random = random
        self._cut_off = cut_off
        self._listening: list[Pipe] = []

    def publish(self, *values: object) -> None:
        """Publish to every engine, unless that is lost: alone, or with the connection, which the engine notices later.

        A late notification comes after those that follow it.
        """
        payload = json.dumps(values)
        if PROCESS.get() in self._cut_off:
            return
        for pipe in list(self._listening):
            receiver = pipe.receiver
            if not receiver.alive:
                self._listening.remove(pipe)
            elif receiver in self._cut_off:
                continue
            elif self._faults.occurs("lost_notification", receiver.name):
                if self._random.random() < 0.5:
                    self._listening.remove(pipe)
                    receiver.later(self._random.uniform(0, CHECK_SECONDS), pipe.cut, LOST)
            elif self._faults.occurs("late_notification", receiver.name):
                receiver.later(self._random.uniform(0, LATE_SECONDS), pipe.send, payload)
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

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        """Publish the heads of logs."""
        self._hub.publish(self._engine_id, "logs_extended", heads)

    def seat_reacted(self, table_id: str, seat: Seat, reaction: int) -> None:
        """Publish a reaction."""
        self._hub.publish(self._engine_id, "seat_reacted", table_id, seat, reaction)

    def presence_announced(self, table_id: str, announcement: Announcement) -> None:
        """Publish the presence at a table."""
        self._hub.publish(self._engine_id, "presence_announced", {table_id: announcement})

    async def run(self, listener: NotificationListener) -> None:
        """Listen; runs until cancelled."""
        while True:
            await self._run_connection(listener, self._hub.listen())
            await asyncio.sleep(self._random.uniform(0.05, 0.5))

    async def _run_connection(self, listener: NotificationListener, pipe: Pipe) -> None:
        now = asyncio.get_running_loop().time
        listener.connected()
        while True:
            listener.notifications_missed()
            checked = now()
            with suppress(TimeoutError):
                while True:
                    async with asyncio.timeout_at(checked + CHECK_SECONDS):
                        payload = await pipe.take()
                    if payload == LOST:
                        return
                    origin, kind, *values = json.loads(payload)
                    if origin == self._engine_id:
                        continue
                    if kind == "presence_announced":
                        listener.presence_announced(origin, decode_announcements(*values))
                    else:
                        getattr(listener, kind)(*values)
