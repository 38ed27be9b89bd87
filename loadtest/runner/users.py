"""Locust's users: each is a handle on a user that the load process plays and measures."""

from typing import ClassVar

import gevent
from locust import User, tag, task

from loadtest.scenarios import SCENARIOS, Kind

REST_SECONDS = 3600.0


class PlayedUser(User):
    """A user that the load process plays from its start to its stop."""

    abstract = True
    kind: ClassVar[Kind]

    def on_start(self) -> None:
        self.name = self.environment.load_test.start_user(self.kind)

    @tag(*SCENARIOS)
    @task
    def play(self) -> None:
        gevent.sleep(REST_SECONDS)

    def on_stop(self) -> None:
        self.environment.load_test.stop_user(self.name)


def user_of(kind: Kind) -> type[PlayedUser]:
    """The class of the users of a kind, by which Locust's web page names them."""
    return type(kind.value.title(), (PlayedUser,), {"kind": kind})
