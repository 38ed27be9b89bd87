"""Locust's users: each is a handle on somebody whom a swarm plays."""

from collections.abc import Mapping
from typing import ClassVar, Protocol

import gevent
from locust import User, task

from loadtest.scenarios import Kind

REST_SECONDS = 3600.0


class Players(Protocol):
    """Who plays people: a Fleet."""

    def come(self, kind: Kind) -> str:
        """Somebody comes; gives his name."""

    def leave(self, name: str) -> None:
        """Somebody leaves."""


class SwarmUser(User):
    """Somebody whom a swarm plays from his coming to his leaving; what he does is measured there."""

    abstract = True
    kind: ClassVar[Kind]
    players: ClassVar[Players]

    def on_start(self) -> None:
        self.name = self.players.come(self.kind)

    @task
    def live(self) -> None:
        gevent.sleep(REST_SECONDS)

    def on_stop(self) -> None:
        self.players.leave(self.name)


def user_classes(players: Players, people: Mapping[Kind, int]) -> list[type[SwarmUser]]:
    """A class for each kind of people, with as much weight as there are of them."""
    return [
        type(kind.value.title(), (SwarmUser,), {"kind": kind, "players": players, "weight": number})
        for kind, number in people.items()
    ]
