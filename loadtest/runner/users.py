"""Locust's users: each is a handle of a user in the load process."""

from typing import ClassVar

import gevent
from locust import User, tag, task

from loadtest.scenarios import SCENARIOS, UserKind

SLEEP_SECONDS = 3600.0


class PlayedUser(User):
    """A user that runs in the load process from its start to its stop."""

    abstract = True
    kind: ClassVar[UserKind]

    def on_start(self) -> None:
        self.name = self.environment.load_test.start_user(self.kind)

    @tag(*SCENARIOS)
    @task
    def play(self) -> None:
        gevent.sleep(SLEEP_SECONDS)

    def on_stop(self) -> None:
        self.environment.load_test.stop_user(self.name)


def user_of(kind: UserKind) -> type[PlayedUser]:
    """Return the Locust class of a kind of users, whose name the web page shows."""
    return type(kind.value.title(), (PlayedUser,), {"kind": kind})
