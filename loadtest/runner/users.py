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


class Party(PlayedUser):
    """People who sit down together and play table after table."""

    kind = Kind.PARTY


class Matcher(PlayedUser):
    """Somebody who wishes for a game, plays with whom they are matched, and wishes again."""

    kind = Kind.MATCHER


class Spectator(PlayedUser):
    """Somebody who watches tables of others."""

    kind = Kind.SPECTATOR


class Browser(PlayedUser):
    """Somebody who looks through the lobby, at sheets and leaderboards."""

    kind = Kind.BROWSER


class Opener(PlayedUser):
    """Somebody who opens tables and never starts them."""

    kind = Kind.OPENER
